// Reads transactions in the order of their ids: a page of a window, or everything.

import { cutPage } from '../domain/page.ts';
import type { StoredDocument, TransactionPage, TransactionQuery } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import type { Connection, Database } from './database.ts';

const BATCH_SIZE = 1000;
/** Sorts before every other id, so that "from this one on" starts at the beginning. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000' as Uuid;

export async function readTransactionPage(
  database: Database,
  query: TransactionQuery,
): Promise<TransactionPage> {
  interface Row {
    last_stamp: number;
    id: Uuid | null;
    document: string | null;
  }
  // One statement is one snapshot on both databases: the clock cannot be newer than the rows beside it.
  const rows = await database.all<Row>(
    `SELECT o.last_stamp, t.id, t.document
       FROM organisations o
       LEFT JOIN (
         SELECT id, document FROM transactions
          WHERE org_id = $1 AND id >= $2 AND updated_at BETWEEN $3 AND $4
          ORDER BY id LIMIT $5
       ) t ON TRUE
      WHERE o.id = $1
      ORDER BY t.id`,
    query.orgId,
    query.cursor ?? FIRST_ID,
    query.window.minMs,
    query.window.maxMs,
    query.limit + 1,
  );
  const found = rows.flatMap(({ id, document }) =>
    id === null || document === null ? [] : [{ id, document }],
  );
  const page = cutPage(found, query.limit);
  return {
    documents: page.items.map(({ document }) => document),
    cursor: page.cursor,
    completeThroughMs: rows[0]?.last_stamp ?? 0,
  };
}

export async function readTransactions(
  connection: Connection,
  orgId: number,
  onBatch: (batch: StoredDocument[]) => Promise<void>,
): Promise<void> {
  let from = FIRST_ID;
  let comparison = '>=';
  while (true) {
    const batch = await connection.all<StoredDocument>(
      `SELECT id, document FROM transactions WHERE org_id = $1 AND id ${comparison} $2 ORDER BY id LIMIT $3`,
      orgId,
      from,
      BATCH_SIZE,
    );
    const last = batch.at(-1);
    if (last === undefined) return;
    await onBatch(batch);
    from = last.id;
    comparison = '>';
  }
}
