// Finds the ids of a page of one user's transactions by an index of users. Its entries give candidates; a candidate is dropped if
// its version on this page does not name the user.
//
// If a user has few transactions, all of them are read. Otherwise, the index lists them by span (twice as long as the spans of
// windows), and the spans are merged.
//
// A page as of an earlier stamp has more candidates: transactions that have changed since then, and transactions that have
// since changed to a different user or to none. Erased users have neither index entries nor versions, so their pages are empty at
// once, even in a walk that began before the erasure.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import { printedPassbackUid } from '../../domain/stored-document.ts';
import type { StampWindow } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import { USER_SPAN_SHIFT } from '../schema/tables.ts';
import { type Dialect, type Statement, splitIds, uuidOf } from '../sql.ts';
import { mergeRuns, runsSql, valuesSql } from './merge-runs.ts';
import { AS_OF_NOW, IDS_MAX, versionAsOf } from './page-documents.ts';
import type { AsOfQuery, IdQuery } from './window-ids.ts';

/** Growth of the number of candidates while too few of them name the user. */
const GROWTH = 4;

/** If a user has at most this many transactions, all of them are read. */
export const FEW_MAX = 500;

const SPAN = `updated_at >> ${USER_SPAN_SHIFT}`;

/**
 * The number by which a user's transactions are indexed, an integer from 1 to 2^52: short keys make imports faster, and PostgreSQL
 * cannot index a passbackUid of 65,536 characters. Among a hundred million users, about two share a key, so every search also
 * compares the passbackUid in the document. Stored in databases: never change the algorithm, XXH64.
 */
export function userKey(passbackUid: string): number {
  return Number(Bun.hash.xxHash64(passbackUid) >> 12n) + 1;
}

/** Returns the first ids at or after the cursor whose version as of a stamp is in the window and names the user. */
export async function findUserIds(
  connection: Connection,
  query: AsOfQuery,
  passbackUid: string,
): Promise<Uuid[]> {
  const { orgId, cursor, window, asOfMs } = query;
  const key = userKey(passbackUid);
  for (let count = query.count; ; count *= GROWTH) {
    const [current, former] = await Promise.all([
      findCurrent(connection, { ...query, count }, key),
      asOfMs === AS_OF_NOW
        ? []
        : connection.all<{ id: Uuid }>(FORMER_IDS_SQL, orgId, key, asOfMs, cursor, count),
    ]);
    const candidates = [...new Set([...current, ...former.map(({ id }) => id)])].sort().slice(0, count);
    const [row] = await connection.all<{ ids: string | null }>(
      NAMING_SQL,
      orgId,
      JSON.stringify(candidates),
      printedPassbackUid(passbackUid),
      asOfMs,
      window.maxMs,
      window.minMs,
    );
    const ids = splitIds(row?.ids ?? null)
      .map(uuidOf)
      .sort();
    if (ids.length >= query.count || candidates.length < count) return ids.slice(0, query.count);
  }
}

/** Returns the first ids at or after the cursor, in order, including those of other users with the same key. */
async function findCurrent(connection: Connection, query: AsOfQuery, key: number): Promise<Uuid[]> {
  const { orgId, cursor, count, asOfMs } = query;
  const windows = windowsOf(query.window, asOfMs);
  const few = await connection.all<{ id: Uuid; updated_at: number }>(FEW_SQL, orgId, key);
  if (few.length <= FEW_MAX) {
    const isIn = (stampMs: number) =>
      windows.some(({ minMs, maxMs }) => stampMs >= minMs && stampMs <= maxMs);
    const ids = few.filter(({ id, updated_at }) => id >= cursor && isIn(updated_at)).map(({ id }) => id);
    return ids.sort().slice(0, count);
  }
  const lists = await Promise.all(
    windows.map((window) => findInSpans(connection, { ...query, window }, key)),
  );
  return lists.flat().sort().slice(0, count);
}

/** Current stamps of the transactions that can have a version in the window as of a stamp. */
function windowsOf(window: StampWindow, asOfMs: number): StampWindow[] {
  if (asOfMs === AS_OF_NOW) return [window];
  if (window.maxMs >= asOfMs) return [{ minMs: window.minMs, maxMs: AS_OF_NOW }];
  return [window, { minMs: asOfMs + 1, maxMs: AS_OF_NOW }];
}

async function findInSpans(
  connection: Connection,
  { orgId, cursor, count, window: { minMs, maxMs } }: IdQuery,
  key: number,
): Promise<Uuid[]> {
  const [first, last] = [Math.floor(minMs / 2 ** USER_SPAN_SHIFT), Math.floor(maxMs / 2 ** USER_SPAN_SHIFT)];
  const spans = await connection.all<{ value: number }>(SPANS_SQL, orgId, key, first - 1, last);
  return mergeRuns(
    {
      numbers: spans.map(({ value }) => value),
      read: (numbers, size, lastId) =>
        connection.all(RUNS_SQL, orgId, cursor, lastId, size, numbers, key, minMs, maxMs),
    },
    count,
  );
}

const ofUser = ({ indexedBy }: Dialect, key: string) =>
  `FROM transactions ${indexedBy('transactions_by_user')} WHERE org_id = $1 AND user_key = ${key}`;

/**
 * SELECT of the transactions of organisation $1 with the user key $2. ORDER BY names the order of transactions_by_user, which no
 * other index has.
 */
export function selectOfUser(sql: Dialect, columns: string, condition = 'true'): string {
  return `SELECT ${columns} ${ofUser(sql, '$2')} AND ${condition} ORDER BY ${SPAN}, id NULLS FIRST`;
}

export const FEW_SQL: Statement = (sql) => `${selectOfUser(sql, 'id, updated_at')} LIMIT ${FEW_MAX + 1}`;

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

const FORMER_IDS_SQL = `
  SELECT id FROM former_users
   WHERE org_id = $1 AND user_key = $2 AND until_stamp > $3 AND id >= $4::uuid ORDER BY id LIMIT $5`;

/**
 * Selects the ids in the list $2 of organisation $1 whose version as of $4 contains the field $3 and is stamped from $6 to $5.
 * The inner LIMIT never cuts anything off, but without it both databases would look up each version several times.
 */
export const NAMING_SQL: Statement = (sql) => `
  SELECT ${sql.joinIds} AS ids FROM (
    SELECT id FROM (
      SELECT v.value AS id, ${versionAsOf('document')} AS document, ${versionAsOf('from_stamp', 'updated_at')} AS stamp
        FROM ${sql.valuesTable('$2', 'uuid')} LIMIT ${IDS_MAX}
    ) AS versions WHERE stamp BETWEEN $6 AND $5 AND ${sql.position('document', '$3')} > 0
  ) AS found`;
