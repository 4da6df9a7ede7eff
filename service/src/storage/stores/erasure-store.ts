// Erases a user's `passbackUid` and `passbackData` from clicks, transactions and their history. Amounts stay. Finds rows without
// a lock and changes them in batches, each of which holds a lock briefly.
//
// The order matters. First, the user is recorded as erased, under the change clock's lock. Later steps then see every earlier
// import, and later imports cannot restore the user. Clicks come next, because imports attribute sales to users by their clicks.
// The history comes last: until all transactions are done, an import can still move a version with the user into the history.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ClickStore } from '../../domain/click.ts';
import type { ErasureCounts, ErasureStore } from '../../domain/erasure.ts';
import { printedPassbackUid, withoutUser } from '../../domain/stored-transaction.ts';
import {
  type Connection,
  type Database,
  HISTORY,
  TRANSACTIONS,
  type TransactionRow,
  type VersionRow,
} from '../database.ts';
import type { Statement } from '../sql.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-log.ts';
import { advanceClock, lockClock } from './change-clock.ts';
import { noteErased } from './erased-users.ts';
import { readBatches, readVersions, versionsSql } from './read-batches.ts';
import { exportQuery } from './transaction-store.ts';

const FIND_VERSIONS_SQL: Statement = (sql) => versionsSql('id, until_stamp', sql.contains('document', '$4'));

/**
 * Waits for any purge that is deleting some of these versions, so that deleted versions are not written again. Purges lock
 * versions in the same order, so a purge and an erasure cannot deadlock.
 */
const VERSIONS_SQL: Statement = (sql) => `
  SELECT id, until_stamp, org_id, from_stamp, import_id, document FROM history
   WHERE id ${sql.isOneOf(`SELECT value FROM ${sql.valuesTable('$1', 'uuid')}`)}
   ORDER BY until_stamp, id ${sql.forUpdate}`;

const COUNT_SQL: Statement = (sql) => {
  const count = (table: string) =>
    `(SELECT count(*) FROM ${table} WHERE org_id = $1 AND ${sql.contains('document', '$2')}) AS ${table}`;
  return `SELECT ${count('transactions')}, ${count('history')}`;
};

export function erasureStore(database: Database, clicks: ClickStore, auditor: Auditor): ErasureStore {
  return {
    async count(orgId, passbackUid) {
      const printed = printedPassbackUid(passbackUid);
      const [row] = await database.all<{ transactions: number; history: number }>(COUNT_SQL, orgId, printed);
      return {
        transactions: row?.transactions ?? 0,
        versions: row?.history ?? 0,
        clicks: await clicks.countOf({ orgId, passbackUid }),
      };
    },
    async erase({ id: orgId, name }, passbackUid, onBatch = () => {}) {
      const user = { orgId, printed: printedPassbackUid(passbackUid) };
      let counts: ErasureCounts = { transactions: 0, versions: 0, clicks: 0 };
      const entry = await database.write(async (connection) => {
        await lockClock(connection, orgId);
        await noteErased(connection, orgId, passbackUid, auditor.clock());
        return writeAudit(connection, auditor, 'user erasure begun', name, { ...counts });
      });
      /** Writes one batch and counts it in the audit log, in the same transaction. */
      const write = async (
        what: keyof ErasureCounts,
        change: (connection: Connection) => Promise<number>,
      ): Promise<void> => {
        counts = await database.write(async (connection) => {
          await connection.overwriteDeleted();
          const after = { ...counts, [what]: counts[what] + (await change(connection)) };
          await amendAudit(connection, entry, after);
          return after;
        });
        onBatch(counts.transactions + counts.versions + counts.clicks);
      };

      const clickCount = await clicks.erase({ orgId, passbackUid }, onBatch);
      // Clicks may be in another file, so the audit log records their number in a separate transaction.
      await write('clicks', async () => clickCount);
      const transactions = exportQuery(orgId, 'id', database.sql.contains('document', '$3'), user.printed);
      await readBatches<{ id: Uuid }>(database, transactions, (batch) => {
        const ids = batch.map(({ id }) => id);
        return write('transactions', (connection) => replace(connection, user, ids));
      });
      await readVersions<FoundVersion>(database, FIND_VERSIONS_SQL, [orgId, user.printed], (batch) => {
        const ids = [...new Set(batch.map(({ id }) => id))];
        return write('versions', (connection) => rewrite(connection, user, ids));
      });
      await database.write((connection) => amendAudit(connection, entry, { ...counts }, 'user erased'));
      await database.emptyLog();
      return counts;
    },
  };

  /**
   * Like an import, writes new versions with a new stamp and moves the old versions to the history. Removes the user from the
   * new and the old versions.
   */
  async function replace(connection: Connection, user: User, ids: readonly Uuid[]): Promise<number> {
    const stampMs = Math.max(auditor.clock(), (await lockClock(connection, user.orgId)) + 1);
    // Read again under the lock: an import may have changed the rows since they were found.
    const rows = stillNaming(await connection.findMany<TransactionRow>(TRANSACTIONS, ids), user);
    if (rows.length === 0) return 0;
    await connection.putMany(
      HISTORY,
      rows.map(({ updated_at: from_stamp, document, ...row }) => ({
        ...row,
        from_stamp,
        until_stamp: stampMs,
        document: withoutUser(document),
      })),
    );
    const updatedAt = printTimestamp(stampMs);
    await connection.putMany(
      TRANSACTIONS,
      rows.map((row) => ({
        ...row,
        updated_at: stampMs,
        document: withoutUser(row.document, updatedAt),
      })),
    );
    await advanceClock(connection, user.orgId, stampMs);
    return rows.length;
  }

  /** Rewrites all versions of these transactions in place; earlier versions do not need a new stamp. */
  async function rewrite(connection: Connection, user: User, ids: readonly Uuid[]): Promise<number> {
    // Throws if the organisation is being deleted.
    await lockClock(connection, user.orgId);
    const found = await connection.all<VersionRow>(VERSIONS_SQL, JSON.stringify(ids));
    const rows = stillNaming(found, user);
    await connection.putMany(
      HISTORY,
      rows.map((row) => ({ ...row, document: withoutUser(row.document) })),
    );
    return rows.length;
  }
}

interface FoundVersion {
  readonly id: Uuid;
  readonly until_stamp: number;
}

interface User {
  readonly orgId: number;
  /** The field `passbackUid` as it appears in documents. */
  readonly printed: string;
}

function stillNaming<Row extends { readonly org_id: number; readonly document: string }>(
  rows: readonly Row[],
  { orgId, printed }: User,
): Row[] {
  return rows.filter((row) => row.org_id === orgId && row.document.includes(printed));
}
