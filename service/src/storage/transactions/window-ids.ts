// Finds the ids of a page in a window of any size, by merging spans and edges (transaction-page.ts explains them).
//
// A page of 100 reads at most 4 index entries of each span (177 spans in three years), 3,000 entries of spans with many ids of the
// page, and 4,000 entries of an edge that has at most 2,000 transactions, or at least a twentieth of its span's. Any edge costs at
// most a few times as much as the cheaper of two ways: sorting it, or searching its span. So a page is slow only if both an edge
// and the rest of its span have very many transactions, and their ids are in the order of their stamps.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import { SPAN_SHIFT } from '../schema/tables.ts';
import { type Dialect, type JoinedId, type Statement, splitIds } from '../sql.ts';
import { mergeRuns, runsSql, valuesSql } from './merge-runs.ts';
import { clampSpans, type SpanRange, spanOf, splitWindow } from './stamp-window.ts';

/** Number of transactions to read for an edge at the first attempt. If that is not enough, the next attempt reads more. */
const EDGE_ROWS = 2_000;
const EDGE_FACTOR = 8;
/**
 * Maximum number of spans that are enumerated: 10 years. In a longer range, a query finds the non-empty spans, because a
 * transaction with a wrong date can be centuries away.
 */
const SPANS_MAX = 600;

export interface IdQuery {
  readonly orgId: number;
  readonly cursor: Uuid;
  /** Number of ids to find. */
  readonly count: number;
  readonly window: StampWindow;
}

/** As of a stamp; `window` ends at `asOfMs` or earlier. */
export interface AsOfQuery extends IdQuery {
  readonly asOfMs: number;
}

/** Returns the first ids at or after the cursor whose current stamps are in the window, in order. */
export async function findWindowIds(connection: Connection, query: IdQuery): Promise<Uuid[]> {
  const { orgId, cursor, count } = query;
  const { edges, spans } = splitWindow(query.window);
  // Sent together: one round trip to PostgreSQL.
  const [bounds, ...lists] = await Promise.all([
    readBounds(connection, orgId),
    ...edges.map((edge) => readEdge(connection, query, edge)),
  ]);
  return mergeRuns(
    {
      numbers: await findSpans(connection, orgId, clampSpans(spans, bounds)),
      read: (numbers, size, last) => connection.all(RUNS_SQL, orgId, cursor, last, size, numbers),
    },
    count,
    lists,
  );
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
  { first, last }: SpanRange,
): Promise<number[]> {
  if (last - first < SPANS_MAX)
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  const rows = await connection.all<{ value: number }>(FILLED_SPANS_SQL, orgId, first - 1, last);
  return rows.map(({ value }) => value);
}

/**
 * Returns the first ids of an edge. Alternates between sorting the edge and searching its span, with growing limits, because it
 * is not known which way reads fewer transactions.
 */
async function readEdge(
  connection: Connection,
  { orgId, cursor, count }: IdQuery,
  { minMs, maxMs }: StampWindow,
): Promise<JoinedId[]> {
  type Row = { beyond: unknown; ids: string | null };
  for (let most = EDGE_ROWS; ; most *= EDGE_FACTOR) {
    const params = [orgId, cursor, count, minMs, maxMs, most];
    const [sorted] = await connection.all<Row>(SORTED_EDGE_SQL, ...params);
    if (sorted === undefined || sorted.beyond === null) return splitIds(sorted?.ids ?? null);
    const [found] = await connection.all<Row>(FOUND_EDGE_SQL, ...params, spanOf(minMs));
    if (found === undefined || found.beyond === null) return splitIds(found?.ids ?? null);
  }
}

// A planner that expects spans with many rows might use the index on id, and would read that whole index for an empty span.
// SQLite accepts an index hint; on PostgreSQL, NULLS FIRST makes the index of spans the only one in this order.
const ofSpan = (sql: Dialect, span: string) =>
  `FROM transactions ${sql.indexedBy('transactions_by_span')} WHERE org_id = $1 AND updated_at >> ${SPAN_SHIFT} = ${span}`;

export const RUNS_SQL: Statement = (sql) => runsSql(sql, ofSpan(sql, 'v.value'));

const EDGE = 'FROM transactions WHERE org_id = $1 AND updated_at BETWEEN $4 AND $5 ORDER BY updated_at';

/**
 * The first $3 ids at or after $2 of the edge from $4 to $5, read by stamp, then sorted. If the edge has more than $6
 * transactions, `beyond` is not null and there are no ids. The inner LIMIT forces the order.
 */
export const SORTED_EDGE_SQL: Statement = (sql) => `
  WITH size AS MATERIALIZED (SELECT (SELECT updated_at ${EDGE} LIMIT 1 OFFSET $6) AS beyond)
  SELECT beyond, CASE WHEN beyond IS NULL THEN (
    SELECT ${sql.joinIds} FROM (
      SELECT id FROM (SELECT id ${EDGE} LIMIT $6) AS edge WHERE id >= $2::uuid ORDER BY id LIMIT $3
    ) AS list
  ) END AS ids FROM size`;

/**
 * Like SORTED_EDGE_SQL, but searches the next $6 transactions of the edge's span $7 in order of id. If they are not enough,
 * `beyond` is not null.
 */
export const FOUND_EDGE_SQL: Statement = (sql) => {
  const next = `${ofSpan(sql, '$7')} AND id >= $2::uuid ORDER BY id NULLS FIRST LIMIT`;
  return `
  SELECT ${sql.joinIds} AS ids, CASE WHEN count(*) < $3 THEN (SELECT id ${next} 1 OFFSET $6) END AS beyond
    FROM (
      SELECT id FROM (SELECT id, updated_at ${next} $6) AS near WHERE updated_at BETWEEN $4 AND $5 LIMIT $3
    ) AS found`;
};

export const BOUNDS_SQL = `
  SELECT last_stamp, (
    SELECT updated_at FROM transactions WHERE org_id = $1 ORDER BY updated_at LIMIT 1
  ) AS first_stamp FROM organisations WHERE id = $1`;

/** The non-empty spans after $2, up to $3. */
export const FILLED_SPANS_SQL = valuesSql(
  '$2',
  (after) => `
      SELECT updated_at >> ${SPAN_SHIFT} FROM transactions
       WHERE org_id = $1 AND updated_at >> ${SPAN_SHIFT} > ${after} AND updated_at >> ${SPAN_SHIFT} <= $3
       ORDER BY updated_at >> ${SPAN_SHIFT} LIMIT 1`,
);
