// Transactions and the change clock. Every write to an organisation's transactions goes through `write`. It holds the
// clock's lock from the stamp to the commit, so stamps rise in the order of the commits. No change can appear behind
// a stamp that a reader was told is complete.

import type { Clock } from '../../domain/clock.ts';
import type { StoredTransaction, TransactionStore, TransactionWriter } from '../../domain/stores.ts';
import type { Uuid } from '../../domain/uuid.ts';
import { type Connection, type Database, type SqlValue, TRANSACTIONS } from '../database.ts';
import type { Replica } from '../postgres/replica.ts';
import { readTransactionPage } from '../transactions/transaction-page.ts';
import { lockClock, lockClocks } from './change-clock.ts';
import { type ErasedUsers, readErasedUsers } from './erased-users.ts';
import { takeTurn } from './import-book.ts';
import { PutBuffers } from './put-buffers.ts';
import { type BatchQuery, readBatches } from './read-batches.ts';

/** All of an organisation, or those that meet a condition on $3. Compares rows for the same reason as a page does. */
export function exportQuery(
  orgId: number,
  columns = 'id, document',
  condition = 'true',
  ...params: readonly SqlValue[]
): BatchQuery {
  return {
    sql: `SELECT ${columns} FROM transactions
     WHERE (org_id, id) >= ($2, $1) AND org_id <= $2 AND ${condition} ORDER BY org_id, id`,
    params: [orgId, ...params],
    batchSize: 1_000,
  };
}

export function transactionStore(
  database: Database,
  { clock, replica }: { readonly clock: Clock; readonly replica?: Replica | undefined },
): TransactionStore {
  return {
    async page(query) {
      const page = (await replica?.findPage(query)) ?? (await readTransactionPage(database, query));
      const { asOfMs = page.completeThroughMs } = query;
      return { ...page, completeThroughMs: Math.min(page.completeThroughMs, asOfMs) };
    },
    read: (orgId, onBatch) =>
      database.readOnce((connection) => readBatches(connection, exportQuery(orgId), onBatch)),
    write: (orgId, work, importId) =>
      database.write(async (connection) => {
        const lastStampMs = await lockClock(database, connection, orgId);
        const stampMs = Math.max(clock(), lastStampMs + 1);
        const finishImport = await takeTurn(connection, clock, importId);
        const erased = await readErasedUsers(connection);
        const buffers = new PutBuffers(connection, { dialect: database.dialect, importId });
        const put = buffers.open(orgId, stampMs);
        const result = await work({ ...writer(connection, { orgId, stampMs, erased, put }), finishImport });
        await buffers.flush();
        return result;
      }),
    writeAll: (work, importId) =>
      database.write(async (connection) => {
        const lastStampsMs = await lockClocks(database, connection);
        const finishImport = await takeTurn(connection, clock, importId);
        const erased = await readErasedUsers(connection);
        const buffers = new PutBuffers(connection, { dialect: database.dialect, importId });
        const opened = new Map<number, OrganisationWriter>();
        const of = (orgId: number) => {
          const lastStampMs = lastStampsMs.get(orgId);
          if (lastStampMs === undefined) return undefined;
          const known = opened.get(orgId);
          if (known !== undefined) return known;
          const stampMs = Math.max(clock(), lastStampMs + 1);
          const made = writer(connection, { orgId, stampMs, erased, put: buffers.open(orgId, stampMs) });
          opened.set(orgId, made);
          return made;
        };
        const find = (ids: readonly Uuid[]) => findTransactions(connection, ids);
        const result = await work({ find, of, finishImport });
        await buffers.flush();
        return result;
      }),
  };
}

type OrganisationWriter = Omit<TransactionWriter, 'finishImport'>;

function writer(
  connection: Connection,
  {
    orgId,
    stampMs,
    erased,
    put,
  }: { orgId: number; stampMs: number; erased: ErasedUsers; put: TransactionWriter['put'] },
): OrganisationWriter {
  return {
    stampMs,
    find: (ids) => findTransactions(connection, ids),
    put,
    erasedAtMs: (passbackUid) => erased(orgId, passbackUid),
    async advanceClock(toMs) {
      await connection.all(
        'UPDATE organisations SET last_stamp = $2 WHERE id = $1 AND last_stamp < $2',
        orgId,
        toMs,
      );
    },
  };
}

export async function findTransactions(
  connection: Connection,
  ids: readonly Uuid[],
): Promise<Map<Uuid, StoredTransaction>> {
  const rows = await connection.findMany<{
    id: Uuid;
    org_id: number;
    updated_at: number;
    document: string;
  }>(TRANSACTIONS, ids);
  return new Map(
    rows.map(({ id, org_id: orgId, updated_at: updatedAtMs, document }) => [
      id,
      { id, orgId, updatedAtMs, document },
    ]),
  );
}
