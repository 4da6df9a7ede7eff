// Finds the ids of a page in a window of stamps that holds too many transactions to sort them. The cost depends
// neither on the window nor on how many transactions it holds.
//
// The window is cut into whole spans of three sizes and two ragged edges (stamp-window.ts):
//
//   stamps  ------------------------------------------------------------------------->
//   window        |=============================================================|
//   pieces        |~~~~|s|s|s|   m   |   m   |          l          |   m   |s|s|~|
//                  edge   spans                                             edge
//
// Each piece gives ids in order, and the page is the smallest of all these ids (merge-runs.ts):
//
//   run of a span    3a 41 7f c0 …   an index holds the transactions of a span in the order of their ids
//   run of a stamp   09 5b e2 …      in an edge: one import wrote so many transactions that its stamp is heavy
//   list             12 66 8e        the other transactions of an edge, read by stamp and sorted
//   page             09 12 3a 41 …
//
// What a page of 100 reads at most, in index entries:
//   spans, at most 212 in three years: 3 entries each, and 2 × 101 altogether
//   edges: up to 257 entries; if there are more, every transaction twice, except those of heavy stamps: 4 for each
//     change within seventeen minutes
//   heavy stamps: 257 entries to find one, 3 to read it
//   runs that give the page much, read again: about 3,000, and seldom more than 200
// So a page can be slow only for an organisation with more than some 4,000 changes within seventeen minutes, not many of
// them in the same commit, and a window that ends just there.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow, TransactionQuery } from '../../domain/stores.ts';
import type { Connection } from '../database.ts';
import { type Dialect, inBoth, JOIN_IDS, splitIds, VALUES } from '../sql-dialect.ts';
import { mergeRuns, type Run, type RunRead } from './merge-runs.ts';
import { clampSpans, SPAN_SHIFTS, type SpanRange, splitWindow } from './stamp-window.ts';

/** A stamp that more transactions than this share is heavy. */
const LIGHT_MAX = 256;
/**
 * Enumerate at most 600 spans (20 years of the largest size). Beyond that, ask the index which spans are not empty: a row
 * with a wrong date can be centuries away.
 */
const SPANS_MAX = 600;

/** Transactions that an index holds in the order of their ids: those with this stamp, or those of this span. */
interface SpanRun extends Run {
  readonly shift: number;
  readonly value: number;
}
/** No shift: the span is a single stamp. */
const STAMP = 0;

export interface IdQuery extends Omit<TransactionQuery, 'limit' | 'cursor'> {
  readonly cursor: Uuid;
  /** How many ids are wanted. */
  readonly count: number;
}

export interface FoundIds {
  /** The first ids from the cursor on whose stamps lie in the window. */
  readonly ids: readonly Uuid[];
  readonly clockMs: number;
}

export async function readWideWindow(
  connection: Connection,
  dialect: Dialect,
  query: IdQuery,
): Promise<FoundIds> {
  const pieces = splitWindow(query.window);
  // Sent together, so that they cost PostgreSQL one trip.
  const [bounds, ...edges] = await Promise.all([
    readBounds(connection, query.orgId),
    ...pieces.edges.map((edge) => readEdge(connection, dialect, query, edge)),
  ]);
  const spans = await Promise.all(
    pieces.spans.map((range) => findSpans(connection, query.orgId, clampSpans(range, bounds), bounds)),
  );
  const runs = [...spans.flat(), ...edges.flatMap(({ heavy }) => heavy)];
  const lists = edges.flatMap(({ light }) => light);
  const read = (reads: readonly RunRead<SpanRun>[], last: Uuid) =>
    readRuns(connection, dialect, query, reads, last);
  return { ids: await mergeRuns(runs, query.count, read, lists), clockMs: bounds.maxMs };
}

/** The ids from the cursor on, in order, of a window that holds fewer than so many transactions; of any other, nothing. */
export async function readFewIds(
  connection: Connection,
  { orgId, cursor, window, count }: IdQuery,
): Promise<Uuid[] | undefined> {
  const rows = await connection.all<{ id: Uuid }>(FEW_IDS_SQL, orgId, window.minMs, window.maxMs, count);
  if (rows.length === count) return undefined;
  return rows
    .map(({ id }) => id)
    .filter((id) => id >= cursor)
    .sort();
}

/** Between which stamps all transactions of the organisation lie: its first one, and its change clock. */
export async function readBounds(connection: Connection, orgId: number): Promise<StampWindow> {
  const [row] = await connection.all<{ first_stamp: number | null; last_stamp: number }>(BOUNDS_SQL, orgId);
  const clockMs = row?.last_stamp ?? 0;
  return { minMs: row?.first_stamp ?? clockMs, maxMs: clockMs };
}

/** All spans of the range; of more than SPANS_MAX, those that hold anything. */
async function findSpans(
  connection: Connection,
  orgId: number,
  { shift, first, last }: SpanRange,
  bounds: StampWindow,
): Promise<SpanRun[]> {
  if (last - first < SPANS_MAX) {
    const values = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
    return values.map((value) => spanRun(shift, value, bounds));
  }
  const rows = await connection.all<{ value: number }>(filledSpansSql(shift), orgId, first, last);
  return rows.map(({ value }) => spanRun(shift, value, bounds));
}

/**
 * The more of its time lies between the bounds, the more it holds. The latest span has only begun. Taken for a whole
 * one, it would seem to hold most of a window of some days: too little would be read of the others, and they would be
 * read again.
 */
function spanRun(shift: number, value: number, { minMs, maxMs }: StampWindow): SpanRun {
  const beginMs = value * 2 ** shift;
  return { shift, value, weight: Math.min(beginMs + 2 ** shift, maxMs + 1) - Math.max(beginMs, minMs) };
}

/** It holds an import, and is taken for some days' worth. */
function heavyStamp(stampMs: number): SpanRun {
  return { shift: STAMP, value: stampMs, weight: 2 ** 29 };
}

/** The first ids of each run, in one statement. */
async function readRuns(
  connection: Connection,
  dialect: Dialect,
  query: IdQuery,
  reads: readonly RunRead<SpanRun>[],
  last: Uuid,
): Promise<Uuid[][]> {
  const byShift = Map.groupBy(reads, ({ run }) => run.shift);
  const rows = await connection.all<{ shift: number; value: number; ids: string | null }>(
    RUNS_SQL[dialect],
    query.orgId,
    query.cursor,
    last,
    ...RUN_SHIFTS.flatMap((shift) => {
      const group = byShift.get(shift) ?? [];
      // Of the same length, they are wanted equally far but for the first and last that there are.
      const size = group.reduce((most, { size }) => Math.max(most, size), 0);
      return [size, JSON.stringify(group.map(({ run }) => run.value))];
    }),
  );
  const found = new Map(rows.map(({ shift, value, ids }) => [`${shift} ${value}`, splitIds(ids)]));
  return reads.map(({ run }) => found.get(`${run.shift} ${run.value}`) ?? []);
}

/** Heavy stamps as runs, and the rest as sorted lists of ids. */
async function readEdge(
  connection: Connection,
  dialect: Dialect,
  query: IdQuery,
  edge: StampWindow,
): Promise<{ heavy: SpanRun[]; light: Uuid[][] }> {
  const few = await readFewIds(connection, { ...query, window: edge, count: LIGHT_MAX + 1 });
  if (few !== undefined) return { heavy: [], light: [few] };
  const rows = await connection.all<{ heavy_stamp: number | null; ids: string | null }>(
    EDGE_SQL[dialect],
    query.orgId,
    edge.minMs,
    edge.maxMs,
    query.cursor,
    query.count,
  );
  return {
    heavy: rows.flatMap(({ heavy_stamp: stampMs }) => (stampMs === null ? [] : [heavyStamp(stampMs)])),
    light: rows.map(({ ids }) => splitIds(ids)),
  };
}

/** The lengths that a run can have. */
const RUN_SHIFTS: readonly number[] = [STAMP, ...SPAN_SHIFTS];

/**
 * The organisation, the first id and the last one, then for each length of runs how many ids to read and a list
 * of runs. One index seek for each run: a subquery in the SELECT list cannot be turned into a join over everything.
 */
export const RUNS_SQL = inBoth((dialect) => {
  const byShift = RUN_SHIFTS.map((shift, i) => {
    const [size, values] = [`$${4 + 2 * i}`, `$${5 + 2 * i}`];
    return `
  SELECT ${shift} AS shift, v.value, (
    SELECT ${JOIN_IDS[dialect]} FROM (${runSql(dialect, shift, size)}) AS run
  ) AS ids FROM ${VALUES[dialect](values, 'bigint')}`;
  });
  return byShift.join('\n  UNION ALL');
});

/**
 * A planner that took every span for full might walk by id, and would read the whole table for an empty span.
 * SQLite can be told which index to use; for PostgreSQL, only the indexes meant here are in this order.
 */
function runSql(dialect: Dialect, shift: number, size: string): string {
  const index = shift === STAMP ? 'transactions_by_stamp' : `transactions_by_span_${shift}`;
  return `
      SELECT id FROM transactions ${dialect === 'sqlite' ? `INDEXED BY ${index}` : ''}
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

/** The spans that hold anything, found by leaping from one to the next: years without changes cost nothing. */
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
 * Cuts the edge into blocks of at most 256 transactions by looking 256 entries ahead. If the stamp there is the one
 * at which the block starts, that stamp is heavy, and the next block starts after it. The ids of the other blocks are
 * read by stamp, then sorted: the LIMIT inside keeps the planner from doing it the other way round, and can never cut
 * anything off.
 */
export const EDGE_SQL = inBoth((dialect) => {
  const ahead = (from: string) => `(
      SELECT updated_at FROM transactions
       WHERE org_id = $1 AND updated_at BETWEEN ${from} AND $3
       ORDER BY updated_at LIMIT 1 OFFSET ${LIGHT_MAX}
    )`;
  const next = 'CASE WHEN blocks.ahead > blocks.start THEN blocks.ahead ELSE blocks.start + 1 END';
  return `
  WITH RECURSIVE blocks (start, ahead) AS (
    SELECT ${dialect === 'postgres' ? '$2::bigint' : '$2'}, ${ahead('$2')}
    UNION ALL
    SELECT ${next}, ${ahead(next)} FROM blocks WHERE blocks.ahead IS NOT NULL
  )
  SELECT
    CASE WHEN ahead = start THEN start END AS heavy_stamp,
    CASE WHEN ahead = start THEN NULL ELSE (
      SELECT ${JOIN_IDS[dialect]} FROM (
        SELECT id FROM (
          SELECT id FROM transactions
           WHERE org_id = $1 AND updated_at BETWEEN blocks.start AND coalesce(blocks.ahead - 1, $3)
           ORDER BY updated_at LIMIT ${LIGHT_MAX + 1}
        ) AS block WHERE id >= $4 ORDER BY id LIMIT $5
      ) AS list
    ) END AS ids
  FROM blocks`;
});
