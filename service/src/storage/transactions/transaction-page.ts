// Reads a page of transactions and the change clock beside it, in one snapshot. There are four ways, because
// no index is in the order of the ids and of the stamps at once:
//   by id            walk that index; for windows without a start, while nothing on the page is too new for them
//   nearly so        the same, with earlier versions in place of what is too new, or nothing where there was none
//   a narrow window  read it by stamp, sort; what almost every poll asks for
//   a wide window    merge runs (wide-window.ts)
// All but the last are one statement each on PostgreSQL. Which one it is, the database finds out by reading. A page with a
// document that is longer than its share of the bytes (page-documents.ts) is read the last way, too, whatever its window.
//
// A page may be asked for as of an earlier moment: a later page of a walk shows the state of its first page. What has
// changed since then comes from the history (replaced-ids.ts).
//
// The database joins the documents of a page: one long text comes over in half the time of a hundred short ones. It
// stays as it comes, bytes, and is never made into a string: that saves a tenth of the time of a request on SQLite.

import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { PAGE_BYTES_MAX } from '../../domain/page.ts';
import type { StampWindow, TransactionPage, TransactionQuery } from '../../domain/stores.ts';
import type { Connection, Database } from '../database.ts';
import { type Dialect, inBoth } from '../sql-dialect.ts';
import {
  earlierVersion,
  JOIN_DOCUMENTS,
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

/** A window with fewer transactions than this is narrow. */
export const NARROW_MAX = 300;
/** How many transactions outside of its window a page may pass over. */
const PASSED_OVER_MAX = 200;

/** Where a document, which begins with its id, starts that is not the first. Quotes within a text are escaped, so it is found nowhere else. */
export const NEXT_DOCUMENT = ',{"id":"';
const ID_LENGTH = 36;
const EARLIER_MS = Number.NEGATIVE_INFINITY;

interface Row {
  /** Unless there is no such organisation. */
  last_stamp: number | null;
  /** One document more than the page holds, if there are so many: the next page starts with it. */
  data: Uint8Array<ArrayBuffer> | null;
  /** How many documents there are, with those that are too long to be joined at once. */
  found: number;
  /** How many documents the text holds. */
  joined: number;
}

// Rows are compared, not single columns, so that only the index by organisation and id is in the order asked for. The
// index by id alone would pass over all other organisations.
const FROM_CURSOR = 'FROM transactions WHERE (org_id, id) >= ($1, $2) AND org_id <= $1 ORDER BY org_id, id';

// One document more than the page holds is joined and cut off again. That is cheaper than to look for its id: it
// saves a sixth of a page's time on SQLite, a fourteenth on PostgreSQL.

const LAST_STAMP = '(SELECT last_stamp FROM organisations WHERE id = $1) AS last_stamp';

/** Whatever their stamps; the greatest of those tells whether the page is right. */
export const BY_ID_SQL = inBoth(
  (dialect) => `
  SELECT ${LAST_STAMP}, ${JOIN_DOCUMENTS[dialect]}, count(*) AS found, max(updated_at) AS newest
    FROM (SELECT updated_at, ${withinShare('$4')} ${FROM_CURSOR} LIMIT $3 + 1) AS page`,
);

/**
 * Looks at no more than PASSED_OVER_MAX transactions beyond those that make a page. When these are too few, an id in
 * `unseen` tells that there are others.
 */
export const NEARLY_EVERYTHING_SQL = inBoth((dialect) => {
  const version = `CASE WHEN updated_at <= $5 THEN document ELSE ${earlierVersion('near.id', '$6', '$5')} END`;
  const near = `SELECT id, updated_at, document ${FROM_CURSOR} LIMIT $3 + 1 + ${PASSED_OVER_MAX}`;
  // The second limit changes nothing, but without it both databases would look for each version several times.
  const versions = `SELECT ${version} AS document FROM (${near}) AS near LIMIT $3 + 1 + ${PASSED_OVER_MAX}`;
  return `
  SELECT ${LAST_STAMP}, p.data, p.joined, p.found, CASE WHEN p.found <= $3 THEN (
      SELECT id ${FROM_CURSOR} LIMIT 1 OFFSET $3 + 1 + ${PASSED_OVER_MAX}
    ) END AS unseen
    FROM (
      SELECT ${JOIN_DOCUMENTS[dialect]}, count(*) AS found
        FROM (
          SELECT ${withinShare('$4')} FROM (${versions}) AS versions WHERE document IS NOT NULL LIMIT $3 + 1
        ) AS page
    ) AS p`;
});

const NARROW_WINDOW = `
    SELECT id FROM transactions
     WHERE org_id = $1 AND updated_at BETWEEN $5 AND $6
     ORDER BY updated_at LIMIT ${NARROW_MAX}`;

/** PostgreSQL only: SQLite has no trips to save, and takes half the time for a few simple statements. */
export const NARROW_SQL = `
  WITH narrow AS MATERIALIZED (${NARROW_WINDOW}), found AS MATERIALIZED (
    SELECT id FROM narrow
     WHERE id >= $2 AND (SELECT count(*) FROM narrow) < ${NARROW_MAX}
     ORDER BY id LIMIT $3 + 1
  )
  SELECT ${LAST_STAMP}, (SELECT count(*) FROM narrow) AS size, ${JOIN_DOCUMENTS.postgres}, count(*) AS found
    FROM (
      SELECT (SELECT ${withinShare('$4')} FROM transactions WHERE id = found.id) AS document FROM found ORDER BY id
    ) AS page`;

/**
 * The same as of a moment, with what has been replaced since: all of it, if that is little; otherwise what each import
 * since then has replaced of the window.
 */
export const NARROW_AS_OF_SQL = `
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
  SELECT ${LAST_STAMP}, (SELECT size FROM sizes) AS size, ${JOIN_DOCUMENTS.postgres}, count(*) AS found
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
  const { dialect } = database;
  const { orgId, limit, bytesMax = PAGE_BYTES_MAX, asOfMs = LATEST_MS } = query;
  const cursor = query.cursor ?? FIRST_ID;
  const window = { minMs: query.window.minMs, maxMs: Math.min(query.window.maxMs, asOfMs) };
  const atOnce = await findPageAtOnce(database, { orgId, window, limit, bytesMax, cursor, asOfMs });
  if (atOnce !== undefined) return atOnce;
  return database.read(async (connection) => {
    // One more than the page holds tells whether there is a next one.
    const idQuery = { orgId, cursor, window, count: limit + 1 };
    const { ids: unchanged, clockMs } = await readUnchanged(connection, dialect, idQuery);
    const replaced = asOfMs < clockMs ? await findReplaced(connection, dialect, { ...idQuery, asOfMs }) : [];
    const ids = replaced.length === 0 ? unchanged : firstOfBoth(unchanged, replaced, limit + 1);
    const wanted = {
      ids,
      asOf: replaced.length === 0 ? undefined : { ms: asOfMs, stampMaxMs: window.maxMs },
    };
    const { data, count } = await joinDocuments(connection, dialect, wanted, { limit, bytesMax });
    return { data, cursor: ids[count], completeThroughMs: clockMs };
  });
}

interface PageQuery extends PageLimits {
  readonly orgId: number;
  readonly cursor: Uuid;
  /** Ends at the moment as of which the page is read, at the latest. */
  readonly window: StampWindow;
  readonly asOfMs: number;
}

/** The page, if one of the ways that are a single statement finds all of it. */
async function findPageAtOnce(database: Database, query: PageQuery): Promise<TransactionPage | undefined> {
  const { dialect } = database;
  const { orgId, cursor, window, limit, asOfMs } = query;
  const place = [orgId, cursor, limit, shareOf(query)] as const;
  if (hasNoStart(window)) {
    const row = onlyRow(
      await database.allWithBytes<Row & { newest: number | null }>(BY_ID_SQL[dialect], ...place),
    );
    // What has changed since the moment is newer than it, so nothing on this page has.
    if ((row.newest ?? EARLIER_MS) <= window.maxMs) return findWhole(row, limit);
    const nearly = onlyRow(
      await database.allWithBytes<Row & { unseen: Uuid | null }>(
        NEARLY_EVERYTHING_SQL[dialect],
        ...place,
        window.maxMs,
        asOfMs,
      ),
    );
    if (nearly.unseen === null) return findWhole(nearly, limit);
  }
  if (dialect === 'sqlite') return undefined;
  const stamps = [window.minMs, window.maxMs] as const;
  const [sql, ...moment] = asOfMs === LATEST_MS ? [NARROW_SQL] : [NARROW_AS_OF_SQL, asOfMs];
  const row = onlyRow(
    await database.allWithBytes<Row & { size: number }>(sql, ...place, ...stamps, ...moment),
  );
  return row.size < NARROW_MAX ? findWhole(row, limit) : undefined;
}

async function readUnchanged(connection: Connection, dialect: Dialect, query: IdQuery): Promise<FoundIds> {
  const narrow = dialect === 'sqlite' ? await readNarrowWindow(connection, query) : undefined;
  return narrow ?? readWideWindow(connection, dialect, query);
}

async function readNarrowWindow(
  connection: Connection,
  { orgId, cursor, window, count }: IdQuery,
): Promise<FoundIds | undefined> {
  const ids = await readFewIds(connection, { orgId, cursor, window, count: NARROW_MAX });
  if (ids === undefined) return undefined;
  return { ids: ids.slice(0, count), clockMs: (await readBounds(connection, orgId)).maxMs };
}

/** The first ids of two sorted lists. An id is in both only after a history load. */
function firstOfBoth(a: readonly Uuid[], b: readonly Uuid[], count: number): Uuid[] {
  return [...new Set([...a, ...b])].sort().slice(0, count);
}

/** Each of these statements has one row, whatever it finds: nothing at all must not pass for a page without transactions. */
function onlyRow<T>([row, ...others]: readonly T[]): T {
  if (row === undefined || others.length > 0)
    throw new Error('a statement that always has one row has another number');
  return row;
}

/** The page of a row, unless documents were left out of it. */
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
