// Finds the smallest ids of many sorted runs while reading as little of each as possible. The caller provides the function that
// reads runs.

import { LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { type JoinedId, uuidOf } from '../sql.ts';

/** The first round reads SHARE_FACTOR times a run's expected share plus SHARE_RESERVE ids, so a second round is rare. */
const SHARE_FACTOR = 2;
const SHARE_RESERVE = 2;

export interface Run {
  /** Expected share of the result, relative to the weights of the other runs. */
  readonly weight: number;
}

export interface RunRead<R extends Run> {
  readonly run: R;
  /** Number of ids to read. Fewer are returned only if the run has no more. */
  readonly size: number;
}

/** Reads the first ids of each run, in order, up to and including `last`. */
export type ReadRuns<R extends Run> = (
  reads: readonly RunRead<R>[],
  last: Uuid,
) => Promise<readonly (readonly JoinedId[])[]>;

/**
 * Returns the first `count` ids of all runs and lists, in order. The first round reads a little of each run. If every id read
 * from a run is in the result, the run may have more ids that belong there. The second round reads such runs again, up to the
 * last id found. Only the ids of the result are converted to UUIDs. The number of runs and `count` bound how much is read.
 */
export async function mergeRuns<R extends Run>(
  runs: readonly R[],
  count: number,
  read: ReadRuns<R>,
  lists: readonly (readonly JoinedId[])[] = [],
): Promise<Uuid[]> {
  if (runs.length === 0) return smallest(lists, count).map(uuidOf);
  const reads = firstReads(runs, count);
  const chunks = await read(reads, LAST_ID);
  const merged = smallest([...lists, ...chunks], count);
  const last = merged.length === count ? merged.at(-1) : undefined;
  const isSure = reads.map(({ size }, i) => size === count || holdsNoMore(chunks[i] ?? [], size, last));
  if (!isSure.includes(false)) return merged.map(uuidOf);
  const unsure = runs.filter((_, i) => !isSure[i]).map((run) => ({ run, size: count }));
  const again = await read(unsure, last === undefined ? LAST_ID : uuidOf(last));
  return smallest([...lists, ...chunks.filter((_, i) => isSure[i]), ...again], count).map(uuidOf);
}

function firstReads<R extends Run>(runs: readonly R[], count: number): RunRead<R>[] {
  const total = runs.reduce((sum, { weight }) => sum + weight, 0);
  return runs.map((run) => {
    const share = (count * run.weight) / total;
    return { run, size: Math.min(Math.ceil(SHARE_FACTOR * share) + SHARE_RESERVE, count) };
  });
}

function holdsNoMore(chunk: readonly JoinedId[], size: number, last: JoinedId | undefined): boolean {
  const end = chunk.at(-1);
  return end === undefined || chunk.length < size || (last !== undefined && end >= last);
}

/** For a thousand ids, sorting is as fast as merging with a heap. */
function smallest(lists: readonly (readonly JoinedId[])[], count: number): JoinedId[] {
  return lists.flat().sort().slice(0, count);
}
