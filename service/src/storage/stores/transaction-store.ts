// Transactions. Every write to an organisation's transactions locks the organisation's change clock before it takes a stamp,
// and holds the lock until the commit. So stamps increase in commit order, and no change can appear at or before the
// Complete-Through of a page.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import type { Clock } from '../../domain/clock.ts';
import {
  ALL_STAMPS,
  type OrganisationWriter,
  type StoredTransaction,
  type TransactionStore,
  type TransactionWriters,
} from '../../domain/transaction.ts';
import type { Connection, Database } from '../database.ts';
import { scan } from '../scan.ts';
import { TRANSACTIONS } from '../schema/tables.ts';
import type { Statement } from '../sql.ts';
import { lockClock, lockClocks } from './change-clock.ts';
import { readErasedUsers } from './erased-users.ts';
import { takeOverLog } from './import-log.ts';
import { pullWriter } from './pull-store.ts';
import { putBuffer } from './put-buffer.ts';

/**
 * The document of the transaction $2 of the organisation $1, as bytes. Transactions of other organisations are not read, so they
 * take as long as one that does not exist.
 */
export const FIND_SQL: Statement = ({ joinDocuments }) => `
  SELECT ${joinDocuments} FROM transactions WHERE org_id = $1 AND id = $2::uuid`;

/** Servers pass a `readPage` that also reads from a replica and detects failovers. */
export function transactionStore(
  database: Database,
  clock: Clock,
  readPage: TransactionStore['page'],
): TransactionStore {
  async function writeTo<T>(
    lock: (connection: Connection) => Promise<ReadonlyMap<number, number>>,
    work: (writers: TransactionWriters) => Promise<T>,
    importId: number | undefined,
  ): Promise<T> {
    return database.write(async (connection) => {
      const lastStampsMs = await lock(connection);
      const finishImport = await takeOverLog(connection, clock, importId);
      const erased = await readErasedUsers(connection);
      const buffer = putBuffer(connection, importId ?? null);
      const nowMs = clock();
      const writerOf = (orgId: number, lastStampMs: number): OrganisationWriter => {
        const stampMs = Math.max(nowMs, lastStampMs + 1);
        return {
          stampMs,
          stamp: printTimestamp(stampMs),
          find: (ids) => findTransactions(connection, orgId, ids),
          put: (rows) => buffer.put(orgId, stampMs, rows),
          putSources: (rows) => putSources(connection, rows),
          erasedAtMs: (passbackUid) => erased(orgId, passbackUid),
        };
      };
      const opened = new Map([...lastStampsMs].map(([orgId, lastMs]) => [orgId, writerOf(orgId, lastMs)]));
      const orgs = await connection.all(`${ORGANISATIONS_SQL} LIMIT 2`);
      const findUsed = async (ids: readonly Uuid[]) => {
        if (orgs.length < 2 || ids.length === 0) return new Set<Uuid>();
        const [own] = lastStampsMs.size === 1 ? lastStampsMs.keys() : [];
        const rows = await connection.all<{ id: Uuid }>(USED_SQL, own ?? 0, JSON.stringify(ids.toSorted()));
        return new Set(rows.map(({ id }) => id));
      };
      const result = await work({
        findUsed,
        of: (orgId) => opened.get(orgId),
        finishImport,
        pulls: pullWriter(connection, clock),
      });
      await buffer.flush();
      return result;
    });
  }

  return {
    async page(query) {
      const page = await readPage(query);
      const { asOfMs = page.completeThroughMs } = query;
      return { ...page, completeThroughMs: Math.min(page.completeThroughMs, asOfMs) };
    },
    async changes(query) {
      const page = await readPage({ ...query, atLeastMs: query.after.stampMs, window: ALL_STAMPS });
      const { data, completeThroughMs, position } = page;
      if (position === undefined) throw new Error('the page has no position');
      return { data, position, isLast: position.stampMs === completeThroughMs && position.id === LAST_ID };
    },
    async find(orgId, id) {
      const [row] = await database.allWithBytes<{ data: Uint8Array<ArrayBuffer> | null }>(
        FIND_SQL,
        orgId,
        id,
      );
      return row?.data ?? undefined;
    },
    async findRetailers(ids, orgId) {
      const orgs =
        orgId === undefined ? await database.all<{ id: number }>(ORGANISATIONS_SQL) : [{ id: orgId }];
      const found = new Map<Uuid, Uuid>();
      for (const org of orgs) {
        type Row = { id: Uuid; retailer_id: Uuid };
        for (const row of await database.all<Row>(RETAILERS_SQL, org.id, JSON.stringify(ids)))
          found.set(row.id, row.retailer_id);
      }
      return found;
    },
    read: (orgId, onBatch) =>
      database.readOnce((connection) =>
        scan(connection, { table: TRANSACTIONS, orgId, columns: 'id, document' }, onBatch),
      ),
    write: (orgId, work, importId) =>
      writeTo(
        async (connection) => new Map([[orgId, await lockClock(connection, orgId)]]),
        // The organisation exists, because its clock is locked.
        (writers) => work({ ...(writers.of(orgId) as OrganisationWriter), ...writers }),
        importId,
      ),
    writeAll: (work, importId) => writeTo(lockClocks, work, importId),
  };
}

const ORGANISATIONS_SQL = 'SELECT id FROM organisations';

/**
 * Selects the ids in the list $2 that organisations other than $1 have. The list is in order, and one organisation is searched
 * after the other, so that look-ups are next to each other in the index.
 */
export const USED_SQL: Statement = (sql) => `
  SELECT t.id FROM organisations o CROSS JOIN ${sql.valuesTable('$2', 'uuid')} CROSS JOIN transactions t
   WHERE o.id <> $1 AND t.org_id = o.id AND t.id = v.value`;

/** The retailers of the transactions $2 of organisation $1. */
export const RETAILERS_SQL: Statement = (sql) => `
  SELECT t.id, t.retailer_id FROM ${sql.valuesTable('$2', 'uuid')} CROSS JOIN transactions t
   WHERE t.org_id = $1 AND t.id = v.value AND t.retailer_id IS NOT NULL`;

export const PUT_SOURCES_SQL: Statement = (sql) => `
  WITH sources (org_id, id, source_updated_at, retailer_id) AS (${sql.selectRows('$1', ['integer', 'uuid', 'bigint', 'uuid'])})
  UPDATE transactions SET source_updated_at = s.source_updated_at, retailer_id = s.retailer_id
    FROM sources s WHERE transactions.org_id = s.org_id AND transactions.id = s.id`;

async function putSources(connection: Connection, rows: readonly StoredTransaction[]): Promise<void> {
  const sources = rows.map((row) => [row.orgId, row.id, row.sourceUpdatedAtMs, row.retailerId]);
  await connection.all(PUT_SOURCES_SQL, JSON.stringify(sources));
}

async function findTransactions(
  connection: Connection,
  orgId: number,
  ids: readonly Uuid[],
): Promise<Map<Uuid, StoredTransaction>> {
  const rows = await connection.findMany(TRANSACTIONS, ids, orgId);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        orgId: row.org_id,
        updatedAtMs: row.updated_at,
        document: row.document,
        importId: row.import_id,
        sourceUpdatedAtMs: row.source_updated_at,
        retailerId: row.retailer_id,
      },
    ]),
  );
}
