// Transactions and the change clock. Every write to an organisation's transactions goes through `write`,
// which holds the clock's lock from the stamp to the commit: so stamps rise strictly in the order of the
// commits, and no change can ever appear behind a stamp that a reader has been told is complete.

import type { Clock } from '../domain/clock.ts';
import { Refused } from '../domain/errors.ts';
import type { StoredTransaction, TransactionStore, TransactionWriter } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import { type Connection, type Database, TRANSACTIONS } from './database.ts';
import { readTransactionPage, readTransactions } from './transaction-page.ts';

export function transactionStore(database: Database, clock: Clock): TransactionStore {
  return {
    page: (query) => readTransactionPage(database, query),
    read: (orgId, onBatch) => database.read((connection) => readTransactions(connection, orgId, onBatch)),
    write: (orgId, work) =>
      database.write(async (connection) => {
        const lastStampMs = await lockClock(database, connection, orgId);
        return work(writer(connection, orgId, Math.max(clock(), lastStampMs + 1)));
      }),
  };
}

async function lockClock(database: Database, connection: Connection, orgId: number): Promise<number> {
  const forUpdate = database.dialect === 'postgres' ? 'FOR UPDATE' : '';
  const [row] = await connection.all<{ last_stamp: number }>(
    `SELECT last_stamp FROM organisations WHERE id = $1 ${forUpdate}`,
    orgId,
  );
  if (row === undefined) throw new Error(`organisation ${orgId} does not exist`);
  return row.last_stamp;
}

function writer(connection: Connection, orgId: number, stampMs: number): TransactionWriter {
  return {
    stampMs,
    async find(ids) {
      interface Row {
        id: Uuid;
        org_id: number;
        updated_at: number;
        document: string;
      }
      const rows = await connection.findMany<Row>(TRANSACTIONS, ids);
      return new Map(
        rows.map((row): [Uuid, StoredTransaction] => [
          row.id,
          { id: row.id, orgId: row.org_id, updatedAtMs: row.updated_at, document: row.document },
        ]),
      );
    },
    async put(rows) {
      const written = await connection.putMany(
        TRANSACTIONS,
        rows.map((row) => [row.id, orgId, row.updatedAtMs, row.document]),
      );
      if (written !== rows.length) {
        throw new Refused('another organisation has just imported a transaction with one of these ids');
      }
    },
    async advanceClock(toMs) {
      await connection.all(
        'UPDATE organisations SET last_stamp = $2 WHERE id = $1 AND last_stamp < $2',
        orgId,
        toMs,
      );
    },
  };
}
