// What transactions were before they changed. An import copies the versions that it replaces into the history, in its own
// transaction (`keepReplaced`); the rest of this file answers questions of operators.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { TransactionVersion } from '../../domain/books.ts';
import { printedPassbackUid } from '../../domain/stored-transaction.ts';
import type { TransactionHistory } from '../../domain/stores.ts';
import type { Connection, Database, SqlValue } from '../database.ts';
import { CONTAINS, type Dialect, forUpdate, inBoth, isOneOf, VALUES } from '../sql-dialect.ts';
import { emptyLog, overwriteDeleted } from '../sqlite/overwrite-deleted.ts';
import { type Auditor, amendAudit, writeAudit } from './audit-book.ts';

/** How many versions one statement of a purge deletes, so that it never holds its locks for long. */
const PURGE_BATCH = 10_000;

/**
 * Copies the current versions of these transactions into the history, as replaced at this stamp. What the same write put
 * before was never seen by anybody, and is not kept: it has the stamp already. ON CONFLICT would do the same, but takes
 * PostgreSQL a quarter of the time of the copy.
 */
export async function keepReplaced(
  connection: Connection,
  dialect: Dialect,
  ids: readonly Uuid[],
  untilMs: number,
): Promise<void> {
  await connection.all(
    `INSERT INTO history (id, org_id, from_stamp, until_stamp, import_id, document)
     SELECT t.id, t.org_id, t.updated_at, $2, t.import_id, t.document
       FROM ${VALUES[dialect]('$1', 'uuid')} CROSS JOIN transactions t
      WHERE t.id = v.value AND t.updated_at <> $2`,
    JSON.stringify(ids),
    untilMs,
  );
}

type Row = Omit<TransactionVersion, 'status'>;

const CURRENT_COLUMNS =
  't.id, t.updated_at AS "fromMs", NULL AS "untilMs", t.import_id AS "importId", t.document';
const CURRENT = `SELECT ${CURRENT_COLUMNS}, o.name AS "orgName"
  FROM transactions t JOIN organisations o ON o.id = t.org_id`;
const REPLACED = `SELECT h.id, h.from_stamp AS "fromMs", h.until_stamp AS "untilMs", h.import_id AS "importId", h.document,
    o.name AS "orgName" FROM history h JOIN organisations o ON o.id = h.org_id`;

type FoundRow = Omit<Row, 'orgName'> & { readonly foundIn: number };

const searchSql = (dialect: Dialect, isInPiece: string) => `
  SELECT ${CURRENT_COLUMNS}, t.org_id AS "foundIn"
    FROM transactions t WHERE ${isInPiece} AND ${CONTAINS[dialect]}(t.document, $1) > 0`;

/**
 * A search reads the table from its beginning to its end, in pieces of some 5,000 transactions: of rows by their number
 * on SQLite, of blocks on PostgreSQL. In the order of the ids, it would read every block many times.
 */
export const SEARCH = {
  sqlite: {
    placesSql: 'SELECT coalesce(max(rowid), 0) + 1 AS places FROM transactions',
    piece: 5_000,
    placeOf: (row: number): SqlValue => row,
    searchSql: searchSql('sqlite', 't.rowid >= $2 AND t.rowid < $3'),
  },
  postgres: {
    placesSql: `SELECT pg_relation_size('transactions') / current_setting('block_size')::integer AS places`,
    piece: 256,
    placeOf: (block: number): SqlValue => `(${block},0)`,
    searchSql: searchSql('postgres', 't.ctid >= $2::text::tid AND t.ctid < $3::text::tid'),
  },
} as const;

export function transactionHistory(database: Database, auditor: Auditor): TransactionHistory {
  return {
    async versions(id) {
      const current = await database.all<Row>(`${CURRENT} WHERE t.id = $1`, id);
      const replaced = await database.all<Row>(`${REPLACED} WHERE h.id = $1 ORDER BY h.until_stamp DESC`, id);
      return [...current, ...replaced].map(toVersion);
    },

    findByPassbackUid(passbackUid, { orgId, limit = Number.POSITIVE_INFINITY, onPiece = () => {} } = {}) {
      const { placesSql, piece, placeOf, searchSql } = SEARCH[database.dialect];
      const printed = printedPassbackUid(passbackUid);
      return database.readOnce(async (connection) => {
        const orgs = await connection.all<{ id: number; name: string }>('SELECT id, name FROM organisations');
        const names = new Map(orgs.map(({ id, name }) => [id, name]));
        const [row] = await connection.all<{ places: number }>(placesSql);
        const total = row?.places ?? 0;
        let count = 0;
        let found: FoundRow[] = [];
        const newestFirst = () => found.sort((a, b) => b.fromMs - a.fromMs);
        for (let first = 0; first < total; first += piece) {
          const places = [placeOf(first), placeOf(first + piece)] as const;
          const rows = await connection.all<FoundRow>(searchSql, printed, ...places);
          for (const each of rows) {
            if (orgId !== undefined && each.foundIn !== orgId) continue;
            count++;
            found.push(each);
          }
          if (found.length > limit) found = newestFirst().slice(0, limit);
          onPiece({ read: Math.min(first + piece, total), total, found: count });
        }
        const newest = newestFirst().map(({ foundIn, ...row }) =>
          toVersion({ ...row, orgName: names.get(foundIn) ?? '' }),
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
            await overwriteDeleted(connection, database.dialect);
            await connection.all(LOCK_BATCH_SQL[database.dialect], orgId, replacedBeforeMs);
            const { length: count } = await connection.all(
              PURGE_SQL[database.dialect],
              orgId,
              replacedBeforeMs,
            );
            await amendAudit(connection, entry, { versions: versions + count, replacedBefore });
            return count;
          });
          versions += deleted;
          onBatch(versions);
        } while (deleted === PURGE_BATCH);
      }
      await emptyLog(database);
      return versions;
    },
  };
}

/** Those that go with the next batch: of one organisation, because the index that is in this order begins with it. */
const batchSql = (dialect: Dialect, columns: string) => `SELECT ${columns} FROM history
  WHERE org_id = $1 AND until_stamp < $2
  ORDER BY until_stamp, id ${dialect === 'postgres' ? 'NULLS FIRST' : ''} LIMIT ${PURGE_BATCH}`;

/** Waits for an erasure of some of them, which locks them in the same order. */
const LOCK_BATCH_SQL = inBoth(
  (dialect) => `SELECT count(*) FROM (${batchSql(dialect, 'id')} ${forUpdate(dialect)}) AS batch`,
);

export const PURGE_SQL = inBoth((dialect) => {
  // PostgreSQL might read the whole table to find the keys in a list, and never does to find rows by their place.
  const columns = { sqlite: 'id, until_stamp', postgres: 'ctid' }[dialect];
  return `DELETE FROM history WHERE (${columns}) ${isOneOf(dialect, batchSql(dialect, columns))} RETURNING id`;
});

function toVersion(row: Row): TransactionVersion {
  return { ...row, status: (JSON.parse(row.document) as Transaction).status };
}
