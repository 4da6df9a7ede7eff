// Earlier versions of transactions. An import moves the versions that it replaces into the history, in the import's transaction
// (`keepReplaced`). Operators read and purge the history through this store.

import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import type { Organisation } from '../../domain/organisation.ts';
import { printedPassbackUid } from '../../domain/stored-document.ts';
import type { TransactionHistory, TransactionVersion } from '../../domain/transaction.ts';
import type { Connection, Database, Queries } from '../database.ts';
import { deleteInBatches } from '../scan.ts';
import type { Statement } from '../sql.ts';
import { selectOfUser, userKey } from '../transactions/user-ids.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-log.ts';

/** Versions that a purge deletes per database transaction; few enough that it never holds its locks for long. */
const PURGE_BATCH = 10_000;
/** Versions that a search reads at once, between two reports of its progress. */
const FIND_BATCH = 2_000;

const KEEP_SQL: Statement = (sql) => `
  INSERT INTO history (org_id, id, from_stamp, until_stamp, import_id, document)
  SELECT t.org_id, t.id, t.updated_at, $3, t.import_id, t.document
    FROM ${sql.valuesTable('$2', 'uuid')} CROSS JOIN transactions t
   WHERE t.org_id = $1 AND t.id = v.value`;

/** Copies the current versions of these transactions into the history. */
export async function keepReplaced(
  connection: Connection,
  orgId: number,
  ids: readonly Uuid[],
  untilMs: number,
): Promise<void> {
  await connection.all(KEEP_SQL, orgId, JSON.stringify(ids), untilMs);
}

/** A version as stored; its status is in the document. */
type VersionRow = Omit<TransactionVersion, 'status'>;

const REPLACED_SQL = `SELECT id, from_stamp AS "fromMs", until_stamp AS "untilMs", import_id AS "importId", document
    FROM history WHERE id = $2::uuid AND +org_id = $1 ORDER BY until_stamp DESC`;

/**
 * The newest transactions of organisation $1 with the user key $2 and the field $3, and the number of all. The inner LIMIT never
 * cuts anything off, but it keeps PostgreSQL from reading all transactions in order of time.
 */
export const NEWEST_OF_USER_SQL: Statement = (sql) => {
  const found = selectOfUser(sql, 'id, updated_at', `${sql.position('document', '$3')} > 0`);
  return `SELECT id, count(*) OVER () AS count
    FROM (${found} LIMIT ${Number.MAX_SAFE_INTEGER}) AS found ORDER BY updated_at DESC, id LIMIT $4`;
};

/** Transactions of organisation $1 stamped $2 or later, newest first, starting after ($3, $4). */
const LATEST_SQL = `SELECT id, updated_at AS "fromMs" FROM transactions
  WHERE org_id = $1 AND updated_at >= $2 AND (updated_at, id) < ($3, $4::uuid)
  ORDER BY updated_at DESC, id DESC NULLS LAST LIMIT $5`;

/** The transactions $2 of organisation $1. */
export const CURRENT_SQL: Statement = (sql) => `
  SELECT t.id, t.updated_at AS "fromMs", t.import_id AS "importId", t.document
    FROM ${sql.valuesTable('$2', 'uuid')} CROSS JOIN transactions t WHERE t.org_id = $1 AND t.id = v.value`;

async function readCurrent(
  connection: Connection,
  { id: orgId, name: orgName }: Org,
  ids: readonly Uuid[],
): Promise<TransactionVersion[]> {
  const rows = await connection.all<Omit<VersionRow, 'orgName' | 'untilMs'>>(
    CURRENT_SQL,
    orgId,
    JSON.stringify(ids),
  );
  return rows.map((row) => toVersion({ ...row, untilMs: null, orgName }));
}

type Org = Pick<Organisation, 'id' | 'name'>;

/** All organisations, or only one. */
async function listOrgs(connection: Queries, orgId?: number): Promise<Org[]> {
  const orgs = await connection.all<Org>('SELECT id, name FROM organisations ORDER BY id');
  return orgs.filter(({ id }) => orgId === undefined || id === orgId);
}

export function transactionHistory(database: Database, auditor: Auditor): TransactionHistory {
  return {
    async versions(id) {
      return database.read(async (connection) => {
        const versions: TransactionVersion[] = [];
        for (const org of await listOrgs(connection)) {
          versions.push(...(await readCurrent(connection, org, [id])));
          const replaced = await connection.all<Omit<VersionRow, 'orgName'>>(REPLACED_SQL, org.id, id);
          versions.push(...replaced.map((row) => toVersion({ ...row, orgName: org.name })));
        }
        return versions;
      });
    },

    findByPassbackUid(passbackUid, { orgId, limit = Number.MAX_SAFE_INTEGER, onRows = () => {} } = {}) {
      return database.readOnce(async (connection) => {
        let count = 0;
        const wanted: { org: Org; ids: Uuid[] }[] = [];
        for (const org of await listOrgs(connection, orgId)) {
          const user = [org.id, userKey(passbackUid), printedPassbackUid(passbackUid)] as const;
          const ids = await connection.all<{ id: Uuid; count: number }>(NEWEST_OF_USER_SQL, ...user, limit);
          count += ids[0]?.count ?? 0;
          wanted.push({ org, ids: ids.map(({ id }) => id) });
        }
        const total = wanted.reduce((sum, { ids }) => sum + ids.length, 0);
        const found: TransactionVersion[] = [];
        for (const { org, ids } of wanted)
          for (let done = 0; done < ids.length; done += FIND_BATCH) {
            found.push(...(await readCurrent(connection, org, ids.slice(done, done + FIND_BATCH))));
            onRows(found.length, total);
          }
        return { count, newest: found.sort(newestFirst).slice(0, limit) };
      });
    },

    latest({ orgId, window: { minMs, maxMs }, after, limit }) {
      const [beforeMs, beforeId] =
        after === undefined || after.fromMs > maxMs ? [maxMs + 1, FIRST_ID] : [after.fromMs, after.id];
      return database.readOnce(async (connection) => {
        const found: { id: Uuid; fromMs: number; org: Org }[] = [];
        for (const org of await listOrgs(connection, orgId)) {
          const bounds = [org.id, minMs, beforeMs, beforeId, limit] as const;
          const rows = await connection.all<{ id: Uuid; fromMs: number }>(LATEST_SQL, ...bounds);
          for (const row of rows) found.push({ ...row, org });
        }
        const latest: TransactionVersion[] = [];
        for (const [org, rows] of Map.groupBy(found.sort(latestFirst).slice(0, limit), ({ org }) => org)) {
          const ids = rows.map(({ id }) => id);
          latest.push(...(await readCurrent(connection, org, ids)));
        }
        return latest.sort(latestFirst);
      });
    },

    async purge(replacedBeforeMs, onBatch = () => {}) {
      const replacedBefore = printTimestamp(replacedBeforeMs);
      const entry = await database.write((connection) =>
        writeAudit(connection, auditor, 'history purged', null, { versions: 0, replacedBefore }),
      );
      let versions = 0;
      for (const { id: orgId } of await database.all<{ id: number }>('SELECT id FROM organisations')) {
        const earlier = versions;
        const purge = async (connection: Connection, before: number) => {
          await connection.all(LOCK_BATCH_SQL, orgId, replacedBeforeMs);
          const { length: count } = await connection.all(PURGE_SQL, orgId, replacedBeforeMs);
          await amendAudit(connection, entry, { versions: earlier + before + count, replacedBefore });
          return count;
        };
        versions += await deleteInBatches(database, PURGE_BATCH, purge, (count) => onBatch(earlier + count));
        await database.write((connection) => connection.all(PURGE_USERS_SQL, orgId, replacedBeforeMs));
      }
      const seenBeforeMs = Math.min(replacedBeforeMs, auditor.clock() - PULLED_KEEP_MS);
      await deleteInBatches(
        database,
        PURGE_BATCH,
        async (connection) => (await connection.all(PURGE_PULLED_SQL, seenBeforeMs)).length,
      );
      await database.emptyLog();
      return versions;
    },
  };
}

/** The next batch of a purge, for one organisation, because the index in this order starts with the organisation. */
const BATCH = `WHERE org_id = $1 AND until_stamp < $2 ORDER BY until_stamp, id NULLS FIRST LIMIT ${PURGE_BATCH}`;

/**
 * Waits for any erasure that is rewriting versions in this batch. Erasures lock versions in the same order, so an erasure
 * and a purge cannot deadlock.
 */
const LOCK_BATCH_SQL: Statement = ({ forUpdate }) =>
  `SELECT count(*) FROM (SELECT id FROM history ${BATCH} ${forUpdate}) AS batch`;

export const PURGE_SQL: Statement = ({ deleteRows }) =>
  `${deleteRows('history', 'rowid', BATCH)} RETURNING id`;

/** Networks correct sales for months, and a correction is useless without the rows that it corrects. */
const PULLED_KEEP_MS = 400 * DAY_MS;
const PURGE_PULLED_SQL: Statement = ({ deleteRows }) =>
  `${deleteRows('pull_rows', 'rowid', `WHERE seen_at < $1 LIMIT ${PURGE_BATCH}`)} RETURNING org_id`;

/** All versions of these users were replaced before $2, so they have been purged. */
const PURGE_USERS_SQL = 'DELETE FROM former_users WHERE org_id = $1 AND until_stamp < $2';

function newestFirst(a: TransactionVersion, b: TransactionVersion): number {
  return b.fromMs - a.fromMs || (a.id < b.id ? -1 : 1);
}

function latestFirst(a: { fromMs: number; id: Uuid }, b: { fromMs: number; id: Uuid }): number {
  return b.fromMs - a.fromMs || (a.id < b.id ? 1 : -1);
}

function toVersion(row: VersionRow): TransactionVersion {
  return { ...row, status: (JSON.parse(row.document) as Transaction).status };
}
