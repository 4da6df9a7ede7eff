// Earlier versions of transactions. An import moves the versions that it replaces into the history, in the import's transaction
// (`keepReplaced`). Operators read and purge the history through this store.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { printedPassbackUid } from '../../domain/stored-transaction.ts';
import type { TransactionHistory, TransactionVersion } from '../../domain/transaction.ts';
import type { Connection, Database } from '../database.ts';
import type { Statement } from '../sql.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-log.ts';

/** Versions that a purge deletes per database transaction; few enough that it never holds its locks for long. */
const PURGE_BATCH = 10_000;

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

/** A version found by a search. */
interface FoundRow {
  readonly id: Uuid;
  readonly orgId: number;
  readonly fromMs: number;
  readonly untilMs: null;
  readonly importId: number | null;
  readonly document: string;
}

const CURRENT_COLUMNS =
  't.id, t.updated_at AS "fromMs", NULL AS "untilMs", t.import_id AS "importId", t.document';
const CURRENT = `SELECT ${CURRENT_COLUMNS}, o.name AS "orgName"
  FROM transactions t JOIN organisations o ON o.id = t.org_id`;
const REPLACED = `SELECT h.id, h.from_stamp AS "fromMs", h.until_stamp AS "untilMs", h.import_id AS "importId", h.document,
    o.name AS "orgName" FROM history h JOIN organisations o ON o.id = h.org_id`;

/** Searches one piece of the table. Reading in order of id instead would read every block of the table many times. */
export const SEARCH_SQL: Statement = ({ pieces, contains }) => `
  SELECT ${CURRENT_COLUMNS}, t.org_id AS "orgId"
    FROM transactions t WHERE ${pieces.isInPiece} AND ${contains('t.document', '$1')}`;

export function transactionHistory(database: Database, auditor: Auditor): TransactionHistory {
  const { pieces } = database.sql;
  return {
    async versions(id) {
      const current = await database.all<VersionRow>(`${CURRENT} WHERE t.id = $1`, id);
      const replaced = await database.all<VersionRow>(
        `${REPLACED} WHERE h.id = $1 ORDER BY h.until_stamp DESC`,
        id,
      );
      return [...current, ...replaced].map(toVersion);
    },

    findByPassbackUid(passbackUid, { orgId, limit = Number.POSITIVE_INFINITY, onPiece = () => {} } = {}) {
      const printed = printedPassbackUid(passbackUid);
      return database.readOnce(async (connection) => {
        const orgs = await connection.all<{ id: number; name: string }>('SELECT id, name FROM organisations');
        const names = new Map(orgs.map(({ id, name }) => [id, name]));
        const [row] = await connection.all<{ places: number }>(pieces.countSql);
        const total = row?.places ?? 0;
        let count = 0;
        let found: FoundRow[] = [];
        const newestFirst = () => found.sort((a, b) => b.fromMs - a.fromMs);
        for (let first = 0; first < total; first += pieces.size) {
          const end = first + pieces.size;
          const rows = await connection.all<FoundRow>(
            SEARCH_SQL,
            printed,
            pieces.placeOf(first),
            pieces.placeOf(end),
          );
          for (const each of rows) {
            if (orgId !== undefined && each.orgId !== orgId) continue;
            count++;
            found.push(each);
          }
          if (found.length > limit) found = newestFirst().slice(0, limit);
          onPiece({ read: Math.min(end, total), total, found: count });
        }
        const newest = newestFirst().map(({ orgId: foundIn, ...version }) =>
          toVersion({ ...version, orgName: names.get(foundIn) ?? '' }),
        );
        return { count, newest };
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
      }
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

function toVersion(row: VersionRow): TransactionVersion {
  return { ...row, status: (JSON.parse(row.document) as Transaction).status };
}
