// Earlier versions of transactions. An import moves the versions that it replaces into the history, in the import's transaction
// (`keepReplaced`). Operators read and purge the history through this store.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import { printedPassbackUid } from '../../domain/stored-document.ts';
import type { TransactionHistory, TransactionVersion } from '../../domain/transaction.ts';
import type { Connection, Database } from '../database.ts';
import type { Statement } from '../sql.ts';
import { selectOfUser } from '../transactions/user-ids.ts';
import { userKey } from '../transactions/user-key.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-log.ts';

/** Versions that a purge deletes per database transaction; few enough that it never holds its locks for long. */
const PURGE_BATCH = 10_000;
/** Versions that a search reads at once, between two reports of its progress. */
const FIND_BATCH = 2_000;

const KEEP_SQL: Statement = (sql) => `
  INSERT INTO history (id, org_id, from_stamp, until_stamp, import_id, document)
  SELECT t.id, t.org_id, t.updated_at, $2, t.import_id, t.document
    FROM ${sql.valuesTable('$1', 'uuid')} CROSS JOIN transactions t
   WHERE t.id = v.value`;

/** Copies the current versions of these transactions into the history. */
export async function keepReplaced(
  connection: Connection,
  ids: readonly Uuid[],
  untilMs: number,
): Promise<void> {
  await connection.all(KEEP_SQL, JSON.stringify(ids), untilMs);
}

/** A version as stored; its status is in the document. */
interface VersionRow {
  readonly id: Uuid;
  readonly orgName: string;
  readonly fromMs: number;
  readonly untilMs: number | null;
  readonly importId: number | null;
  readonly document: string;
}

const CURRENT = `SELECT t.id, t.updated_at AS "fromMs", NULL AS "untilMs", t.import_id AS "importId", t.document,
    o.name AS "orgName" FROM transactions t JOIN organisations o ON o.id = t.org_id`;
const REPLACED = `SELECT h.id, h.from_stamp AS "fromMs", h.until_stamp AS "untilMs", h.import_id AS "importId", h.document,
    o.name AS "orgName" FROM history h JOIN organisations o ON o.id = h.org_id`;

/** A current version found by a search. */
interface FoundRow {
  readonly id: Uuid;
  readonly fromMs: number;
  readonly importId: number | null;
  readonly document: string;
}

/**
 * The newest transactions of organisation $1 with the user key $2 and the field $3, and the number of all. The inner LIMIT never
 * cuts anything off, but it keeps PostgreSQL from reading all transactions in order of time.
 */
export const NEWEST_OF_USER_SQL: Statement = (sql) => {
  const found = selectOfUser(sql, 'id, updated_at', `${sql.position('document', '$3')} > 0`);
  return `SELECT id, count(*) OVER () AS count
    FROM (${found} LIMIT ${Number.MAX_SAFE_INTEGER}) AS found ORDER BY updated_at DESC, id LIMIT $4`;
};

/** The latest transactions of organisation $1 with stamps from $2, before the stamp $3 and the id $4. */
export const LATEST_SQL = `SELECT id, updated_at AS "fromMs" FROM transactions
  WHERE org_id = $1 AND updated_at >= $2 AND (updated_at, id) < ($3, $4)
  ORDER BY updated_at DESC, id DESC NULLS LAST LIMIT $5`;

/** $1: ids. */
export const CURRENT_SQL: Statement = (sql) => `
  SELECT t.id, t.updated_at AS "fromMs", t.import_id AS "importId", t.document
    FROM ${sql.valuesTable('$1', 'uuid')} CROSS JOIN transactions t WHERE t.id = v.value`;

export function transactionHistory(database: Database, auditor: Auditor): TransactionHistory {
  return {
    async versions(id) {
      const current = await database.all<VersionRow>(`${CURRENT} WHERE t.id = $1`, id);
      const replaced = await database.all<VersionRow>(
        `${REPLACED} WHERE h.id = $1 ORDER BY h.until_stamp DESC`,
        id,
      );
      return [...current, ...replaced].map(toVersion);
    },

    findByPassbackUid(passbackUid, { orgId, limit = Number.MAX_SAFE_INTEGER, onRows = () => {} } = {}) {
      return database.readOnce(async (connection) => {
        const orgs = await connection.all<{ id: number; name: string }>('SELECT id, name FROM organisations');
        let count = 0;
        const wanted: { id: Uuid; orgName: string }[] = [];
        for (const org of orgs) {
          if (orgId !== undefined && org.id !== orgId) continue;
          const user = [org.id, userKey(passbackUid), printedPassbackUid(passbackUid)] as const;
          const ids = await connection.all<{ id: Uuid; count: number }>(NEWEST_OF_USER_SQL, ...user, limit);
          count += ids[0]?.count ?? 0;
          for (const { id } of ids) wanted.push({ id, orgName: org.name });
        }
        const found: TransactionVersion[] = [];
        for (let done = 0; done < wanted.length; done += FIND_BATCH) {
          const batch = new Map(
            wanted.slice(done, done + FIND_BATCH).map(({ id, orgName }) => [id, orgName]),
          );
          const rows = await connection.all<FoundRow>(CURRENT_SQL, JSON.stringify([...batch.keys()]));
          for (const row of rows)
            found.push(toVersion({ ...row, untilMs: null, orgName: batch.get(row.id) ?? '' }));
          onRows(found.length, wanted.length);
        }
        return { count, newest: found.sort(newestFirst).slice(0, limit) };
      });
    },

    latest({ orgId, window: { minMs, maxMs }, after, limit }) {
      const [beforeMs, beforeId] =
        after === undefined || after.fromMs > maxMs ? [maxMs + 1, FIRST_ID] : [after.fromMs, after.id];
      return database.readOnce(async (connection) => {
        const orgs = await connection.all<{ id: number; name: string }>('SELECT id, name FROM organisations');
        const found: { id: Uuid; fromMs: number; orgName: string }[] = [];
        for (const org of orgs) {
          if (orgId !== undefined && org.id !== orgId) continue;
          const bounds = [org.id, minMs, beforeMs, beforeId, limit] as const;
          const rows = await connection.all<{ id: Uuid; fromMs: number }>(LATEST_SQL, ...bounds);
          for (const row of rows) found.push({ ...row, orgName: org.name });
        }
        const latest = found.sort(latestFirst).slice(0, limit);
        const ids = JSON.stringify(latest.map(({ id }) => id));
        const rows = new Map((await connection.all<FoundRow>(CURRENT_SQL, ids)).map((row) => [row.id, row]));
        return latest.flatMap(({ id, orgName }) => {
          const row = rows.get(id);
          return row === undefined ? [] : toVersion({ ...row, untilMs: null, orgName });
        });
      });
    },

    async purge(replacedBeforeMs, onBatch = () => {}) {
      const replacedBefore = printTimestamp(replacedBeforeMs);
      const entry = await database.write((connection) =>
        writeAudit(connection, auditor, 'history purged', null, { versions: 0, replacedBefore }),
      );
      let versions = 0;
      for (const { id: orgId } of await database.all<{ id: number }>('SELECT id FROM organisations')) {
        let deleted: number;
        do {
          deleted = await database.write(async (connection) => {
            await connection.overwriteDeleted();
            await connection.all(LOCK_BATCH_SQL, orgId, replacedBeforeMs);
            const { length: count } = await connection.all(PURGE_SQL, orgId, replacedBeforeMs);
            await amendAudit(connection, entry, { versions: versions + count, replacedBefore });
            return count;
          });
          versions += deleted;
          onBatch(versions);
        } while (deleted === PURGE_BATCH);
        await database.write(async (connection) => {
          await connection.overwriteDeleted();
          await connection.all(PURGE_USERS_SQL, orgId, replacedBeforeMs);
        });
      }
      const seenBeforeMs = Math.min(replacedBeforeMs, auditor.clock() - PULLED_KEEP_MS);
      let pulled: number;
      do {
        pulled = await database.write(async (connection) => {
          await connection.overwriteDeleted();
          return (await connection.all(PURGE_PULLED_SQL, seenBeforeMs)).length;
        });
      } while (pulled === PURGE_BATCH);
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
  `${deleteRows('history', 'id, until_stamp', BATCH)} RETURNING id`;

/** Networks correct sales for months, and a correction is useless without the rows that it corrects. */
const PULLED_KEEP_MS = 400 * 86_400_000;
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
