// Takes a user out of the database: the fields `passbackUid` and `passbackData` of clicks, transactions and their history.
// Amounts stay. Rows are found without a lock, and changed in batches that hold one for a moment.
//
// The order matters. First the user is noted as erased, under the lock of the change clock: imports before that are found
// by what follows, and imports after it bring nothing back. Clicks come next, because sales take their user from them.
// The history comes last: until then, an import may move a version there that was not erased yet.

import type { ClickStore } from '../../domain/click.ts';
import { printedPassbackUid, withoutUser } from '../../domain/stored-transaction.ts';
import type { ErasureCounts, ErasureStore, Organisation } from '../../domain/stores.ts';
import { printTimestamp } from '../../domain/timestamp.ts';
import type { Uuid } from '../../domain/uuid.ts';
import { type Connection, type Database, HISTORY, TRANSACTIONS } from '../database.ts';
import { CONTAINS, type Dialect, forUpdate, inBoth, isOneOf, VALUES } from '../sql-dialect.ts';
import { emptyLog } from '../sqlite/empty-log.ts';
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
  readonly document: string;
}

interface VersionRow extends Omit<TransactionRow, 'updated_at'> {
  readonly from_stamp: number;
  readonly until_stamp: number;
}

export function erasureStore(database: Database, clicks: ClickStore, auditor: Auditor): ErasureStore {
  return {
    async count(orgId, passbackUid) {
      const printed = printedPassbackUid(passbackUid);
      const [row] = await database.all<{ transactions: number; history: number }>(
        COUNT_SQL[database.dialect],
        orgId,
        printed,
      );
      return {
        transactions: row?.transactions ?? 0,
        versions: row?.history ?? 0,
        clicks: await clicks.countOf({ orgId, passbackUid }),
      };
    },
    async erase(org, passbackUid, onBatch) {
      const erasure = new Erasure(database, auditor, org, passbackUid, onBatch);
      await erasure.begin();
      await erasure.eraseClicks(clicks);
      await erasure.eraseTransactions();
      await erasure.eraseHistory();
      await erasure.finish();
      await emptyLog(database);
      return erasure.counts;
    },
  };
}

class Erasure {
  readonly #database: Database;
  readonly #auditor: Auditor;
  readonly #org: Organisation;
  readonly #passbackUid: string;
  readonly #printed: string;
  readonly #onBatch: (count: number) => void;
  #counts = { transactions: 0, versions: 0, clicks: 0 };
  #entry = 0;

  constructor(
    database: Database,
    auditor: Auditor,
    org: Organisation,
    passbackUid: string,
    onBatch: (count: number) => void = () => {},
  ) {
    this.#database = database;
    this.#auditor = auditor;
    this.#org = org;
    this.#passbackUid = passbackUid;
    this.#printed = printedPassbackUid(passbackUid);
    this.#onBatch = onBatch;
  }

  get counts(): ErasureCounts {
    return this.#counts;
  }

  async begin(): Promise<void> {
    await this.#database.write(async (connection) => {
      await lockClock(this.#database, connection, this.#org.id);
      await noteErased(connection, this.#org.id, this.#passbackUid, this.#auditor.clock());
      const { name } = this.#org;
      this.#entry = await writeAudit(connection, this.#auditor, 'user erasure begun', name, this.#counts);
    });
  }

  async eraseClicks(clicks: ClickStore): Promise<void> {
    const owner = { orgId: this.#org.id, passbackUid: this.#passbackUid };
    const count = await clicks.erase(owner, this.#onBatch);
    // They may be in another database, so that the audit hears of them a moment later.
    await this.#write('clicks', async () => count);
  }

  async eraseTransactions(): Promise<void> {
    const found = exportQuery(this.#org.id, 'id', hasUser(this.#database.dialect, '$3'), this.#printed);
    await readBatches<{ id: Uuid }>(this.#database, found, async (batch) => {
      const ids = batch.map(({ id }) => id);
      await this.#write('transactions', (connection) => this.#replace(connection, ids));
    });
  }

  async eraseHistory(): Promise<void> {
    const sql = FIND_VERSIONS_SQL[this.#database.dialect];
    type Found = { id: Uuid; until_stamp: number };
    await readVersions<Found>(this.#database, sql, [this.#org.id, this.#printed], async (batch) => {
      const ids = [...new Set(batch.map(({ id }) => id))];
      await this.#write('versions', (connection) => this.#rewrite(connection, ids));
    });
  }

  /** From here on the audit says that it was done. */
  async finish(): Promise<void> {
    await this.#database.write((connection) =>
      amendAudit(connection, this.#entry, this.#counts, 'user erased'),
    );
  }

  /** As an import would: a new version with a new stamp, and the old one in the history, but without the user in either. */
  async #replace(connection: Connection, ids: readonly Uuid[]): Promise<number> {
    const orgId = this.#org.id;
    const stampMs = Math.max(this.#auditor.clock(), (await lockClock(this.#database, connection, orgId)) + 1);
    // Read again under the lock: an import may have changed them since they were found.
    const rows = this.#stillNaming(await connection.findMany<TransactionRow>(TRANSACTIONS, ids));
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
    await advanceClock(connection, orgId, stampMs);
    return rows.length;
  }

  /** All versions of these transactions, in place: what was replaced has no stamp of its own to announce. */
  async #rewrite(connection: Connection, ids: readonly Uuid[]): Promise<number> {
    // Nothing is written to an organisation that is being deleted.
    await lockClock(this.#database, connection, this.#org.id);
    const sql = VERSIONS_SQL[this.#database.dialect];
    const rows = this.#stillNaming(await connection.all<VersionRow>(sql, JSON.stringify(ids)));
    await connection.putMany(
      HISTORY,
      rows.map((row) => ({ ...row, document: withoutUser(row.document) })),
    );
    return rows.length;
  }

  #stillNaming<Row extends { readonly org_id: number; readonly document: string }>(
    rows: readonly Row[],
  ): Row[] {
    return rows.filter((row) => row.org_id === this.#org.id && row.document.includes(this.#printed));
  }

  /** One batch; the audit counts it in the same transaction. */
  async #write(
    what: keyof ErasureCounts,
    change: (connection: Connection) => Promise<number>,
  ): Promise<void> {
    this.#counts = await this.#database.write(async (connection) => {
      const counts = { ...this.#counts, [what]: this.#counts[what] + (await change(connection)) };
      await amendAudit(connection, this.#entry, counts);
      return counts;
    });
    const { transactions, versions, clicks } = this.#counts;
    this.#onBatch(transactions + versions + clicks);
  }
}
