// Erases a user's `passbackUid` and `passbackData` from clicks, pulled rows, transactions and their history. Amounts stay. Finds
// rows by the user's key without a lock and changes them in batches, each of which holds a lock briefly.
//
// The order matters. First, the user is recorded as erased, under the change clock's lock. Later steps then see every earlier
// import, and later imports cannot restore the user. Clicks come next, because imports attribute sales to users by their clicks.
// The history comes last: until all transactions are done, an import can still move a version with the user into the history.
// The user's entries among former users are deleted together with the history.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ClickStore } from '../../domain/click.ts';
import type { ErasureCounts, ErasureStore } from '../../domain/organisation.ts';
import { printedPassbackUid, withoutUser } from '../../domain/stored-document.ts';
import type { WalkStore } from '../../domain/transaction.ts';
import type { Connection, Database } from '../database.ts';
import { FORMER_USERS, HISTORY, TRANSACTIONS, type VersionRow } from '../schema/tables.ts';
import type { Statement } from '../sql.ts';
import { selectOfUser, userKey } from '../transactions/user-ids.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-log.ts';
import { advanceClock, lockClock } from './change-clock.ts';
import { noteErased } from './erased-users.ts';

const NONE: ErasureCounts = { transactions: 0, versions: 0, clicks: 0 };

const BATCH = 1_000;

const FORMER = 'FROM former_users WHERE org_id = $1 AND user_key = $2';

/** The ids of the transactions with the user key $2, which other users can share. */
export const CURRENT_SQL: Statement = (sql) => selectOfUser(sql, 'id');
const FORMER_SQL = `SELECT id ${FORMER} ORDER BY id`;
const FORGET_SQL: Statement = ({ isOneOf, valuesTable }) =>
  `DELETE ${FORMER} AND id ${isOneOf(`SELECT value FROM ${valuesTable('$3', 'uuid')}`)}`;

/** Rows of networks that contain a click id instead of the user need no change, because the click is erased. */
const PULLED_SQL = 'UPDATE pull_rows SET sub_id = NULL WHERE org_id = $1 AND sub_id = $2';

/**
 * Waits for any purge that is deleting some of these versions, so that deleted versions are not written again. Purges lock
 * versions in the same order, so a purge and an erasure cannot deadlock.
 */
const VERSIONS_SQL: Statement = (sql) => `
  SELECT id, until_stamp, org_id, from_stamp, import_id, document FROM history
   WHERE id ${sql.isOneOf(`SELECT value FROM ${sql.valuesTable('$2', 'uuid')}`)} AND +org_id = $1
   ORDER BY until_stamp, id ${sql.forUpdate}`;

/** $1: organisation, $2: user key, $3: the field `passbackUid`. */
export const COUNT_SQL: Statement = (sql) => {
  const isNaming = `${sql.position('document', '$3')} > 0`;
  const ids = `SELECT id FROM (${selectOfUser(sql, 'id')}) AS now UNION SELECT id ${FORMER}`;
  return `SELECT (SELECT count(*) FROM (${selectOfUser(sql, 'id', isNaming)}) AS naming) AS transactions,
    (SELECT count(*) FROM history WHERE id ${sql.isOneOf(ids)} AND +org_id = $1 AND ${isNaming}) AS versions`;
};

export function erasureStore(
  database: Database,
  { clicks, walks }: { readonly clicks: ClickStore; readonly walks: WalkStore },
  auditor: Auditor,
): ErasureStore {
  return {
    async count(orgId, passbackUid) {
      const user = [orgId, userKey(passbackUid), printedPassbackUid(passbackUid)] as const;
      const [stored] = await database.all<Omit<ErasureCounts, 'clicks'>>(COUNT_SQL, ...user);
      return { ...NONE, ...stored, clicks: await clicks.countOf({ orgId, passbackUid }) };
    },
    async erase({ id: orgId, name }, passbackUid, onBatch = () => {}) {
      const user = { orgId, key: userKey(passbackUid), printed: printedPassbackUid(passbackUid) };
      let counts = NONE;
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
          const after = { ...counts, [what]: counts[what] + (await change(connection)) };
          await amendAudit(connection, entry, after);
          return after;
        });
        onBatch(counts.transactions + counts.versions + counts.clicks);
      };

      const clickCount = await clicks.erase({ orgId, passbackUid }, onBatch);
      // Clicks may be in a different file, so the audit log records their number in a separate transaction.
      await write('clicks', async () => clickCount);
      // Pulled rows never contain NUL: no network sends it. PostgreSQL would reject it as a parameter.
      if (!passbackUid.includes('\0'))
        await database.write((connection) => connection.all(PULLED_SQL, orgId, passbackUid));
      for (const ids of await findBatches(CURRENT_SQL, user))
        await write('transactions', (connection) => replace(connection, user, ids));
      for (const ids of await findBatches(FORMER_SQL, user))
        await write('versions', (connection) => rewrite(connection, user, ids));
      await walks.forgetUser(passbackUid);
      await database.write((connection) => amendAudit(connection, entry, { ...counts }, 'user erased'));
      await database.emptyLog();
      return counts;
    },
  };

  async function findBatches(statement: Statement, { orgId, key }: User): Promise<Uuid[][]> {
    const found = await database.all<{ id: Uuid }>(statement, orgId, key);
    const ids = found.map(({ id }) => id).sort();
    return Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, i) =>
      ids.slice(i * BATCH, (i + 1) * BATCH),
    );
  }

  /**
   * Like an import, writes new versions with a new stamp and moves the old versions to the history. Removes the user from the
   * new and the old versions.
   */
  async function replace(connection: Connection, user: User, ids: readonly Uuid[]): Promise<number> {
    const stampMs = Math.max(auditor.clock(), (await lockClock(connection, user.orgId)) + 1);
    // Read again under the lock: an import may have changed the rows since they were found.
    const found = await connection.findMany(TRANSACTIONS, ids, user.orgId);
    const rows = found.filter(({ document }) => document.includes(user.printed));
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
        user_key: null,
        document: withoutUser(row.document, updatedAt),
      })),
    );
    await connection.putMany(
      FORMER_USERS,
      rows.map(({ id }) => ({ org_id: user.orgId, user_key: user.key, id, until_stamp: stampMs })),
    );
    await advanceClock(connection, user.orgId, stampMs);
    return rows.length;
  }

  /** Rewrites all versions of these transactions in place; earlier versions do not need a new stamp. */
  async function rewrite(connection: Connection, user: User, ids: readonly Uuid[]): Promise<number> {
    // Throws if the organisation is being deleted.
    await lockClock(connection, user.orgId);
    const found = await connection.all<VersionRow>(VERSIONS_SQL, user.orgId, JSON.stringify(ids));
    const rows = found.filter(({ document }) => document.includes(user.printed));
    await connection.putMany(
      HISTORY,
      rows.map((row) => ({ ...row, document: withoutUser(row.document) })),
    );
    await connection.all(FORGET_SQL, user.orgId, user.key, JSON.stringify(ids));
    return rows.length;
  }
}

interface User {
  readonly orgId: number;
  readonly key: number;
  /** The field `passbackUid` as it appears in documents. */
  readonly printed: string;
}
