// Finds the ids of a user's transactions in a window of stamps.
//
// The index transactions_by_user lists each user's transactions by span of 12 days, and within a span by id, with their stamps.
// If a user has few transactions, all of them are read. Otherwise, each span in the window is a run in order of id, and
// merge-runs.ts takes the smallest ids of all runs. Entries outside the window are skipped only in its first and last span.
//
// So a page is slow only if one user has tens of thousands of transactions with stamps within 12 days and a window selects a few
// of them, or if thousands of a user's transactions change during a walk through such a window.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import { USER_SPAN_SHIFT } from '../schema/tables.ts';
import type { Dialect, Statement } from '../sql.ts';
import { mergeRuns, runsSql, valuesSql } from './merge-runs.ts';

/**
 * The number by which a user's transactions are indexed, an integer from 1 to 2^52: short keys make imports faster, and PostgreSQL
 * cannot index a passbackUid of 65,536 characters. Among a hundred million users, about two share a key, so every search also
 * compares the passbackUid in the document. Stored in databases: never change the algorithm, XXH64.
 */
export function userKey(passbackUid: string): number {
  return Number(Bun.hash.xxHash64(passbackUid) >> 12n) + 1;
}

/** If a user has at most this many transactions, all of them are read. */
export const FEW_MAX = 500;

const SPAN = `updated_at >> ${USER_SPAN_SHIFT}`;

interface UserIdQuery {
  readonly orgId: number;
  readonly userKey: number;
  readonly cursor: Uuid;
  /** Number of ids to find. */
  readonly count: number;
  /** The current stamp must be in one of these windows, which do not overlap. */
  readonly windows: readonly StampWindow[];
}

/** Returns the first ids at or after the cursor, in order, including those of other users with the same key. */
export async function findUserIds(connection: Connection, query: UserIdQuery): Promise<Uuid[]> {
  const { orgId, userKey, cursor, count, windows } = query;
  const few = await connection.all<{ id: Uuid; updated_at: number }>(FEW_SQL, orgId, userKey);
  if (few.length <= FEW_MAX) {
    const isIn = (stampMs: number) =>
      windows.some(({ minMs, maxMs }) => stampMs >= minMs && stampMs <= maxMs);
    const ids = few.filter(({ id, updated_at }) => id >= cursor && isIn(updated_at)).map(({ id }) => id);
    return ids.sort().slice(0, count);
  }
  const lists = await Promise.all(windows.map((window) => findInSpans(connection, query, window)));
  return lists.flat().sort().slice(0, count);
}

async function findInSpans(
  connection: Connection,
  { orgId, userKey, cursor, count }: UserIdQuery,
  { minMs, maxMs }: StampWindow,
): Promise<Uuid[]> {
  const [first, last] = [Math.floor(minMs / 2 ** USER_SPAN_SHIFT), Math.floor(maxMs / 2 ** USER_SPAN_SHIFT)];
  const spans = await connection.all<{ value: number }>(SPANS_SQL, orgId, userKey, first - 1, last);
  return mergeRuns(
    {
      numbers: spans.map(({ value }) => value),
      read: (numbers, size, lastId) =>
        connection.all(RUNS_SQL, orgId, cursor, lastId, size, numbers, userKey, minMs, maxMs),
    },
    count,
  );
}

/**
 * SELECT of the transactions of organisation $1 with the user key $2. ORDER BY names the order of transactions_by_user, which no
 * other index has.
 */
export function selectOfUser(sql: Dialect, columns: string, condition = 'true'): string {
  return `SELECT ${columns} ${ofUser(sql, '$2')} AND ${condition} ORDER BY ${SPAN}, id NULLS FIRST`;
}

export const FEW_SQL: Statement = (sql) => `${selectOfUser(sql, 'id, updated_at')} LIMIT ${FEW_MAX + 1}`;

const ofUser = ({ indexedBy }: Dialect, userKey: string) =>
  `FROM transactions ${indexedBy('transactions_by_user')} WHERE org_id = $1 AND user_key = ${userKey}`;

/** The user's non-empty spans after $3, up to $4. */
export const SPANS_SQL: Statement = (sql) =>
  valuesSql(
    '$3',
    (after) => `
      SELECT ${SPAN} ${ofUser(sql, '$2')} AND ${SPAN} > ${after} AND ${SPAN} <= $4
       ORDER BY ${SPAN}, id NULLS FIRST LIMIT 1`,
  );

/** The transactions of the user $6 in each span, with stamps from $7 to $8. */
export const RUNS_SQL: Statement = (sql) =>
  runsSql(sql, `${ofUser(sql, '$6')} AND ${SPAN} = v.value AND updated_at BETWEEN $7 AND $8`);
