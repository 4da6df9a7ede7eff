// Reads a page of transactions and the change clock beside it, in one snapshot. There are four ways, because
// no index is in the order of the ids and of the stamps at once:
//   everything       walk the index by id
//   nearly that      the same, passing over what is too new: the later pages of a walk through everything
//   a narrow window  read it by stamp, sort; what almost every poll asks for
//   a wide window    merge runs (wide-window.ts)
// All but the last are one statement each. Which one it is, the database finds out by reading.
//
// The database joins the documents of a page: one long text comes over in half the time of a hundred short ones. It
// stays as it comes, bytes, and is never made into a string: that saves a tenth of the time of a request on SQLite.

import type { TransactionPage, TransactionQuery } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import type { Database } from './database.ts';
import { FIRST_ID } from './id-bounds.ts';
import { inBoth, VALUES } from './sql-dialect.ts';
import { coversEverything, hasNoStart } from './stamp-window.ts';
import { readWideWindow } from './wide-window.ts';

/** A window with fewer transactions than this is narrow. */
export const NARROW_MAX = 300;
/** How many transactions outside of its window a page may pass over. */
const PASSED_OVER_MAX = 200;

const NOTHING = new Uint8Array();

interface Row {
  last_stamp: number;
  data: Uint8Array<ArrayBuffer> | null;
  /** The first id beyond the page. */
  next: Uuid | null;
}

const JOIN_DOCUMENTS = {
  sqlite: `CAST(group_concat(document, ',') AS BLOB)`,
  postgres: `string_agg(document, ',')`,
};

// Rows are compared, instead of each column for itself, so that only the index by organisation and id is in
// the order asked for: the one by id alone would have to pass over all other organisations.
const inIdOrder = (place: string) =>
  `FROM transactions WHERE (org_id, id) ${place} AND org_id <= $1 ORDER BY org_id, id`;
const FROM_CURSOR = inIdOrder('>= ($1, $2)');

export const EVERYTHING_SQL = inBoth((dialect) => {
  return `
  SELECT o.last_stamp,
    (SELECT ${JOIN_DOCUMENTS[dialect]} FROM (SELECT document ${FROM_CURSOR} LIMIT $3) AS page) AS data,
    (SELECT id ${FROM_CURSOR} LIMIT 1 OFFSET $3) AS next
    FROM organisations o WHERE o.id = $1`;
});

/** Of a page that is full; nothing of any other. PostgreSQL has no max() of uuids. */
const LAST_ON_PAGE = { sqlite: 'CASE WHEN count(*) = $3 THEN max(id) END', postgres: '(array_agg(id))[$3]' };

/**
 * Looks at no more than so many beyond those that make a page, and at as many behind it for the next one. When
 * there is none, an id in `unseen` tells that some were not looked at.
 */
export const NEARLY_EVERYTHING_SQL = inBoth((dialect) => {
  const behindPage = inIdOrder('> ($1, p.last)');
  const inWindow = 'AS near WHERE updated_at BETWEEN $4 AND $5';
  return `
  SELECT p.last_stamp, p.data, p.next,
    CASE WHEN p.next IS NOT NULL THEN NULL
         WHEN p.last IS NULL THEN (SELECT id ${FROM_CURSOR} LIMIT 1 OFFSET $3 + ${PASSED_OVER_MAX})
         ELSE (SELECT id ${behindPage} LIMIT 1 OFFSET ${PASSED_OVER_MAX})
    END AS unseen
    FROM (
      SELECT o.last_stamp, p.data, p.last,
        -- To look for what is greater than nothing, SQLite would go through the whole table.
        CASE WHEN p.last IS NOT NULL THEN (
          SELECT id FROM (SELECT id, updated_at ${behindPage} LIMIT ${PASSED_OVER_MAX}) ${inWindow} LIMIT 1
        ) END AS next
        FROM organisations o
       CROSS JOIN (
          SELECT ${JOIN_DOCUMENTS[dialect]} AS data, ${LAST_ON_PAGE[dialect]} AS last
            FROM (
              SELECT id, document
                FROM (SELECT id, updated_at, document ${FROM_CURSOR} LIMIT $3 + ${PASSED_OVER_MAX}) ${inWindow}
               LIMIT $3
            ) AS page
        ) AS p
       WHERE o.id = $1
    ) AS p`;
});

export const NARROW_SQL = inBoth((dialect) => {
  return `
  WITH narrow AS MATERIALIZED (
    SELECT id FROM transactions
     WHERE org_id = $1 AND updated_at BETWEEN $4 AND $5
     ORDER BY updated_at LIMIT ${NARROW_MAX}
  ), found AS MATERIALIZED (
    SELECT id FROM narrow
     WHERE id >= $2 AND (SELECT count(*) FROM narrow) < ${NARROW_MAX}
     ORDER BY id LIMIT $3 + 1
  )
  SELECT o.last_stamp, (SELECT count(*) FROM narrow) AS total,
    (SELECT ${JOIN_DOCUMENTS[dialect]} FROM (
      SELECT (SELECT document FROM transactions WHERE id = found.id) AS document FROM found ORDER BY id LIMIT $3
    ) AS page) AS data,
    (SELECT id FROM found ORDER BY id LIMIT 1 OFFSET $3) AS next
    FROM organisations o WHERE o.id = $1`;
});

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
  if (coversEverything(window)) {
    return toPage(await database.allWithBytes<Row>(EVERYTHING_SQL[dialect], orgId, cursor, limit));
  }
  const params = [orgId, cursor, limit, window.minMs, window.maxMs] as const;
  if (hasNoStart(window)) {
    const rows = await database.allWithBytes<Row & { unseen: Uuid | null }>(
      NEARLY_EVERYTHING_SQL[dialect],
      ...params,
    );
    if (rows[0]?.unseen === null) return toPage(rows);
  }
  const rows = await database.allWithBytes<Row & { total: number }>(NARROW_SQL[dialect], ...params);
  if ((rows[0]?.total ?? 0) < NARROW_MAX) return toPage(rows);

  return database.read(async (connection) => {
    // One more than the page holds tells whether there is a next one.
    const query = { orgId, cursor, window, count: limit + 1 };
    const { ids, clockMs } = await readWideWindow(connection, dialect, query);
    const onPage = JSON.stringify(ids.slice(0, limit));
    const [found] = await connection.allWithBytes<Pick<Row, 'data'>>(DOCUMENTS_SQL[dialect], onPage);
    return { data: found?.data ?? NOTHING, cursor: ids[limit], completeThroughMs: clockMs };
  });
}

function toPage([row]: readonly Row[]): TransactionPage {
  return {
    data: row?.data ?? NOTHING,
    cursor: row?.next ?? undefined,
    completeThroughMs: row?.last_stamp ?? 0,
  };
}
