// Finds the ids of a page in a window of any size, by merging spans and edges (transaction-page.ts explains them).
//
//   run of a span    3a 41 7f c0 …   from the index of spans of this size
//   run of a stamp   09 5b e2 …      in an edge: a heavy stamp, an import with more than 256 changes
//   list             12 66 8e        all other transactions of an edge, read by stamp and sorted
//   page             09 12 3a 41 …   the smallest ids (merge-runs.ts)
//
// Maximum number of index entries read for a page of 100:
//   spans (up to 212 in three years): 3 each, plus 2 × 101 in total
//   edges: 257; if there are more, 4 for each change within 17 minutes, except those of heavy stamps
//   heavy stamps: 257 to find one, 3 to read it
//   runs with many ids of the page, which are read again: about 3,000, rarely more than 200
// So a page is slow only if one edge of the window (up to 17 minutes) contains more than about 4,000 changes in many commits.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import { type Sql, type Statement, splitIds } from '../sql.ts';
import { mergeRuns, type Run, type RunRead } from './merge-runs.ts';
import { clampSpans, SPAN_SHIFTS, type SpanRange, type WindowPieces } from './stamp-window.ts';

/** A stamp with more transactions than this is heavy. */
const LIGHT_MAX = 256;
/**
 * Maximum number of spans that are enumerated: 20 years of the largest size. In a longer range, a query finds the non-empty
 * spans, because a transaction with a wrong date can be centuries away.
 */
const SPANS_MAX = 600;

/** The transactions of a span or a heavy stamp, in order of id, from an index. */
interface IndexRun extends Run {
  readonly shift: number;
  readonly value: number;
}
/** The shift of a run for a single stamp. */
const STAMP = 0;
const RUN_SHIFTS: readonly number[] = [STAMP, ...SPAN_SHIFTS];
/** Weight of a heavy stamp: the same as for a span of about six days. */
const STAMP_WEIGHT = 2 ** 29;

interface IdQuery {
  readonly orgId: number;
  readonly cursor: Uuid;
  /** Number of ids to find. */
  readonly count: number;
}

interface WindowIds {
  /** The first ids at or after the cursor whose stamps are in the window. */
  readonly ids: readonly Uuid[];
  readonly clockMs: number;
}

export async function readWindowIds(
  connection: Connection,
  query: IdQuery,
  pieces: WindowPieces,
): Promise<WindowIds> {
  // Sent together: one round trip to PostgreSQL.
  const [bounds, ...edges] = await Promise.all([
    readBounds(connection, query.orgId),
    ...pieces.edges.map((edge) => readEdge(connection, query, edge)),
  ]);
  const spans = await Promise.all(
    pieces.spans.map((range) => findSpans(connection, query.orgId, clampSpans(range, bounds), bounds)),
  );
  const runs = [...spans.flat(), ...edges.flatMap(({ heavy }) => heavy)];
  const lists = edges.flatMap(({ light }) => light);
  const read = (reads: readonly RunRead<IndexRun>[], last: Uuid) => readRuns(connection, query, reads, last);
  return { ids: await mergeRuns(runs, query.count, read, lists), clockMs: bounds.maxMs };
}

/** Returns the organisation's first stamp and its change clock. */
async function readBounds(connection: Connection, orgId: number): Promise<StampWindow> {
  const [row] = await connection.all<{ first_stamp: number | null; last_stamp: number }>(BOUNDS_SQL, orgId);
  const clockMs = row?.last_stamp ?? 0;
  return { minMs: row?.first_stamp ?? clockMs, maxMs: clockMs };
}

async function findSpans(
  connection: Connection,
  orgId: number,
  { shift, first, last }: SpanRange,
  bounds: StampWindow,
): Promise<IndexRun[]> {
  const values =
    last - first < SPANS_MAX
      ? Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
      : (await connection.all<{ value: number }>(filledSpansSql(shift), orgId, first, last)).map(
          ({ value }) => value,
        );
  return values.map((value) => {
    // Weighted by how much of the span is within the bounds. The latest span has only just begun: at full weight, it would be
    // expected to contain most of a window of a few days, and the other spans would have to be read twice.
    const beginMs = value * 2 ** shift;
    const weight = Math.min(beginMs + 2 ** shift, bounds.maxMs + 1) - Math.max(beginMs, bounds.minMs);
    return { shift, value, weight };
  });
}

/** Reads the first ids of each run, in one statement. */
async function readRuns(
  connection: Connection,
  { orgId, cursor }: IdQuery,
  reads: readonly RunRead<IndexRun>[],
  last: Uuid,
): Promise<Uuid[][]> {
  const byShift = Map.groupBy(reads, ({ run }) => run.shift);
  const groups = RUN_SHIFTS.flatMap((shift) => {
    const group = byShift.get(shift) ?? [];
    // Runs of the same size have nearly the same share, so one limit serves all of them.
    const size = group.reduce((most, { size }) => Math.max(most, size), 0);
    return [size, JSON.stringify(group.map(({ run }) => run.value))];
  });
  type Row = { shift: number; value: number; ids: string | null };
  const rows = await connection.all<Row>(RUNS_SQL, orgId, cursor, last, ...groups);
  const found = new Map(rows.map(({ shift, value, ids }) => [`${shift} ${value}`, splitIds(ids)]));
  return reads.map(({ run }) => found.get(`${run.shift} ${run.value}`) ?? []);
}

/** Returns heavy stamps as runs, and the ids of all other stamps as lists. */
async function readEdge(
  connection: Connection,
  { orgId, cursor, count }: IdQuery,
  { minMs, maxMs }: StampWindow,
): Promise<{ heavy: IndexRun[]; light: Uuid[][] }> {
  const few = await connection.all<{ id: Uuid }>(FEW_IDS_SQL, orgId, minMs, maxMs, LIGHT_MAX + 1);
  if (few.length <= LIGHT_MAX)
    return { heavy: [], light: [few.map(({ id }) => id).filter((id) => id >= cursor)] };
  type Row = { heavy_stamp: number | null; ids: string | null };
  const rows = await connection.all<Row>(EDGE_SQL, orgId, minMs, maxMs, cursor, count);
  return {
    heavy: rows.flatMap(({ heavy_stamp: value }) =>
      value === null ? [] : [{ shift: STAMP, value, weight: STAMP_WEIGHT }],
    ),
    light: rows.map(({ ids }) => splitIds(ids)),
  };
}

/**
 * $1: organisation, $2: first id, $3: last id; then, for each run size, the number of ids to read and a list of runs. One
 * index seek per run: the planner cannot turn a subquery in the SELECT list into a join over the whole table.
 */
export const RUNS_SQL: Statement = (sql) => {
  const byShift = RUN_SHIFTS.map((shift, i) => {
    const [size, values] = [`$${4 + 2 * i}`, `$${5 + 2 * i}`];
    return `
  SELECT ${shift} AS shift, v.value, (
    SELECT ${sql.joinIds} FROM (${runSql(sql, shift, size)}) AS run
  ) AS ids FROM ${sql.valuesTable(values, 'bigint')}`;
  });
  return byShift.join('\n  UNION ALL');
};

/**
 * A planner that expects spans with many rows might use the index on id, and would read that whole index for an empty span.
 * SQLite accepts an index hint; on PostgreSQL, NULLS FIRST makes the span's index the only one in this order.
 */
function runSql(sql: Sql, shift: number, size: string): string {
  const index = shift === STAMP ? 'transactions_by_stamp' : `transactions_by_span_${shift}`;
  return `
      SELECT id FROM transactions ${sql.indexedBy(index)}
       WHERE org_id = $1 AND ${spanOf(shift)} = v.value AND id BETWEEN $2 AND $3
       ORDER BY id NULLS FIRST LIMIT ${size}`;
}

function spanOf(shift: number): string {
  return shift === STAMP ? 'updated_at' : `updated_at >> ${shift}`;
}

export const FEW_IDS_SQL = `
  SELECT id FROM transactions WHERE org_id = $1 AND updated_at BETWEEN $2 AND $3 ORDER BY updated_at LIMIT $4`;

export const BOUNDS_SQL = `
  SELECT last_stamp, (
    SELECT updated_at FROM transactions WHERE org_id = $1 ORDER BY updated_at LIMIT 1
  ) AS first_stamp FROM organisations WHERE id = $1`;

/** Finds the non-empty spans, with one index seek each. */
export function filledSpansSql(shift: number): string {
  const from = (first: string) => `(
      SELECT ${spanOf(shift)} FROM transactions
       WHERE org_id = $1 AND ${spanOf(shift)} BETWEEN ${first} AND $3
       ORDER BY ${spanOf(shift)} LIMIT 1
    )`;
  return `
  WITH RECURSIVE spans (value) AS (
    SELECT ${from('$2')}
    UNION ALL
    SELECT ${from('spans.value + 1')} FROM spans WHERE spans.value IS NOT NULL
  )
  SELECT value FROM spans WHERE value IS NOT NULL`;
}

/**
 * Cuts the edge into blocks of at most 256 transactions by looking 256 index entries ahead. If the stamp there equals the block's
 * first stamp, that stamp is heavy, and the next block starts after it. The ids of the other blocks are read by stamp, then
 * sorted. The inner LIMIT forces that order and never cuts anything off.
 */
export const EDGE_SQL: Statement = (sql) => {
  const ahead = (from: string) => `(
      SELECT updated_at FROM transactions
       WHERE org_id = $1 AND updated_at BETWEEN ${from} AND $3
       ORDER BY updated_at LIMIT 1 OFFSET ${LIGHT_MAX}
    )`;
  const next = 'CASE WHEN blocks.ahead > blocks.start THEN blocks.ahead ELSE blocks.start + 1 END';
  return `
  WITH RECURSIVE blocks (start, ahead) AS (
    SELECT CAST($2 AS bigint), ${ahead('$2')}
    UNION ALL
    SELECT ${next}, ${ahead(next)} FROM blocks WHERE blocks.ahead IS NOT NULL
  )
  SELECT
    CASE WHEN ahead = start THEN start END AS heavy_stamp,
    CASE WHEN ahead = start THEN NULL ELSE (
      SELECT ${sql.joinIds} FROM (
        SELECT id FROM (
          SELECT id FROM transactions
           WHERE org_id = $1 AND updated_at BETWEEN blocks.start AND coalesce(blocks.ahead - 1, $3)
           ORDER BY updated_at LIMIT ${LIGHT_MAX + 1}
        ) AS block WHERE id >= $4 ORDER BY id LIMIT $5
      ) AS list
    ) END AS ids
  FROM blocks`;
};
