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
import { CONTAINS, forUpdate, inBoth, isOneOf, VALUES } from '../sql-dialect.ts';
import { emptyLog, overwriteDeleted } from '../sqlite/overwrite-deleted.ts';
import { FIRST_ID } from '../transactions/id-bounds.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-book.ts';
import { lockClock } from './change-clock.ts';
import { noteErased } from './erased-users.ts';

const BATCH = 1_000;

/** Rows are compared, so that the index by organisation and id leads to where the batch before ended. */
const FIND_TRANSACTIONS_SQL = inBoth(
  (dialect) => `SELECT id FROM transactions
   WHERE (org_id, id) > ($1, $2) AND org_id <= $1 AND ${CONTAINS[dialect]}(document, $3) > 0
   ORDER BY org_id, id LIMIT ${BATCH}`,
);

const FIND_VERSIONS_SQL = inBoth(
  (dialect) => `SELECT id, until_stamp FROM history
   WHERE (org_id, until_stamp, id) > ($1, $2, $3) AND org_id <= $1 AND ${CONTAINS[dialect]}(document, $4) > 0
   ORDER BY org_id, until_stamp, id NULLS FIRST LIMIT ${BATCH}`,
);

/** Waits for a purge that is deleting some of them, which must not be written again; both lock them in this order. */
const VERSIONS_SQL = inBoth((dialect) => {
  const ids = isOneOf(dialect, `SELECT value FROM ${VALUES[dialect]('$1', 'uuid')}`);
  return `SELECT id, until_stamp, org_id, from_stamp, import_id, document FROM history
    WHERE id ${ids} ORDER BY until_stamp, id ${forUpdate(dialect)}`;
});

const COUNT_SQL = inBoth((dialect) => {
  const count = (table: string) =>
    `(SELECT count(*) FROM ${table} WHERE org_id = $1 AND ${CONTAINS[dialect]}(document, $2) > 0) AS ${table}`;
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
  readonly #counts = { transactions: 0, versions: 0, clicks: 0 };
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
    return { ...this.#counts };
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
    await this.#write(async () => ({ clicks: count }));
  }

  async eraseTransactions(): Promise<void> {
    let last = FIRST_ID;
    while (true) {
      const found = await this.#database.all<{ id: Uuid }>(
        FIND_TRANSACTIONS_SQL[this.#database.dialect],
        this.#org.id,
        last,
        this.#printed,
      );
      const end = found.at(-1);
      if (end === undefined) return;
      const ids = found.map(({ id }) => id);
      await this.#write(async (connection) => ({ transactions: await this.#replace(connection, ids) }));
      last = end.id;
    }
  }

  async eraseHistory(): Promise<void> {
    let last = { until_stamp: Number.MIN_SAFE_INTEGER, id: FIRST_ID };
    while (true) {
      const found = await this.#database.all<{ id: Uuid; until_stamp: number }>(
        FIND_VERSIONS_SQL[this.#database.dialect],
        this.#org.id,
        last.until_stamp,
        last.id,
        this.#printed,
      );
      const end = found.at(-1);
      if (end === undefined) return;
      const ids = [...new Set(found.map(({ id }) => id))];
      await this.#write(async (connection) => ({ versions: await this.#rewrite(connection, ids) }));
      last = end;
    }
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
    await connection.all('UPDATE organisations SET last_stamp = $2 WHERE id = $1', orgId, stampMs);
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
  async #write(change: (connection: Connection) => Promise<Partial<ErasureCounts>>): Promise<void> {
    const after = await this.#database.write(async (connection) => {
      await overwriteDeleted(connection, this.#database.dialect);
      const added = await change(connection);
      const { transactions, versions, clicks } = this.#counts;
      const counts = {
        transactions: transactions + (added.transactions ?? 0),
        versions: versions + (added.versions ?? 0),
        clicks: clicks + (added.clicks ?? 0),
      };
      await amendAudit(connection, this.#entry, counts);
      return counts;
    });
    Object.assign(this.#counts, after);
    this.#onBatch(after.transactions + after.versions + after.clicks);
  }
}
