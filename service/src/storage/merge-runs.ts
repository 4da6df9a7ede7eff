// Finds the smallest ids of many sorted runs while reading as little of each as possible. Knows nothing of
// databases: whoever calls it says how a piece of a run is read.

import type { Uuid } from '../domain/uuid.ts';

/** What is read of a run at first, in multiples of its fair share and beyond, so that chance seldom makes another round necessary. */
const SHARE_FACTOR = 2;
const SHARE_RESERVE = 3;
/** Each further round is a trip to the database, so there should be few. */
const GROWTH = 16;

export interface Run {
  /** About how many of the ids found come from this run, compared with the others. */
  readonly weight: number;
}

export interface RunRead<R extends Run> {
  readonly run: R;
  /** How many ids to read; fewer come back only when there are no more. */
  readonly size: number;
}

/** The first ids of each of these runs, in order. */
export type ReadRuns<R extends Run> = (reads: readonly RunRead<R>[]) => Promise<readonly (readonly Uuid[])[]>;

/**
 * The first `count` ids of all runs, and of lists that are known already, together and in order. A run is
 * read again, and further, only when all that was read of it is among the ids found so far, which few can be.
 * So what is read in all is bounded by the number of runs and by `count`, whatever is in the runs.
 */
export async function mergeRuns<R extends Run>(
  runs: readonly R[],
  count: number,
  read: ReadRuns<R>,
  lists: readonly (readonly Uuid[])[] = [],
): Promise<Uuid[]> {
  const known = new Map<R, readonly Uuid[]>();
  let merged = smallest(lists, count);
  let unsure = firstReads(runs, count);
  while (unsure.length > 0) {
    const chunks = await read(unsure);
    for (const [i, { run }] of unsure.entries()) known.set(run, chunks[i] ?? []);
    merged = smallest([...lists, ...known.values()], count);
    const bound = merged.length === count ? merged.at(-1) : undefined;
    unsure = unsure
      .filter(({ run, size }) => size < count && mayHoldMore(known.get(run) ?? [], size, bound))
      .map(({ run, size }) => ({ run, size: Math.min(size * GROWTH, count) }));
  }
  return merged;
}

function firstReads<R extends Run>(runs: readonly R[], count: number): RunRead<R>[] {
  const total = runs.reduce((sum, { weight }) => sum + weight, 0);
  return runs.map((run) => {
    const share = (count * run.weight) / total;
    return { run, size: Math.min(Math.ceil(SHARE_FACTOR * share) + SHARE_RESERVE, count) };
  });
}

function mayHoldMore(chunk: readonly Uuid[], size: number, bound: Uuid | undefined): boolean {
  const last = chunk.at(-1);
  return last !== undefined && chunk.length === size && (bound === undefined || last < bound);
}

/** The first ids of sorted lists, in order: a heap of the lists, the one whose next id is the smallest on top. */
function smallest(lists: readonly (readonly Uuid[])[], count: number): Uuid[] {
  const heap = lists
    .filter((list) => list.length > 0)
    .map((list) => ({ list, at: 0, id: list[0] as Uuid }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const out: Uuid[] = [];
  while (out.length < count) {
    const top = heap[0];
    if (top === undefined) break;
    out.push(top.id);
    top.at++;
    const next = top.list[top.at];
    if (next !== undefined) top.id = next;
    else {
      const last = heap.pop();
      if (last === undefined || heap.length === 0) continue;
      heap[0] = last;
    }
    siftDown(heap);
  }
  return out;
}

function siftDown(heap: { id: Uuid }[]): void {
  let at = 0;
  const moving = heap[0];
  if (moving === undefined) return;
  while (true) {
    const left = heap[2 * at + 1];
    if (left === undefined) break;
    const right = heap[2 * at + 2];
    const rightIsSmaller = right !== undefined && right.id < left.id;
    const child = rightIsSmaller ? right : left;
    if (moving.id <= child.id) break;
    heap[at] = child;
    at = rightIsSmaller ? 2 * at + 2 : 2 * at + 1;
  }
  heap[at] = moving;
}
