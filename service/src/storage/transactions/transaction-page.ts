// Reads a page of transactions: the first `limit` ids from a cursor on whose stamps are in a window, with their documents, and
// the change clock of the same snapshot.
//
// The difficulty: pages are in order of id, windows are ranges of stamps, and no index is in both orders.
//
//     id ▲  · ·    ·   │ ·  ·   ·  │ ·        An index by id finds the next ids, but has to skip all those outside
//        │ ·   · ·     │·   ·  ·   │   ·      the window. An index by stamp finds the window, but all its
//        │   ·    ·  · │  ·   ·  · │·  ·      transactions have to be read and sorted before the first page is known.
//        └─────────────┴───────────┴────▶ stamp
//                         window
//
// With only these two indexes and 3 million transactions, later pages took 0.3 ms, but the first page of a day's window took
// 15 ms and that of a year's window 180 ms, on the thread that answers every client. So a third kind of index cuts the stamps
// into spans and holds the transactions of each span in order of id:
//
//   stamps  ──────────────────────────────────────────────────────────────────────────▶
//   window        |=============================================================|
//   pieces        |~~~~|s|s|s|   m   |   m   |          l          |   m   |s|s|~|
//                  edge   spans: small (17 min), medium (9 h), large (12 days)  edge
//
//   span   3a 41 7f c0 …   the first ids of each span, by index
//   edge   12 66 8e        less than a small span: read by stamp and sorted
//   page   12 3a 41 66 …   the smallest of all of them
//
// Whatever the window, a page reads a little of some spans: every page takes less than 4 ms.
//
// There are four ways to read a page, from the simplest to the most general:
//   by id            for windows without a start: the next ids, as long as none of them is newer than the window
//   nearly by id     the same, with the earlier version of what is newer, or without it if it is an addition
//   narrow window    by stamp, then sorted: almost every poll
//   wide window      spans and edges (wide-window.ts)
// The database finds out which way works by trying. If a document is longer than its share of the bytes (page-documents.ts),
// the page is read again through its ids.
//
// A page can be read as of an earlier stamp: the later pages of a walk show the state of its first page. What has changed
// since then comes from the history (replaced-ids.ts).
//
// The database joins the documents into one string, which stays bytes until it is sent: both are faster than single rows and
// JavaScript strings.

import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { PAGE_BYTES_MAX } from '../../domain/page.ts';
import type { StampWindow, TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import type { Connection, Database } from '../database.ts';
import type { Statement } from '../sql.ts';
import {
  earlierVersion,
  joinDocuments,
  LATEST_MS,
  NOTHING,
  type PageLimits,
  shareOf,
  withinShare,
} from './page-documents.ts';
import { findReplaced, nextStamp } from './replaced-ids.ts';
import { hasNoStart } from './stamp-window.ts';
import { type FoundIds, type IdQuery, readBounds, readFewIds, readWideWindow } from './wide-window.ts';

/** A narrow window has fewer transactions than this. */
export const NARROW_MAX = 300;
/** Transactions outside of its window that a page may skip. */
const SKIPPED_MAX = 200;

/** Start of every document but the first. Quotes inside strings are escaped, so it occurs nowhere else. */
export const NEXT_DOCUMENT = ',{"id":"';
const ID_LENGTH = 36;
const EARLIER_MS = Number.NEGATIVE_INFINITY;

interface Row {
  /** Null if there is no such organisation. */
  last_stamp: number | null;
  /** Up to `limit` + 1 documents: the next page starts with the last one. */
  data: Uint8Array<ArrayBuffer> | null;
  /** Number of documents found, including those that are longer than their share. */
  found: number;
  /** Number of documents in `data`. */
  joined: number;
}

// Compares rows, not single columns, so that only the index by organisation and id has this order. The index by id alone would
// skip all other organisations.
const FROM_CURSOR = 'FROM transactions WHERE (org_id, id) >= ($1, $2) AND org_id <= $1 ORDER BY org_id, id';

// The statements join one document more than the page has, and findWhole() cuts it off again: that is faster than a second
// query for the next cursor.

const LAST_STAMP = '(SELECT last_stamp FROM organisations WHERE id = $1) AS last_stamp';

/** The next documents whatever their stamps. The page is right if `newest` is in the window. */
export const BY_ID_SQL: Statement = (sql) => `
  SELECT ${LAST_STAMP}, ${sql.joinDocuments}, count(*) AS found, max(updated_at) AS newest
    FROM (SELECT updated_at, ${withinShare('$4')} ${FROM_CURSOR} LIMIT $3 + 1) AS page`;

/** Skips up to SKIPPED_MAX transactions. `unseen` is not null if that was not enough to fill the page. */
export const NEARLY_EVERYTHING_SQL: Statement = (sql) => {
  const version = `CASE WHEN updated_at <= $5 THEN document ELSE ${earlierVersion('near.id', '$6', '$5')} END`;
  const near = `SELECT id, updated_at, document ${FROM_CURSOR} LIMIT $3 + 1 + ${SKIPPED_MAX}`;
  // The second limit cuts nothing off; without it, both databases would look up each version several times.
  const versions = `SELECT ${version} AS document FROM (${near}) AS near LIMIT $3 + 1 + ${SKIPPED_MAX}`;
  return `
  SELECT ${LAST_STAMP}, p.data, p.joined, p.found, CASE WHEN p.found <= $3 THEN (
      SELECT id ${FROM_CURSOR} LIMIT 1 OFFSET $3 + 1 + ${SKIPPED_MAX}
    ) END AS unseen
    FROM (
      SELECT ${sql.joinDocuments}, count(*) AS found
        FROM (
          SELECT ${withinShare('$4')} FROM (${versions}) AS versions WHERE document IS NOT NULL LIMIT $3 + 1
        ) AS page
    ) AS p`;
};

const NARROW_WINDOW = `
    SELECT id FROM transactions
     WHERE org_id = $1 AND updated_at BETWEEN $5 AND $6
     ORDER BY updated_at LIMIT ${NARROW_MAX}`;

/** A narrow window in one statement, for databases where every statement costs a round trip. */
export const NARROW_SQL: Statement = (sql) => `
  WITH narrow AS MATERIALIZED (${NARROW_WINDOW}), found AS MATERIALIZED (
    SELECT id FROM narrow
     WHERE id >= $2 AND (SELECT count(*) FROM narrow) < ${NARROW_MAX}
     ORDER BY id LIMIT $3 + 1
  )
  SELECT ${LAST_STAMP}, (SELECT count(*) FROM narrow) AS size, ${sql.joinDocuments}, count(*) AS found
    FROM (
      SELECT (SELECT ${withinShare('$4')} FROM transactions WHERE id = found.id) AS document FROM found ORDER BY id
    ) AS page`;

/**
 * The same as of the stamp $7, with the versions replaced since: `since` has all of them if they are few, otherwise
 * `in_window` has those that each import replaced in the window.
 */
export const NARROW_AS_OF_SQL: Statement = (sql) => `
  WITH RECURSIVE narrow AS MATERIALIZED (${NARROW_WINDOW}), since AS MATERIALIZED (
    SELECT id, from_stamp FROM history WHERE org_id = $1 AND until_stamp > $7 ORDER BY until_stamp LIMIT ${NARROW_MAX}
  ), stamps (stamp) AS (
    SELECT (${nextStamp('$7')}) WHERE (SELECT count(*) FROM since) = ${NARROW_MAX}
    UNION ALL
    SELECT (${nextStamp('stamps.stamp')}) FROM stamps WHERE stamps.stamp IS NOT NULL
  ), in_window AS MATERIALIZED (
    SELECT version.id FROM stamps CROSS JOIN LATERAL (
      SELECT id FROM history
       WHERE org_id = $1 AND until_stamp = stamps.stamp AND from_stamp BETWEEN $5 AND $6
       ORDER BY from_stamp LIMIT ${NARROW_MAX}
    ) AS version LIMIT ${NARROW_MAX}
  ), sizes AS MATERIALIZED (
    SELECT greatest((SELECT count(*) FROM narrow), (SELECT count(*) FROM in_window)) AS size,
           (SELECT count(*) FROM since) AS since
  ), found AS MATERIALIZED (
    SELECT id, bool_or(is_replaced) AS is_replaced FROM (
      SELECT id, false AS is_replaced FROM narrow
      UNION ALL SELECT id, true FROM since
       WHERE from_stamp BETWEEN $5 AND $6 AND (SELECT since FROM sizes) < ${NARROW_MAX}
      UNION ALL SELECT id, true FROM in_window
    ) AS all_of_them
     WHERE id >= $2 AND (SELECT size FROM sizes) < ${NARROW_MAX}
     GROUP BY id ORDER BY id LIMIT $3 + 1
  )
  SELECT ${LAST_STAMP}, (SELECT size FROM sizes) AS size, ${sql.joinDocuments}, count(*) AS found
    FROM (
      SELECT ${withinShare('$4')} FROM (
        SELECT CASE WHEN is_replaced THEN ${earlierVersion('found.id', '$7', '$6')}
                    ELSE (SELECT document FROM transactions WHERE id = found.id) END AS document
          FROM found ORDER BY id LIMIT $3 + 1
      ) AS versions
    ) AS page`;

export async function readTransactionPage(
  database: Database,
  query: TransactionQuery,
): Promise<TransactionPage> {
  const { orgId, limit, bytesMax = PAGE_BYTES_MAX, asOfMs = LATEST_MS } = query;
  const cursor = query.cursor ?? FIRST_ID;
  const window = { minMs: query.window.minMs, maxMs: Math.min(query.window.maxMs, asOfMs) };
  const atOnce = await findPageAtOnce(database, { orgId, window, limit, bytesMax, cursor, asOfMs });
  if (atOnce !== undefined) return atOnce;
  return database.read(async (connection) => {
    // One id more than the page has: the cursor of the next page.
    const idQuery = { orgId, cursor, window, count: limit + 1 };
    // PostgreSQL has tried the narrow window already, in findPageAtOnce().
    const narrow = database.sql.isRemote ? undefined : await readNarrowWindow(connection, idQuery);
    const { ids: unchanged, clockMs } = narrow ?? (await readWideWindow(connection, idQuery));
    const replaced = asOfMs < clockMs ? await findReplaced(connection, { ...idQuery, asOfMs }) : [];
    const ids = replaced.length === 0 ? unchanged : firstOfBoth(unchanged, replaced, limit + 1);
    const wanted = {
      ids,
      asOf: replaced.length === 0 ? undefined : { ms: asOfMs, stampMaxMs: window.maxMs },
    };
    const { data, count } = await joinDocuments(connection, wanted, { limit, bytesMax });
    return { data, cursor: ids[count], completeThroughMs: clockMs };
  });
}

interface PageQuery extends PageLimits {
  readonly orgId: number;
  readonly cursor: Uuid;
  /** Ends at `asOfMs` at the latest. */
  readonly window: StampWindow;
  readonly asOfMs: number;
}

/** Returns the page if a single statement finds all of it. */
async function findPageAtOnce(database: Database, query: PageQuery): Promise<TransactionPage | undefined> {
  const { orgId, cursor, window, limit, asOfMs } = query;
  const place = [orgId, cursor, limit, shareOf(query)] as const;
  if (hasNoStart(window)) {
    const row = onlyRow(await database.allWithBytes<Row & { newest: number | null }>(BY_ID_SQL, ...place));
    // Everything on the page is older than `asOfMs`, so nothing on it has changed since.
    if ((row.newest ?? EARLIER_MS) <= window.maxMs) return findWhole(row, limit);
    const nearly = onlyRow(
      await database.allWithBytes<Row & { unseen: Uuid | null }>(
        NEARLY_EVERYTHING_SQL,
        ...place,
        window.maxMs,
        asOfMs,
      ),
    );
    if (nearly.unseen === null) return findWhole(nearly, limit);
  }
  if (!database.sql.isRemote) return undefined;
  const params = [...place, window.minMs, window.maxMs];
  const row = onlyRow(
    await (asOfMs === LATEST_MS
      ? database.allWithBytes<Row & { size: number }>(NARROW_SQL, ...params)
      : database.allWithBytes<Row & { size: number }>(NARROW_AS_OF_SQL, ...params, asOfMs)),
  );
  return row.size < NARROW_MAX ? findWhole(row, limit) : undefined;
}

/** Returns undefined if the window is not narrow. */
async function readNarrowWindow(
  connection: Connection,
  { orgId, cursor, window, count }: IdQuery,
): Promise<FoundIds | undefined> {
  const ids = await readFewIds(connection, { orgId, cursor, window, count: NARROW_MAX });
  if (ids === undefined) return undefined;
  return { ids: ids.slice(0, count), clockMs: (await readBounds(connection, orgId)).maxMs };
}

/** The first ids of two sorted lists. Loading history is the only way for an id to be in both. */
function firstOfBoth(a: readonly Uuid[], b: readonly Uuid[], count: number): Uuid[] {
  return [...new Set([...a, ...b])].sort().slice(0, count);
}

/** The statements of a page always return one row. No row at all must not pass for an empty page. */
function onlyRow<T>([row, ...others]: readonly T[]): T {
  if (row === undefined || others.length > 0) throw new Error('expected exactly one row');
  return row;
}

/** Returns the page, unless documents were left out of it. */
function findWhole(row: Row, limit: number): TransactionPage | undefined {
  if (row.joined < row.found) return undefined;
  const data = row.data ?? NOTHING;
  const completeThroughMs = row.last_stamp ?? 0;
  if (row.found <= limit) return { data, cursor: undefined, completeThroughMs };
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const end = bytes.lastIndexOf(NEXT_DOCUMENT);
  const id = end + NEXT_DOCUMENT.length;
  const cursor = bytes.toString('latin1', id, id + ID_LENGTH) as Uuid;
  return { data: data.subarray(0, end), cursor, completeThroughMs };
}
