// Finds the smallest ids of many sorted runs while reading as little of each as possible.

import { LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { type Dialect, type JoinedId, splitIds, uuidOf } from '../sql.ts';

/** The first round reads SHARE_FACTOR times the average share plus SHARE_RESERVE ids of each run, so a second round is rare. */
const SHARE_FACTOR = 2;
const SHARE_RESERVE = 2;

interface Runs {
  /** Numbers of the runs, such as spans. */
  readonly numbers: readonly number[];
  /**
   * Reads the first `size` ids of each run in the JSON list `numbers`, in order, up to and including `last`. May omit empty runs.
   */
  read(numbers: string, size: number, last: Uuid): Promise<readonly { value: number; ids: string | null }[]>;
}

/**
 * Up to $4 ids from $2 to $3 of each run in the JSON list $5. `run` is the FROM clause of the run `v.value` of organisation $1; its
 * own parameters follow $5. One index seek per run: the planner cannot turn a subquery in the SELECT list into a join over the
 * whole table.
 */
export const runsSql = (sql: Dialect, run: string) => `
  SELECT v.value, (
    SELECT ${sql.joinIds} FROM (
      SELECT id ${run} AND id BETWEEN $2::uuid AND $3::uuid ORDER BY id NULLS FIRST LIMIT $4
    ) AS run
  ) AS ids FROM ${sql.valuesTable('$5', 'bigint')}`;

/** All values of an index column after `first`, with one index seek each. `next` selects the first value after another one. */
export const valuesSql = (first: string, next: (after: string) => string) => `
  WITH RECURSIVE found (value) AS (
    SELECT (${next(first)})
    UNION ALL
    SELECT (${next('found.value')}) FROM found WHERE found.value IS NOT NULL
  )
  SELECT value FROM found WHERE value IS NOT NULL`;

/**
 * Returns the first `count` ids of all runs and lists, in order. The first round reads a little of each run. If every id read
 * from a run is in the result, the run may have more ids that belong there. The second round reads such runs again, up to the
 * last id found. Only the ids of the result are converted to UUIDs. The number of runs and `count` bound how much is read.
 */
export async function mergeRuns(
  { numbers, read }: Runs,
  count: number,
  lists: readonly (readonly JoinedId[])[] = [],
): Promise<Uuid[]> {
  if (numbers.length === 0) return smallest(lists, count).map(uuidOf);
  const readAll = async (wanted: readonly number[], most: number, last: Uuid) => {
    const rows = await read(JSON.stringify(wanted), most, last);
    return new Map(rows.map(({ value, ids }) => [value, splitIds(ids)]));
  };
  const size = Math.min(Math.ceil((SHARE_FACTOR * count) / numbers.length) + SHARE_RESERVE, count);
  const chunks = await readAll(numbers, size, LAST_ID);
  const merged = smallest([...lists, ...chunks.values()], count);
  const last = merged.length === count ? merged.at(-1) : undefined;
  const mayHaveMore = (chunk: readonly JoinedId[] = []) => {
    const end = chunk.at(-1);
    return end !== undefined && chunk.length === size && (last === undefined || end < last);
  };
  const unsure = size === count ? [] : numbers.filter((number) => mayHaveMore(chunks.get(number)));
  if (unsure.length === 0) return merged.map(uuidOf);
  const again = await readAll(unsure, count, last === undefined ? LAST_ID : uuidOf(last));
  return smallest([...lists, ...new Map([...chunks, ...again]).values()], count).map(uuidOf);
}

/** For a thousand ids, sorting is as fast as merging with a heap. */
function smallest(lists: readonly (readonly JoinedId[])[], count: number): JoinedId[] {
  return lists.flat().sort().slice(0, count);
}
