// Reads a page of transactions: starting at a cursor, the first `limit` ids whose stamps are in the window. Returns their
// documents and the change clock, all from one snapshot.
//
// Pages are in order of id, windows are ranges of stamps, and no index is in both orders. An index by id has to skip all
// transactions outside the window; with an index by stamp, all transactions of the window have to be read and sorted before the
// first page is known. So a third index cuts the stamps into spans of six days and keeps the transactions of each span in order
// of id:
//
//   window        |=============================================================|
//   pieces        |~~~~|   span   |   span   |   span   |   span   |   span   |~~~|
//                  edge                                                        edge
//
// Each page is read in the first of these ways that works.
//   by id           windows without a start, unless too many transactions are newer than the window
//   narrow window   by stamp, then sorted: almost every poll
//   wide window     spans and edges (window-ids.ts), then their documents (page-documents.ts)
// Pages of one user have their own index (user-ids.ts). Pages in the order of changes have their own file (changes-page.ts).
//
// Later pages of a walk show the state of its first page, so a page can be read as of an earlier stamp. Versions replaced
// since then come from the history (replaced-ids.ts).

import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { PAGE_BYTES_MAX } from '../../domain/page.ts';
import { NEXT_DOCUMENT } from '../../domain/stored-document.ts';
import type { TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import type { Database } from '../database.ts';
import type { Statement } from '../sql.ts';
import { readClock } from '../stores/change-clock.ts';
import { readChangesPage } from './changes-page.ts';
import {
  AS_OF_NOW,
  earlierVersion,
  joinDocuments,
  NOTHING,
  type PageLimits,
  shareOf,
  withinShare,
} from './page-documents.ts';
import { findReplaced, nextStamp } from './replaced-ids.ts';
import { hasNoStart } from './stamp-window.ts';
import { findUserIds } from './user-ids.ts';
import { type AsOfQuery, findWindowIds } from './window-ids.ts';

/** A narrow window has fewer transactions than this. Above about 3,000 transactions, reading spans is faster than sorting. */
export const NARROW_MAX = 2_000;
/** Maximum number of transactions outside the window that can be skipped when a page is read by id. */
const SKIPPED_MAX = 200;

const ID_LENGTH = 36;

interface Row {
  /** Null if the organisation does not exist. */
  last_stamp: number | null;
  /** Up to `limit` + 1 documents. The extra document provides the next cursor, which is faster than a second query. */
  data: Uint8Array<ArrayBuffer> | null;
  /** Number of documents found, including those longer than their share. */
  found: number;
  /** Number of documents in `data`. */
  joined: number;
  /** Not null if the statement could not read the page. */
  unfit?: Uuid | number | null;
}

const LAST_STAMP = '(SELECT last_stamp FROM organisations WHERE id = $1) AS last_stamp';

// Compares row values instead of columns, so that only the primary key has this order.
const FROM_CURSOR =
  'FROM transactions WHERE (org_id, id) >= ($1, $2::uuid) AND org_id <= $1 ORDER BY org_id, id';

/**
 * The next documents, regardless of their stamps. $1: organisation, $2: cursor, $3: limit, $4: share. Use the page only
 * if `newest` is in the window.
 */
export const BY_ID_SQL: Statement = (sql) => `
  SELECT ${LAST_STAMP}, ${sql.joinDocuments}, count(*) AS found, max(updated_at) AS newest
    FROM (SELECT updated_at, ${withinShare('$4')} ${FROM_CURSOR} LIMIT $3 + 1) AS page`;

/**
 * Like BY_ID_SQL, for a window that ends at $5, as of the stamp $6. For transactions newer than the window, uses earlier
 * versions; skips transactions that have none. Unfit if skipping SKIPPED_MAX transactions was not enough to fill the page.
 */
export const NEARLY_BY_ID_SQL: Statement = (sql) => {
  const version = `CASE WHEN updated_at <= $5 THEN document ELSE ${earlierVersion('transactions.id', '$6', '$5')} END`;
  // Without this limit, both databases would look up each version several times.
  const versions = `SELECT ${version} AS document ${FROM_CURSOR} LIMIT $3 + 1 + ${SKIPPED_MAX}`;
  return `
  SELECT ${LAST_STAMP}, ${sql.joinDocuments}, count(*) AS found, CASE WHEN count(*) <= $3 THEN (
      SELECT id ${FROM_CURSOR} LIMIT 1 OFFSET $3 + 1 + ${SKIPPED_MAX}
    ) END AS unfit
    FROM (
      SELECT ${withinShare('$4')} FROM (${versions}) AS versions WHERE document IS NOT NULL LIMIT $3 + 1
    ) AS page`;
};

const WINDOW = 'FROM transactions WHERE org_id = $1 AND updated_at BETWEEN $5 AND $6';

/**
 * Like BY_ID_SQL, for a window from $5 to $6, as of the stamp $7. Unfit unless the window is narrow (has fewer than NARROW_MAX
 * transactions) and no import has replaced versions since that stamp.
 */
export const NARROW_SQL: Statement = (sql) => `
  WITH size AS MATERIALIZED (
    SELECT coalesce(
      (SELECT updated_at ${WINDOW} ORDER BY updated_at LIMIT 1 OFFSET ${NARROW_MAX - 1}), (${nextStamp('$7')})
    ) AS unfit
  ), found AS MATERIALIZED (
    SELECT id FROM (
      SELECT id ${WINDOW} ORDER BY updated_at
       LIMIT (SELECT CASE WHEN unfit IS NULL THEN ${NARROW_MAX} ELSE 0 END FROM size)
    ) AS narrow WHERE id >= $2::uuid ORDER BY id LIMIT $3 + 1
  )
  SELECT ${LAST_STAMP}, (SELECT unfit FROM size) AS unfit, ${sql.joinDocuments}, count(*) AS found
    FROM (
      SELECT (SELECT ${withinShare('$4')} FROM transactions WHERE org_id = $1 AND id = found.id) AS document FROM found ORDER BY id
    ) AS page`;

export async function readTransactionPage(
  database: Database,
  query: TransactionQuery,
): Promise<TransactionPage> {
  const { after, passbackUid, orgId, limit, bytesMax = PAGE_BYTES_MAX } = query;
  if (after !== undefined) return readChangesPage(database, query, after);
  const { cursor = FIRST_ID, asOfMs = AS_OF_NOW } = query;
  const window = { minMs: query.window.minMs, maxMs: Math.min(query.window.maxMs, asOfMs) };
  const limits = { limit, bytesMax };
  // The extra id is the next page's cursor.
  const idQuery = { orgId, cursor, window, count: limit + 1, asOfMs };
  const page = passbackUid === undefined ? await readAtOnce(database, idQuery, limits) : undefined;
  if (page !== undefined) return page;

  return database.read(async (connection) => {
    const [completeThroughMs, found, replaced] = await Promise.all([
      readClock(connection, orgId),
      passbackUid === undefined
        ? findWindowIds(connection, idQuery)
        : findUserIds(connection, idQuery, passbackUid),
      passbackUid !== undefined || asOfMs === AS_OF_NOW ? [] : findReplaced(connection, idQuery),
    ]);
    // After old history has been loaded, an id can be in both `found` and `replaced`.
    const ids = [...new Set([...found, ...replaced])].sort().slice(0, limit + 1);
    const isCurrent = asOfMs === AS_OF_NOW || (passbackUid === undefined && replaced.length === 0);
    const asOf = isCurrent ? undefined : { asOfMs, stampMaxMs: window.maxMs };
    const { data, count } = await joinDocuments(connection, orgId, ids, limits, asOf);
    return { data, cursor: ids[count], completeThroughMs };
  });
}

/** Reads the page by id or as a narrow window. Returns undefined if neither works. */
async function readAtOnce(
  database: Database,
  { orgId, cursor, window: { minMs, maxMs }, asOfMs }: AsOfQuery,
  { limit, bytesMax }: PageLimits,
): Promise<TransactionPage | undefined> {
  const place = [orgId, cursor, limit, shareOf({ limit, bytesMax })] as const;

  if (hasNoStart(minMs)) {
    const byId = onlyRow(await database.allWithBytes<Row & { newest: number | null }>(BY_ID_SQL, ...place));
    // If no transaction on the page is newer than `maxMs`, the page has not changed since `asOfMs`.
    const isRight = byId.newest === null || byId.newest <= maxMs;
    const nearly = isRight
      ? byId
      : onlyRow(await database.allWithBytes<Row>(NEARLY_BY_ID_SQL, ...place, maxMs, asOfMs));
    const page = findWhole(nearly, limit);
    if (page !== undefined) return page;
  }

  const params = [...place, minMs, maxMs, asOfMs];
  return findWhole(onlyRow(await database.allWithBytes<Row>(NARROW_SQL, ...params)), limit);
}

/** A missing row must not be mistaken for an empty page. */
function onlyRow<T>([row, ...others]: readonly T[]): T {
  if (row === undefined || others.length > 0) throw new Error('expected exactly one row');
  return row;
}

/** Returns undefined if the row is unfit, or if a document was left out because it is longer than its share. */
function findWhole(row: Row, limit: number): TransactionPage | undefined {
  if (row.unfit != null || row.joined < row.found) return undefined;
  const data = row.data ?? NOTHING;
  const completeThroughMs = row.last_stamp ?? 0;
  if (row.found <= limit) return { data, cursor: undefined, completeThroughMs };
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const end = bytes.lastIndexOf(NEXT_DOCUMENT);
  const id = end + NEXT_DOCUMENT.length;
  const cursor = bytes.toString('latin1', id, id + ID_LENGTH) as Uuid;
  return { data: data.subarray(0, end), cursor, completeThroughMs };
}
