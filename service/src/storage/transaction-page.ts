// Reads a page of transactions and the change clock beside it, in one snapshot. There are three ways, because
// no index is in the order of the ids and of the stamps at once:
//   everything       walk the index by id
//   a narrow window  read it by stamp, sort; what almost every poll asks for
//   a wide window    merge runs (wide-window.ts)
// The first two are one statement each. Which of the last two it is, the database finds out by reading.

import { cutPage } from '../domain/page.ts';
import type { StoredDocument, TransactionPage, TransactionQuery } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import { type Database, TRANSACTION_DOCUMENTS } from './database.ts';
import { FIRST_ID } from './id-bounds.ts';
import { coversEverything } from './stamp-window.ts';
import { readWideWindow } from './wide-window.ts';

/** A window with fewer transactions than this is narrow. */
export const NARROW_MAX = 300;

/** What the clock is beside: a row without a transaction says that there is none. */
interface Row {
  last_stamp: number;
  id: Uuid | null;
  document: string | null;
}

// Rows are compared, instead of each column for itself, so that only the index by organisation and id is in
// the order asked for: the one by id alone would have to pass over all other organisations.
export const EVERYTHING_SQL = `
  SELECT o.last_stamp, t.id, t.document
    FROM organisations o
    LEFT JOIN (
      SELECT id, document FROM transactions
       WHERE (org_id, id) >= ($1, $2) AND org_id <= $1
       ORDER BY org_id, id LIMIT $3
    ) t ON TRUE
   WHERE o.id = $1
   ORDER BY t.id`;

export const NARROW_SQL = `
  WITH narrow AS MATERIALIZED (
    SELECT id FROM transactions
     WHERE org_id = $1 AND updated_at BETWEEN $4 AND $5
     ORDER BY updated_at LIMIT ${NARROW_MAX}
  ), found AS MATERIALIZED (
    SELECT id FROM narrow
     WHERE id >= $2 AND (SELECT count(*) FROM narrow) < ${NARROW_MAX}
     ORDER BY id LIMIT $3
  )
  SELECT o.last_stamp, (SELECT count(*) FROM narrow) AS total, t.id, t.document
    FROM organisations o
    LEFT JOIN (
      SELECT id, (SELECT document FROM transactions WHERE id = found.id) AS document FROM found
    ) t ON TRUE
   WHERE o.id = $1
   ORDER BY t.id`;

export async function readTransactionPage(
  database: Database,
  { orgId, cursor = FIRST_ID, window, limit }: TransactionQuery,
): Promise<TransactionPage> {
  // One more than the page holds tells whether there is a next one.
  const count = limit + 1;
  if (coversEverything(window)) {
    return toPage(await database.all<Row>(EVERYTHING_SQL, orgId, cursor, count), limit);
  }
  const rows = await database.all<Row & { total: number }>(
    NARROW_SQL,
    orgId,
    cursor,
    count,
    window.minMs,
    window.maxMs,
  );
  if ((rows[0]?.total ?? 0) < NARROW_MAX) return toPage(rows, limit);

  return database.read(async (connection) => {
    const query = { orgId, cursor, window, count };
    const { ids, clockMs } = await readWideWindow(connection, database.dialect, query);
    const documents = await connection.findMany<StoredDocument>(TRANSACTION_DOCUMENTS, ids);
    const byId = new Map(documents.map((each) => [each.id, each.document]));
    const found = ids.map((id) => ({ last_stamp: clockMs, id, document: byId.get(id) ?? null }));
    return { ...toPage(found, limit), completeThroughMs: clockMs };
  });
}

function toPage(rows: readonly Row[], limit: number): TransactionPage {
  const found = rows.flatMap(({ id, document }) =>
    id === null || document === null ? [] : [{ id, document }],
  );
  const page = cutPage(found, limit, ({ id }) => id);
  return {
    documents: page.items.map(({ document }) => document),
    cursor: page.cursor,
    completeThroughMs: rows[0]?.last_stamp ?? 0,
  };
}
