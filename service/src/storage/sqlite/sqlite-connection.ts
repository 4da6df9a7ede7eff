// One connection to an SQLite file. A statement blocks the process while it runs; waiting for the write lock does not.

import type { Statement as PreparedStatement, SQLQueryBindings, Database as SqliteFile } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { StorageError } from '../../domain/storage-error.ts';
import { type Connection, type DatabaseOptions, noDatabase, type SqlValue } from '../database.ts';
import { closingOnError } from '../open-once.ts';
import {
  columnsOf,
  keyOf,
  parametersOf,
  type RowOf,
  type Table,
  typeOf,
  upsertSql,
} from '../schema/table.ts';
import type { Statement } from '../sql.ts';
import { startEarlySync } from './early-sync.ts';
import {
  cannotMakeLog,
  createFile,
  hasLog,
  type OpenMode,
  openFile,
  placeOf,
  requireFile,
} from './open-file.ts';
import { SQLITE_DIALECT, withUuids } from './sqlite-dialect.ts';
import { explainSqlite, isBusy } from './sqlite-errors.ts';

/** Retry interval for locks. SQLite's busy timeout would block this process, which may hold the lock itself. */
const LOCK_RETRY_MS = 10;
/** In WAL mode, readers never wait for writers, only for the short recovery after a crash. */
const READ_LOCK_TIMEOUT_MS = 1_000;
/** SQLite's maximum; only the first part of a larger file is mapped. The operating system can reclaim mapped pages. */
const MAPPED_BYTES_MAX = 2 ** 31;
/** After a failed write, a write-ahead log larger than this is truncated. Smaller logs are normal. */
const LOG_BYTES_MAX = 16 * 1024 * 1024;
const EMPTY_LOG_TIMEOUT_MS = 1_000;
/** Several processes may compete for the brief exclusive lock that switches a new file to WAL mode. */
const OPEN_TIMEOUT_MS = 10_000;

type Prepared = PreparedStatement<unknown, SQLQueryBindings[]>;

export class SqliteConnection implements Connection {
  readonly #file: SqliteFile;
  readonly #path: string;
  /** True if commits wait for the disk. */
  readonly #durable: boolean;
  /** bun:sqlite's own statement cache is too small. */
  readonly #statements = new Map<Statement, Prepared>();

  static async open(path: string, options: Partial<DatabaseOptions> = {}): Promise<SqliteConnection> {
    const { access, create = false } = options;
    if (create) createFile(path);
    else requireFile(path);
    const prepare = (how: OpenMode) => SqliteConnection.#prepare(path, openFile(path, how), options);
    if (access !== 'read') return prepare('writable');
    try {
      // Leaves the file and its folder as they are. On close, the last connection to a file in WAL mode checkpoints and deletes the
      // log, unless the connection is read-only. A log with content belongs to a running or killed server and must stay. Without
      // one, closing a writable file deletes the empty log that opening it creates.
      return await prepare(hasLog(path) ? 'readonly' : 'writable');
    } catch (error) {
      if (!cannotMakeLog(error, path)) throw error;
      // SQLite needs a log to read a file in WAL mode, and cannot create one in a folder that this user cannot write to. If
      // there is no log, the file is complete and no process is writing to it, so it is safe to open as immutable.
      return prepare('immutable');
    }
  }

  static async #prepare(
    path: string,
    file: SqliteFile,
    { access, create = false, durable = true, mapsFile = false }: Partial<DatabaseOptions>,
  ): Promise<SqliteConnection> {
    const connection = new SqliteConnection(path, file, durable && access === undefined);
    const configure = () => {
      // Runs first, so that another program's file is never modified.
      connection.#requireOurs(create);
      if (access === undefined) {
        // Affects only new files. Twice SQLite's default page size makes large imports faster; still larger pages would slow
        // down reading a page of transactions.
        file.run('PRAGMA page_size = 8192');
        file.run('PRAGMA journal_mode = WAL');
      }
      connection.#configure(mapsFile);
    };
    await closingOnError(connection, () => connection.#retried(configure, OPEN_TIMEOUT_MS));
    return connection;
  }

  private constructor(path: string, file: SqliteFile, durable: boolean) {
    this.#path = path;
    this.#durable = durable;
    this.#file = file;
  }

  /** Throws a StorageError for a file without our tables, unless the file is empty and `create` is set. */
  #requireOurs(create: boolean): void {
    const sql = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;
    const tables = this.#statement(sql).all() as { name: string }[];
    if (tables.some(({ name }) => name === 'schema_version')) return;
    if (tables.length > 0)
      throw new StorageError(
        'invalid',
        `${this.#path} is not an Offerbook database: it has another program's tables`,
      );
    if (!create) throw noDatabase(placeOf(this.#path));
  }

  #configure(mapsFile: boolean): void {
    this.#file.run(`PRAGMA busy_timeout = ${READ_LOCK_TIMEOUT_MS}`);
    this.#file.run('PRAGMA foreign_keys = ON');
    // Overwrites the bytes of deleted and replaced rows with zeros.
    this.#file.run('PRAGMA secure_delete = ON');
    this.#file.run(`PRAGMA synchronous = ${this.#durable ? 'FULL' : 'NORMAL'}`);
    // From a mapped file, SQLite reads a page of transactions without copying database pages.
    if (mapsFile) this.#file.run(`PRAGMA mmap_size = ${MAPPED_BYTES_MAX}`);
    // 32 MiB. A larger cache would make imports slightly faster, but every reader would use that much memory.
    this.#file.run('PRAGMA cache_size = -32768');
    this.#file.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  }

  async all<Row>(statement: Statement, ...params: SqlValue[]): Promise<Row[]> {
    return this.#explained(() => withUuids(this.#statement(statement).all(...params) as Row[]));
  }

  /** Same as `all`: the statement itself casts the column to a BLOB, which bun:sqlite returns as bytes. */
  allWithBytes<Row>(statement: Statement, ...params: SqlValue[]): Promise<Row[]> {
    return this.all(statement, ...params);
  }

  /** Does nothing: the transaction holds the only write lock. */
  async lockSchema(): Promise<void> {}

  /** Does nothing: SQLite continues from the greatest number in the table, and `nextNumber` from the last number assigned. */
  async continueNumbers(): Promise<void> {}

  async requireRecordedTimeline(): Promise<void> {}

  async findMany<T extends Table>(
    table: T,
    keys: readonly string[],
    ...first: SqlValue[]
  ): Promise<RowOf<T>[]> {
    const names = columnsOf(table).map((name) => `${table.name}.${name}`);
    const type = typeOf(table, keyOf(table)[first.length] ?? '');
    const conditions = first.map((_, i) => `${names[i]} = $${i + 2} AND`);
    // One statement is faster than one per key. CROSS JOIN makes SQLite look up the keys instead of scanning the table.
    return this.all(
      `SELECT ${names.join(', ')} FROM ${SQLITE_DIALECT.valuesTable('$1', type)} CROSS JOIN ${table.name}
         ON ${conditions.join(' ')} ${names[first.length]} = v.value`,
      JSON.stringify(keys),
      ...first,
    );
  }

  async putMany<T extends Table>(table: T, rows: readonly RowOf<T>[]): Promise<void> {
    this.#explained(() => {
      const names = columnsOf(table);
      const put = this.#statement(upsertSql(table, `VALUES (${parametersOf(table)})`));
      for (const row of rows) put.run(...names.map((name) => row[name] as SqlValue));
    });
  }

  /** Same as `putMany`: on SQLite, a plain insert is no faster. */
  insertMany<T extends Table>(table: T, rows: readonly RowOf<T>[]): Promise<void> {
    return this.putMany(table, rows);
  }

  async deleteMany(table: Table, keys: readonly string[]): Promise<void> {
    this.#explained(() => {
      const [key = ''] = keyOf(table);
      const remove = this.#statement(
        `DELETE FROM ${table.name} WHERE ${key} = ${parametersOf(table, [key])}`,
      );
      for (const key of keys) remove.run(key);
    });
  }

  /** See Database.emptyLog(). */
  async emptyLog(): Promise<void> {
    const deadlineMs = performance.now() + EMPTY_LOG_TIMEOUT_MS;
    // SQLite's busy timeout would block this process, which may be using the log itself.
    await this.all('PRAGMA busy_timeout = 0');
    try {
      while (true) {
        const [row] = await this.all<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
        if (row?.busy === 0 || performance.now() >= deadlineMs) return;
        await Bun.sleep(LOCK_RETRY_MS);
      }
    } finally {
      await this.all(`PRAGMA busy_timeout = ${READ_LOCK_TIMEOUT_MS}`);
    }
  }

  /** Returns a number that changes when another connection, in this or another process, commits. */
  dataVersion(): number {
    return this.#explained(() => {
      const row = this.#statement('PRAGMA data_version').get() as { data_version: number };
      return row.data_version;
    });
  }

  async read<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#explained(() => this.#statement('BEGIN').run());
    return this.#finish(work);
  }

  async write<T>(work: (connection: Connection) => Promise<T>, lockTimeoutMs: number): Promise<T> {
    await this.#retried(() => {
      this.#file.run('PRAGMA busy_timeout = 0');
      try {
        this.#file.run('BEGIN IMMEDIATE');
      } finally {
        this.#file.run(`PRAGMA busy_timeout = ${READ_LOCK_TIMEOUT_MS}`);
      }
    }, lockTimeoutMs);
    const sync = this.#durable ? startEarlySync(this.#path) : undefined;
    try {
      return await this.#finish(async (connection) => {
        const result = await work(connection);
        sync?.commit();
        return result;
      });
    } catch (error) {
      await this.#shrinkLog();
      throw error;
    } finally {
      sync?.end();
    }
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
    this.#file.close();
  }

  async #finish<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      const result = await work(this);
      this.#explained(() => this.#statement('COMMIT').run());
      return result;
    } catch (error) {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (this.#file.inTransaction) this.#file.run('ROLLBACK');
      throw error;
    }
  }

  /** Truncates the log after a failed write. A rollback does not shrink the log, which may have filled the disk. */
  async #shrinkLog(): Promise<void> {
    if ((statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0) <= LOG_BYTES_MAX) return;
    try {
      // Waits for readers, which finish quickly unless they are loading a whole catalogue.
      await this.emptyLog();
    } catch {
      // A later write truncates the log to `journal_size_limit`.
    }
  }

  async #retried(attempt: () => void, timeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (true) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadlineMs) throw explainSqlite(error, this.#path);
      }
      await Bun.sleep(LOCK_RETRY_MS);
    }
  }

  #statement(statement: Statement): Prepared {
    return this.#statements.getOrInsertComputed(statement, () => {
      const text = typeof statement === 'string' ? statement : statement(SQLITE_DIALECT);
      return this.#file.prepare(
        text.replace(/\$(\d+)(::uuid)?/g, (_, number, isUuid) =>
          isUuid ? `unhex(?${number}, '-')` : `?${number}`,
        ),
      );
    });
  }

  #explained<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw explainSqlite(error, this.#path);
    }
  }
}
