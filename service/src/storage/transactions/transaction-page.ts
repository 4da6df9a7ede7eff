// Reads a page of transactions and the change clock beside it, in one snapshot. There are four ways, because
// no index is in the order of the ids and of the stamps at once:
//   by id            walk that index; for windows without a start, while nothing on the page is too new for them
//   nearly so        the same, passing over what is too new: the later pages of a walk through everything
//   a narrow window  read it by stamp, sort; what almost every poll asks for
//   a wide window    merge runs (wide-window.ts)
// All but the last are one statement each on PostgreSQL. Which one it is, the database finds out by reading.
//
// The database joins the documents of a page: one long text comes over in half the time of a hundred short ones. It
// stays as it comes, bytes, and is never made into a string: that saves a tenth of the time of a request on SQLite.

import type { TransactionPage, TransactionQuery } from '../../domain/stores.ts';
import type { Uuid } from '../../domain/uuid.ts';
import type { Connection, Database } from '../database.ts';
import { type Dialect, inBoth, VALUES } from '../sql-dialect.ts';
import { findPinSql, type PinKey } from '../stores/walk-store.ts';
import { FIRST_ID } from './id-bounds.ts';
import { hasNoStart } from './stamp-window.ts';
import { type FoundIds, type IdQuery, readBounds, readFewIds, readWideWindow } from './wide-window.ts';

/** A window with fewer transactions than this is narrow. */
export const NARROW_MAX = 300;
/** How many transactions outside of its window a page may pass over. */
const PASSED_OVER_MAX = 200;

const NOTHING = new Uint8Array();
/** Where a document starts that is not the first. Quotes within a text are escaped, so it is found nowhere else. */
const NEXT_DOCUMENT = ',{"id":"';
const ID_LENGTH = 36;
const EARLIER_MS = Number.NEGATIVE_INFINITY;

interface Row {
  /** Unless there is no such organisation. */
  last_stamp: number | null;
  /** One document more than the page holds, if there are so many: the next page starts with it. */
  data: Uint8Array<ArrayBuffer> | null;
  /** How many documents these are. */
  found: number;
}

interface RowById extends Row {
  newest: number | null;
}

const JOIN_DOCUMENTS = {
  sqlite: `CAST(group_concat(document, ',') AS BLOB)`,
  postgres: `string_agg(document, ',')`,
};

// Rows are compared, instead of each column for itself, so that only the index by organisation and id is in
// the order asked for: the one by id alone would have to pass over all other organisations.
const FROM_CURSOR = 'FROM transactions WHERE (org_id, id) >= ($1, $2) AND org_id <= $1 ORDER BY org_id, id';

// To join one document more than a page holds, and cut it off again, is cheaper than to look for its id: a sixth of the
// time of a page on SQLite, a fourteenth on PostgreSQL.

const LAST_STAMP = '(SELECT last_stamp FROM organisations WHERE id = $1) AS last_stamp';

/** Whatever their stamps; the greatest of those tells whether the page is right. */
const pageById = (dialect: Dialect, columns: readonly string[]) => `
  SELECT ${columns.join(', ')}, ${JOIN_DOCUMENTS[dialect]} AS data, count(*) AS found, max(updated_at) AS newest
    FROM (SELECT updated_at, document ${FROM_CURSOR} LIMIT $3 + 1) AS page`;

export const BY_ID_SQL = inBoth((dialect) => pageById(dialect, [LAST_STAMP]));

/** The same, with the stamp to which a walk is pinned. PostgreSQL only: SQLite has walks in a file of their own. */
export const HELD_BY_ID_SQL = pageById('postgres', [LAST_STAMP, `(${findPinSql(4)}) AS pinned_stamp`]);

/**
 * Looks at no more than so many beyond those that make a page. When these are too few, an id in `unseen` tells that
 * there are others.
 */
export const NEARLY_EVERYTHING_SQL = inBoth((dialect) => {
  const near = `SELECT updated_at, document ${FROM_CURSOR} LIMIT $3 + 1 + ${PASSED_OVER_MAX}`;
  return `
  SELECT ${LAST_STAMP}, p.data, p.found, CASE WHEN p.found <= $3 THEN (
      SELECT id ${FROM_CURSOR} LIMIT 1 OFFSET $3 + 1 + ${PASSED_OVER_MAX}
    ) END AS unseen
    FROM (
      SELECT ${JOIN_DOCUMENTS[dialect]} AS data, count(*) AS found
        FROM (
          SELECT document FROM (${near}) AS near WHERE updated_at BETWEEN $4 AND $5 LIMIT $3 + 1
        ) AS page
    ) AS p`;
});

/** PostgreSQL only: SQLite has no trips to save, and takes half the time for a few simple statements. */
export const NARROW_SQL = `
  WITH narrow AS MATERIALIZED (
    SELECT id FROM transactions
     WHERE org_id = $1 AND updated_at BETWEEN $4 AND $5
     ORDER BY updated_at LIMIT ${NARROW_MAX}
  ), found AS MATERIALIZED (
    SELECT id FROM narrow
     WHERE id >= $2 AND (SELECT count(*) FROM narrow) < ${NARROW_MAX}
     ORDER BY id LIMIT $3 + 1
  )
  SELECT ${LAST_STAMP}, (SELECT count(*) FROM narrow) AS total, ${JOIN_DOCUMENTS.postgres} AS data, count(*) AS found
    FROM (
      SELECT (SELECT document FROM transactions WHERE id = found.id) AS document FROM found ORDER BY id
    ) AS page`;

/** The documents of a list of ids, in its order. */
export const DOCUMENTS_SQL = inBoth((dialect) => {
  return `
  SELECT ${JOIN_DOCUMENTS[dialect]} AS data FROM (
    SELECT (SELECT document FROM transactions WHERE id = v.value) AS document FROM ${VALUES[dialect]('$1', 'uuid')}
  ) AS page`;
});

export async function readTransactionPage(
  database: Database,
  { orgId, cursor = FIRST_ID, window, limit }: TransactionQuery,
): Promise<TransactionPage> {
  const { dialect } = database;
  const params = [orgId, cursor, limit, window.minMs, window.maxMs] as const;
  if (hasNoStart(window)) {
    const row = onlyRow(await database.allWithBytes<RowById>(BY_ID_SQL[dialect], orgId, cursor, limit));
    if ((row.newest ?? EARLIER_MS) <= window.maxMs) return toPage(row, limit);
    const nearly = onlyRow(
      await database.allWithBytes<Row & { unseen: Uuid | null }>(NEARLY_EVERYTHING_SQL[dialect], ...params),
    );
    if (nearly.unseen === null) return toPage(nearly, limit);
  }
  if (dialect === 'postgres') {
    const row = onlyRow(await database.allWithBytes<Row & { total: number }>(NARROW_SQL, ...params));
    if (row.total < NARROW_MAX) return toPage(row, limit);
  }
  return database.read(async (connection) => {
    // One more than the page holds tells whether there is a next one.
    const query = { orgId, cursor, window, count: limit + 1 };
    const { ids, clockMs } =
      (dialect === 'sqlite' ? await readNarrowWindow(connection, query) : undefined) ??
      (await readWideWindow(connection, dialect, query));
    const data = await readDocuments(connection, dialect, ids.slice(0, limit));
    return { data, cursor: ids[limit], completeThroughMs: clockMs };
  });
}

async function readNarrowWindow(
  connection: Connection,
  { orgId, cursor, window, count }: IdQuery,
): Promise<FoundIds | undefined> {
  const ids = await readFewIds(connection, { orgId, cursor, window, count: NARROW_MAX });
  if (ids === undefined) return undefined;
  return { ids: ids.slice(0, count), clockMs: (await readBounds(connection, orgId)).maxMs };
}

async function readDocuments(
  connection: Connection,
  dialect: Dialect,
  ids: readonly Uuid[],
): Promise<TransactionPage['data']> {
  if (ids.length === 0) return NOTHING;
  const list = JSON.stringify(ids);
  const { data } = onlyRow(await connection.allWithBytes<Pick<Row, 'data'>>(DOCUMENTS_SQL[dialect], list));
  return data ?? NOTHING;
}

/** The stamp to which a walk is pinned, and the page by id if nothing on it is newer than that. */
export async function readHeldPage(
  database: Database,
  { orgId, cursor = FIRST_ID, window, limit }: TransactionQuery,
  pin: PinKey,
): Promise<{ pinnedMs: number | undefined; page: TransactionPage | undefined }> {
  const row = onlyRow(
    await database.allWithBytes<RowById & { pinned_stamp: number | null }>(
      HELD_BY_ID_SQL,
      ...[orgId, cursor, limit],
      ...pin,
    ),
  );
  const pinnedMs = row.pinned_stamp ?? undefined;
  const isRight = (row.newest ?? EARLIER_MS) <= Math.min(window.maxMs, pinnedMs ?? window.maxMs);
  return { pinnedMs, page: isRight ? toPage(row, limit) : undefined };
}

/** Each of these statements has one row, whatever it finds: nothing at all must not pass for a page without transactions. */
function onlyRow<T>([row, ...others]: readonly T[]): T {
  if (row === undefined || others.length > 0)
    throw new Error('a statement that always has one row has another number');
  return row;
}

function toPage(row: Row, limit: number): TransactionPage {
  const data = row.data ?? NOTHING;
  const completeThroughMs = row.last_stamp ?? 0;
  if (row.found <= limit) return { data, cursor: undefined, completeThroughMs };
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const end = bytes.lastIndexOf(NEXT_DOCUMENT);
  const id = end + NEXT_DOCUMENT.length;
  const cursor = bytes.toString('latin1', id, id + ID_LENGTH) as Uuid;
  return { data: data.subarray(0, end), cursor, completeThroughMs };
}
