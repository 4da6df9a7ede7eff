// Reads a page of one user's transactions. The user's index entries (user-ids.ts) give candidates; a candidate is dropped if
// its version on this page does not name the user.
//
// A page as of an earlier stamp has more candidates: transactions that have changed since then, and transactions that have
// since changed to a different user or to none. Erased users have neither index entries nor versions, so their pages are empty at
// once, even in a walk that began before the erasure.

import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { PAGE_BYTES_MAX } from '../../domain/page.ts';
import { printedPassbackUid } from '../../domain/stored-document.ts';
import type { StampWindow, TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import type { Connection, Database } from '../database.ts';
import { type Statement, splitIds, uuidOf } from '../sql.ts';
import { readClock } from '../stores/change-clock.ts';
import { AS_OF_NOW, IDS_MAX, joinDocuments, versionAsOf } from './page-documents.ts';
import { findUserIds, userKey } from './user-ids.ts';

/** Growth of the number of candidates while too few of them name the user. */
const GROWTH = 4;

export async function readUserPage(
  database: Database,
  query: TransactionQuery,
  passbackUid: string,
): Promise<TransactionPage> {
  const { orgId, limit, bytesMax = PAGE_BYTES_MAX, asOfMs = AS_OF_NOW } = query;
  const { minMs } = query.window;
  const maxMs = Math.min(query.window.maxMs, asOfMs);
  return database.read(async (connection) => {
    const [completeThroughMs, ids] = await Promise.all([
      readClock(connection, orgId),
      findIds(connection, { ...query, window: { minMs, maxMs } }, passbackUid),
    ]);
    const asOf = asOfMs === AS_OF_NOW ? undefined : { asOfMs, stampMaxMs: maxMs };
    const { data, count } = await joinDocuments(connection, query.orgId, ids, { limit, bytesMax }, asOf);
    return { data, cursor: ids[count], completeThroughMs };
  });
}

/** Returns one id more than the page's limit: the next cursor. */
async function findIds(
  connection: Connection,
  { orgId, cursor = FIRST_ID, window, limit, asOfMs = AS_OF_NOW }: TransactionQuery,
  passbackUid: string,
): Promise<Uuid[]> {
  const user = [orgId, userKey(passbackUid)] as const;
  for (let count = limit + 1; ; count *= GROWTH) {
    const [current, former] = await Promise.all([
      findUserIds(connection, { orgId, userKey: user[1], cursor, count, windows: windowsOf(window, asOfMs) }),
      asOfMs === AS_OF_NOW
        ? []
        : connection.all<{ id: Uuid }>(FORMER_IDS_SQL, ...user, asOfMs, cursor, count),
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
    if (ids.length > limit || candidates.length < count) return ids.slice(0, limit + 1);
  }
}

/** Current stamps of the transactions that can have a version in the window as of a stamp. */
function windowsOf(window: StampWindow, asOfMs: number): StampWindow[] {
  if (asOfMs === AS_OF_NOW) return [window];
  if (window.maxMs >= asOfMs) return [{ minMs: window.minMs, maxMs: AS_OF_NOW }];
  return [window, { minMs: asOfMs + 1, maxMs: AS_OF_NOW }];
}

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
