// Takes a user out of the database: the fields `passbackUid` and `passbackData` of clicks, transactions and their history.
// Amounts stay. Rows are found without a lock, and changed in batches that hold one for a moment.
//
// The order matters. First the user is noted as erased, under the lock of the change clock: imports before that are found
// by what follows, and imports after it bring nothing back. Clicks come next, because sales take their user from them.
// The history comes last: until then, an import may move a version there that was not erased yet.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ClickStore } from '../../domain/click.ts';
import { printedPassbackUid, withoutUser } from '../../domain/stored-transaction.ts';
import type { ErasureCounts, ErasureStore } from '../../domain/stores.ts';
import { type Connection, type Database, HISTORY, TRANSACTIONS } from '../database.ts';
import { CONTAINS, type Dialect, forUpdate, inBoth, isOneOf, VALUES } from '../sql-dialect.ts';
import { emptyLog, overwriteDeleted } from '../sqlite/overwrite-deleted.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-book.ts';
import { advanceClock, lockClock } from './change-clock.ts';
import { noteErased } from './erased-users.ts';
import { readBatches, readVersions, versionsSql } from './read-batches.ts';
import { exportQuery } from './transaction-store.ts';

const hasUser = (dialect: Dialect, param: string) => `${CONTAINS[dialect]}(document, ${param}) > 0`;

const FIND_VERSIONS_SQL = inBoth((dialect) => versionsSql('id, until_stamp', hasUser(dialect, '$4')));

/** Waits for a purge that is deleting some of them, which must not be written again; both lock them in this order. */
const VERSIONS_SQL = inBoth((dialect) => {
  const ids = isOneOf(dialect, `SELECT value FROM ${VALUES[dialect]('$1', 'uuid')}`);
  return `SELECT id, until_stamp, org_id, from_stamp, import_id, document FROM history
    WHERE id ${ids} ORDER BY until_stamp, id ${forUpdate(dialect)}`;
});

const COUNT_SQL = inBoth((dialect) => {
  const count = (table: string) =>
    `(SELECT count(*) FROM ${table} WHERE org_id = $1 AND ${hasUser(dialect, '$2')}) AS ${table}`;
  return `SELECT ${count('transactions')}, ${count('history')}`;
});

interface TransactionRow {
  readonly id: Uuid;
  readonly org_id: number;
  readonly updated_at: number;
  readonly import_id: number | null;
  readonly source_updated_at: number | null;
  readonly document: string;
}

interface VersionRow extends Omit<TransactionRow, 'updated_at' | 'source_updated_at'> {
  readonly from_stamp: number;
  readonly until_stamp: number;
}

export function erasureStore(database: Database, clicks: ClickStore, auditor: Auditor): ErasureStore {
  const { dialect } = database;
  return {
    async count(orgId, passbackUid) {
      const printed = printedPassbackUid(passbackUid);
      const [row] = await database.all<{ transactions: number; history: number }>(
        COUNT_SQL[dialect],
        orgId,
        printed,
      );
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
        await lockClock(database, connection, orgId);
        await noteErased(connection, orgId, passbackUid, auditor.clock());
        return writeAudit(connection, auditor, 'user erasure begun', name, { ...counts });
      });
      /** One batch; the audit counts it in the same transaction. */
      const write = async (
        what: keyof ErasureCounts,
        change: (connection: Connection) => Promise<number>,
      ): Promise<void> => {
        counts = await database.write(async (connection) => {
          await overwriteDeleted(connection, dialect);
          const after = { ...counts, [what]: counts[what] + (await change(connection)) };
          await amendAudit(connection, entry, after);
          return after;
        });
        onBatch(counts.transactions + counts.versions + counts.clicks);
      };

      const clickCount = await clicks.erase({ orgId, passbackUid }, onBatch);
      // They may be in another database, so that the audit hears of them a moment later.
      await write('clicks', async () => clickCount);
      const transactions = exportQuery(orgId, 'id', hasUser(dialect, '$3'), user.printed);
      await readBatches<{ id: Uuid }>(database, transactions, (batch) => {
        const ids = batch.map(({ id }) => id);
        return write('transactions', (connection) => replace(connection, user, ids));
      });
      const versions = FIND_VERSIONS_SQL[dialect];
      type Found = Pick<VersionRow, 'id' | 'until_stamp'>;
      await readVersions<Found>(database, versions, [orgId, user.printed], (batch) => {
        const ids = [...new Set(batch.map(({ id }) => id))];
        return write('versions', (connection) => rewrite(connection, user, ids));
      });
      // From here on the audit says that it was done.
      await database.write((connection) => amendAudit(connection, entry, { ...counts }, 'user erased'));
      await emptyLog(database);
      return counts;
    },
  };

  /** As an import would: a new version with a new stamp, and the old one in the history, but without the user in either. */
  async function replace(connection: Connection, user: User, ids: readonly Uuid[]): Promise<number> {
    const stampMs = Math.max(auditor.clock(), (await lockClock(database, connection, user.orgId)) + 1);
    // Read again under the lock: an import may have changed them since they were found.
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

  /** All versions of these transactions, in place: what was replaced has no stamp of its own to announce. */
  async function rewrite(connection: Connection, user: User, ids: readonly Uuid[]): Promise<number> {
    // Nothing is written to an organisation that is being deleted.
    await lockClock(database, connection, user.orgId);
    const found = await connection.all<VersionRow>(VERSIONS_SQL[dialect], JSON.stringify(ids));
    const rows = stillNaming(found, user);
    await connection.putMany(
      HISTORY,
      rows.map((row) => ({ ...row, document: withoutUser(row.document) })),
    );
    return rows.length;
  }
}

interface User {
  readonly orgId: number;
  /** How documents name the user. */
  readonly printed: string;
}

function stillNaming<Row extends { readonly org_id: number; readonly document: string }>(
  rows: readonly Row[],
  { orgId, printed }: User,
): Row[] {
  return rows.filter((row) => row.org_id === orgId && row.document.includes(printed));
}
