// Inserts transactions into a new database as fast as possible: indexes are created at the end, and no write-ahead log is written.

import { Database as SqliteFile } from 'bun:sqlite';
import { once } from 'node:events';
import postgres from 'postgres';
import { sqlitePath } from '../service/src/storage/open-database.ts';
import { columnsOf, insertSql, keyOf, typeOf } from '../service/src/storage/schema/table.ts';
import { TRANSACTIONS, type TransactionRow } from '../service/src/storage/schema/tables.ts';

interface BulkInsert {
  insert(rows: readonly TransactionRow[]): Promise<void>;
  /** Creates the indexes. */
  close(): Promise<void>;
}

interface Index {
  readonly name: string;
  readonly sql: string;
}

const COLUMNS = columnsOf(TRANSACTIONS);

export async function openBulkInsert(url: string): Promise<BulkInsert> {
  const path = sqlitePath(url);
  return path === undefined ? openPostgres(url) : openSqlite(path);
}

/** Keeps the index on the primary key, which cannot be dropped, in memory. */
function openSqlite(path: string): BulkInsert {
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
  const values = COLUMNS.map((name, i) =>
    typeOf(TRANSACTIONS, name) === 'uuid' ? `unhex(?${i + 1}, '-')` : `?${i + 1}`,
  );
  const put = file.prepare(insertSql(TRANSACTIONS, `VALUES (${values.join(', ')})`));
  file.run('BEGIN');
  return {
    async insert(rows) {
      for (const row of rows) put.run(...COLUMNS.map((name) => row[name]));
    },
    async close() {
      file.run('COMMIT');
      for (const { sql } of indexes) file.run(sql);
      put.finalize();
      file.close();
    },
  };
}

/** Everything is one transaction that begins with TRUNCATE, so that PostgreSQL need not log the rows (wal_level = minimal). */
async function openPostgres(url: string): Promise<BulkInsert> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const indexes = await sql<Index[]>`
    SELECT indexname AS name, indexdef AS sql FROM pg_indexes
     WHERE schemaname = current_schema() AND tablename = 'transactions' AND indexname NOT LIKE '%_pkey'`;
  await sql.unsafe(`
    SET maintenance_work_mem = '1GB';
    BEGIN;
    TRUNCATE transactions;
    ALTER TABLE transactions DROP CONSTRAINT transactions_pkey;
    ${indexes.map(({ name }) => `DROP INDEX ${name};`).join('\n')}`);
  const stream = await sql.unsafe(`COPY transactions (${COLUMNS.join(', ')}) FROM STDIN`).writable();
  return {
    async insert(rows) {
      const lines = rows.map((row) => COLUMNS.map((name) => toField(row[name])).join('\t'));
      if (!stream.write(`${lines.join('\n')}\n`)) await once(stream, 'drain');
    },
    async close() {
      stream.end();
      await once(stream, 'finish');
      await sql.unsafe(`ALTER TABLE transactions ADD PRIMARY KEY (${keyOf(TRANSACTIONS).join(', ')})`);
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
