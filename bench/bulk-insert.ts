// Inserts transactions into a new database as fast as possible: indexes are created at the end, and no write-ahead log is written.
// The database itself can copy the transactions several times, which is faster than generating more of them.

import { Database as SqliteFile } from 'bun:sqlite';
import { once } from 'node:events';
import postgres from 'postgres';
import { withUpdatedAt } from '../service/src/storage/backup/new-timeline.ts';
import { sqlitePath } from '../service/src/storage/open-database.ts';
import { POSTGRES_SQL } from '../service/src/storage/postgres/postgres-sql.ts';
import { columnsOf, insertSql } from '../service/src/storage/schema/table.ts';
import { TRANSACTIONS, type TransactionRow } from '../service/src/storage/schema/tables.ts';
import type { Sql } from '../service/src/storage/sql.ts';
import { SQLITE_SQL } from '../service/src/storage/sqlite/sqlite-sql.ts';

interface BulkInsert {
  insert(rows: readonly TransactionRow[]): Promise<void>;
  /** Multiplies the transactions and creates the indexes. */
  close(): Promise<void>;
}

interface Index {
  readonly name: string;
  readonly sql: string;
}

const COLUMNS = columnsOf(TRANSACTIONS);

export function openBulkInsert(url: string, copies: number): Promise<BulkInsert> {
  const path = sqlitePath(url);
  return path === undefined ? openPostgres(url, copies) : openSqlite(path, copies);
}

/**
 * Inserts `copies` copies of each transaction in `generated`, with new ids and with stamps a minute apart. The LIMIT is never
 * reached; it keeps SQLite from computing two different random ids for a row.
 */
function multiplySql(sql: Sql, copies: number, randomId: string, printStamp: (ms: string) => string): string {
  const id = `CASE substr(old_id, 15, 1) WHEN '7' THEN substr(old_id, 1, 14) || '7' || substr(random_id, 16) ELSE random_id END`;
  const list = `[${Array.from({ length: copies }, (_, i) => i).join()}]`;
  const others = COLUMNS.filter((name) => !['id', 'updated_at', 'document'].includes(name)).join(', ');
  return `INSERT INTO transactions (id, updated_at, document, ${others})
    SELECT CAST(new_id AS ${sql.ddl.uuid}), stamp,
           '{"id":"' || new_id || substr(${withUpdatedAt(sql, 'document', printStamp('stamp'))}, 44), ${others}
      FROM (SELECT ${id} AS new_id, stamp, document, ${others} FROM (
        SELECT CAST(generated.id AS text) AS old_id, ${randomId} AS random_id, updated_at - v.value * 60000 AS stamp, document, ${others}
          FROM ${sql.valuesTable(`'${list}'`, 'bigint')} CROSS JOIN generated LIMIT ${Number.MAX_SAFE_INTEGER}
      ) AS copied LIMIT ${Number.MAX_SAFE_INTEGER}) AS named`;
}

/** Keeps the index on the primary key, which cannot be dropped, in memory. */
async function openSqlite(path: string, copies: number): Promise<BulkInsert> {
  const file = new SqliteFile(path, { readwrite: true, strict: true });
  for (const setting of [
    'journal_mode = MEMORY',
    'synchronous = OFF',
    'cache_size = -4000000',
    'threads = 2',
  ])
    file.run(`PRAGMA ${setting}`);
  const indexes = file
    .query<Index, []>(
      `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'transactions' AND sql IS NOT NULL`,
    )
    .all();
  for (const { name } of indexes) file.run(`DROP INDEX ${name}`);
  file.run('CREATE TEMP TABLE generated AS SELECT * FROM transactions');
  const target = { ...TRANSACTIONS, name: copies === 1 ? 'transactions' : 'generated' };
  const put = file.prepare(insertSql(target, `VALUES (${COLUMNS.map((_, i) => `?${i + 1}`).join(', ')})`));
  file.run('BEGIN');
  return {
    async insert(rows) {
      for (const row of rows) put.run(...COLUMNS.map((name) => row[name]));
    },
    async close() {
      const hex = (bytes: number) => `lower(hex(randomblob(${bytes})))`;
      const randomId = `${hex(4)} || '-' || ${hex(2)} || '-4' || substr(${hex(2)}, 2) || '-8' || substr(${hex(2)}, 2) || '-' || ${hex(6)}`;
      const printStamp = (ms: string) =>
        `replace(strftime('%Y-%m-%dT%H:%M:%f', ${ms} / 1000.0, 'unixepoch'), '.000', '')`;
      if (copies > 1) file.run(multiplySql(SQLITE_SQL, copies, randomId, printStamp));
      file.run('COMMIT');
      for (const { sql } of indexes) file.run(sql);
      put.finalize();
      file.close();
    },
  };
}

/** Everything is one transaction that begins with TRUNCATE, so that PostgreSQL need not log the rows (wal_level = minimal). */
async function openPostgres(url: string, copies: number): Promise<BulkInsert> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const indexes = await sql<Index[]>`
    SELECT indexname AS name, indexdef AS sql FROM pg_indexes
     WHERE schemaname = current_schema() AND tablename = 'transactions' AND indexname NOT LIKE '%_pkey'`;
  await sql.unsafe(`
    SET maintenance_work_mem = '1GB';
    BEGIN;
    TRUNCATE transactions;
    ALTER TABLE transactions DROP CONSTRAINT transactions_pkey;
    CREATE TEMP TABLE generated (LIKE transactions);
    ${indexes.map(({ name }) => `DROP INDEX ${name};`).join('\n')}`);
  const target = copies === 1 ? 'transactions' : 'generated';
  const stream = await sql.unsafe(`COPY ${target} (${COLUMNS.join(', ')}) FROM STDIN`).writable();
  return {
    async insert(rows) {
      const lines = rows.map((row) => COLUMNS.map((name) => toField(row[name])).join('\t'));
      if (!stream.write(`${lines.join('\n')}\n`)) await once(stream, 'drain');
    },
    async close() {
      stream.end();
      await once(stream, 'finish');
      const printStamp = (ms: string) =>
        `replace(to_char(to_timestamp(${ms} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS'), '.000', '')`;
      if (copies > 1)
        await sql.unsafe(multiplySql(POSTGRES_SQL, copies, 'gen_random_uuid()::text', printStamp));
      await sql.unsafe('ALTER TABLE transactions ADD PRIMARY KEY (id)');
      for (const index of indexes) await sql.unsafe(index.sql);
      await sql.unsafe('COMMIT');
      await sql.end();
    },
  };
}

/** The documents contain neither tabs nor line breaks. */
function toField(value: string | number | null): string {
  return value === null ? '\\N' : String(value).replaceAll('\\', '\\\\');
}
