// Finds the smallest ids of many sorted runs while reading as little of each as possible. Knows nothing of
// databases: whoever calls it says how a piece of a run is read.

import { LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';

/** What is read of a run at first, in multiples of its fair share and beyond, so that chance seldom makes a second round necessary. */
const SHARE_FACTOR = 2;
const SHARE_RESERVE = 2;

export interface Run {
  /** About how many of the ids found come from this run, compared with the others. */
  readonly weight: number;
}

export interface RunRead<R extends Run> {
  readonly run: R;
  /** How many ids to read; fewer come back only when there are no more. */
  readonly size: number;
}

/** The first ids of each of these runs, in order, up to and including the last one that is of interest. */
export type ReadRuns<R extends Run> = (
  reads: readonly RunRead<R>[],
  last: Uuid,
) => Promise<readonly (readonly Uuid[])[]>;

/**
 * The first `count` ids of all runs, and of lists that are known already, together and in order. Each run is read
 * a little. Those of which all that was read is among the ids found are read once more, up to the last id found:
 * that is all they can still give. So there are two rounds at most, and what they read is bounded by the number of
 * runs and by `count`, whatever is in the runs.
 */
export async function mergeRuns<R extends Run>(
  runs: readonly R[],
  count: number,
  read: ReadRuns<R>,
  lists: readonly (readonly Uuid[])[] = [],
): Promise<Uuid[]> {
  if (runs.length === 0) return smallest(lists, count);
  const reads = firstReads(runs, count);
  const chunks = await read(reads, LAST_ID);
  const merged = smallest([...lists, ...chunks], count);
  const last = merged.length === count ? (merged.at(-1) ?? LAST_ID) : LAST_ID;
  const isSure = reads.map(({ size }, i) => size === count || holdsNoMore(chunks[i] ?? [], size, last));
  if (!isSure.includes(false)) return merged;
  const unsure = runs.filter((_, i) => !isSure[i]).map((run) => ({ run, size: count }));
  return smallest([...lists, ...chunks.filter((_, i) => isSure[i]), ...(await read(unsure, last))], count);
}

function firstReads<R extends Run>(runs: readonly R[], count: number): RunRead<R>[] {
  const total = runs.reduce((sum, { weight }) => sum + weight, 0);
  return runs.map((run) => {
    const share = (count * run.weight) / total;
    return { run, size: Math.min(Math.ceil(SHARE_FACTOR * share) + SHARE_RESERVE, count) };
  });
}

function holdsNoMore(chunk: readonly Uuid[], size: number, last: Uuid): boolean {
  const end = chunk.at(-1);
  return end === undefined || chunk.length < size || end >= last;
}

/** By sorting all of them: with a thousand ids, a heap of the lists takes as long. */
function smallest(lists: readonly (readonly Uuid[])[], count: number): Uuid[] {
  return lists.flat().sort().slice(0, count);
}
