// One connection to an SQLite file. Its statements run in this process and block it while they run; waiting
// for a lock does not.

import {
  constants,
  type Statement as PreparedStatement,
  SQLiteError,
  type SQLQueryBindings,
  Database as SqliteFile,
} from 'bun:sqlite';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StorageError } from '../../domain/storage-error.ts';
import {
  type Connection,
  columnsOf,
  type DatabaseOptions,
  noDatabase,
  type SqlValue,
  type Table,
  type TableRow,
  upsertSql,
} from '../database.ts';
import type { Statement } from '../sql.ts';
import { EarlySync } from './early-sync.ts';
import { emptyLog } from './empty-log.ts';
import { explainSqlite, isBusy, mayLookAt } from './sqlite-errors.ts';
import { SQLITE_SQL } from './sqlite-sql.ts';

/** SQLite's own waiting would block this process, its requests and whatever in it holds the lock: we ask again instead. */
const LOCK_RETRY_MS = 10;
/** Readers never wait for a writer under WAL, only for the moment in which one cleans up after a crash. */
const READ_LOCK_TIMEOUT_MS = 1_000;
/** As much as SQLite allows; of a larger file, the first part. It counts as memory of the process, but the system can take it back. */
const MAPPED_BYTES_MAX = 2 ** 31;
/** A write-ahead log that a failed write leaves behind may be as large as this: as much as it is in normal times. */
const LOG_BYTES_MAX = 16 * 1024 * 1024;
const SHRINK_TIMEOUT_MS = 2_000;
/** Switching a new file to WAL needs it for a moment alone, while other processes may be doing the same. */
const OPEN_TIMEOUT_MS = 10_000;

type Prepared = PreparedStatement<unknown, SQLQueryBindings[]>;

export class SqliteConnection implements Connection {
  readonly #file: SqliteFile;
  readonly #path: string;
  /** Whether a commit waits for the disk. */
  readonly #durable: boolean;
  /** bun:sqlite keeps only twenty statements by itself. */
  readonly #statements = new Map<Statement, Prepared>();

  static async open(
    path: string,
    {
      access,
      create = false,
      durable = true,
      mapsFile = false,
      overwritesDeleted = false,
    }: Partial<DatabaseOptions> = {},
  ): Promise<SqliteConnection> {
    if (create) createFile(path);
    else if (mayLookAt(path) && !existsSync(path) && existsSync(dirname(path)))
      throw noDatabase(placeOf(path));
    if (access === 'read') return SqliteConnection.#openToRead(path, mapsFile);
    const connection = new SqliteConnection(path, openWritable(path), durable);
    try {
      // Before anything is set: a file that is not ours stays as it is.
      await connection.#retried(() => connection.#requireOurs(create), OPEN_TIMEOUT_MS);
      if (access === 'dry run') {
        connection.#explained(() => connection.#configure(mapsFile));
        return connection;
      }
      // Only a new file takes it. Twice the usual size: a large import takes a quarter less time. Four times
      // would save a little more, and make reading a page of transactions noticeably slower.
      connection.#explained(() => connection.#file.run('PRAGMA page_size = 8192'));
      await connection.#retried(() => connection.#file.run('PRAGMA journal_mode = WAL'), OPEN_TIMEOUT_MS);
      connection.#explained(() => connection.#configure(mapsFile));
      if (overwritesDeleted) await connection.overwriteDeleted();
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Changes neither the file nor its folder, once the connection is closed. */
  static async #openToRead(path: string, mapsFile: boolean): Promise<SqliteConnection> {
    try {
      return await SqliteConnection.#openReader(path, openReadable(path), mapsFile);
    } catch (error) {
      if (!cannotMakeLog(error, path)) throw error;
      // In a folder that this user may not write, SQLite cannot create the log without which it does not read a file in WAL mode.
      // Without a log, the file is the whole database, and nothing changes it.
      return SqliteConnection.#openReader(path, openImmutable(path), mapsFile);
    }
  }

  static async #openReader(path: string, file: SqliteFile, mapsFile: boolean): Promise<SqliteConnection> {
    const connection = new SqliteConnection(path, file, false);
    try {
      await connection.#retried(() => connection.#requireOurs(false), OPEN_TIMEOUT_MS);
      connection.#explained(() => connection.#configure(mapsFile));
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  private constructor(path: string, file: SqliteFile, durable: boolean) {
    this.#path = path;
    this.#durable = durable;
    this.#file = file;
  }

  /** Throws a StorageError for a file without our tables, unless it is empty and may be filled. */
  #requireOurs(create: boolean): void {
    const sql = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;
    const tables = this.#statement(sql).all() as { name: string }[];
    if (tables.some(({ name }) => name === 'schema_version')) return;
    if (tables.length > 0)
      throw new StorageError(
        'invalid',
        `${this.#path} is not an Offerbook database: it has the tables of another program`,
      );
    if (!create) throw noDatabase(placeOf(this.#path));
  }

  #configure(mapsFile: boolean): void {
    this.#file.run(`PRAGMA busy_timeout = ${READ_LOCK_TIMEOUT_MS}`);
    this.#file.run('PRAGMA foreign_keys = ON');
    // An import that reported success must survive a power cut, so commits wait for the disk.
    this.#file.run(`PRAGMA synchronous = ${this.#durable ? 'FULL' : 'NORMAL'}`);
    // Reading a page of transactions takes 40 % less time when the file is mapped instead of copied piece by piece.
    if (mapsFile) this.#file.run(`PRAGMA mmap_size = ${MAPPED_BYTES_MAX}`);
    // 32 MiB: twice as much would make a large import a little faster, and every reader that much larger.
    this.#file.run('PRAGMA cache_size = -32768');
    this.#file.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  }

  async all<Row>(statement: Statement, ...params: SqlValue[]): Promise<Row[]> {
    return this.#explained(() => this.#statement(statement).all(...params) as Row[]);
  }

  /** The statement casts to a BLOB, which arrives as bytes. */
  allWithBytes<Row>(statement: Statement, ...params: SqlValue[]): Promise<Row[]> {
    return this.all(statement, ...params);
  }

  async overwriteDeleted(): Promise<void> {
    this.#explained(() => this.#file.run('PRAGMA secure_delete = ON'));
  }

  /** Does nothing: the transaction holds the only write lock. */
  async lockSchema(): Promise<void> {}

  /** Does nothing: SQLite numbers rows by the greatest number in the table, and `nextNumber` by the last one given. */
  async continueNumbers(): Promise<void> {}

  async findMany<Row>(table: Table, keys: readonly string[]): Promise<Row[]> {
    return this.#explained(() => {
      const names = columnsOf(table).map((name) => `${table.name}.${name}`);
      // One statement for all keys takes half the time of one for each. CROSS: look up keys, never scan the table.
      const find = this.#statement(
        `SELECT ${names.join(', ')} FROM json_each($1) AS k CROSS JOIN ${table.name} ON ${names[0]} = k.value`,
      );
      return find.all(JSON.stringify(keys)) as Row[];
    });
  }

  async putMany<Column extends string>(
    table: Table<Column>,
    rows: readonly TableRow<Column>[],
  ): Promise<number> {
    return this.#explained(() => {
      const names = columnsOf(table);
      const values = names.map((_, i) => `$${i + 1}`).join(', ');
      const put = this.#statement(upsertSql(table, `VALUES (${values})`));
      return rows.reduce((written, row) => written + put.run(...names.map((name) => row[name])).changes, 0);
    });
  }

  async deleteMany(table: Table, keys: readonly string[]): Promise<void> {
    this.#explained(() => {
      const remove = this.#statement(`DELETE FROM ${table.name} WHERE ${columnsOf(table)[0]} = $1`);
      for (const key of keys) remove.run(key);
    });
  }

  /** A number that changes when another connection, of this process or another, has committed. */
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
    const sync = this.#durable ? new EarlySync(this.#path) : undefined;
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
      // SQLite has already rolled back by itself after some errors, a full disk among them.
      if (this.#file.inTransaction) this.#file.run('ROLLBACK');
      throw error;
    }
  }

  /** What a write has put into the log stays there when it is undone: gigabytes, on a disk that may be full of them. */
  async #shrinkLog(): Promise<void> {
    if ((statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0) <= LOG_BYTES_MAX) return;
    try {
      // Not while others read. They do for a moment only, save those who load a whole catalogue.
      await emptyLog(this, SHRINK_TIMEOUT_MS);
    } catch {
      // The next write that can does it, beyond `journal_size_limit`.
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
    const known = this.#statements.get(statement);
    if (known !== undefined) return known;
    const text = typeof statement === 'string' ? statement : statement(SQLITE_SQL);
    const prepared: Prepared = this.#file.prepare(text.replace(/\$(\d+)/g, '?$1'));
    this.#statements.set(statement, prepared);
    return prepared;
  }

  #explained<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw explainSqlite(error, this.#path);
    }
  }
}

function openWritable(path: string): SqliteFile {
  return openFile(path, () => new SqliteFile(path, { create: false, readwrite: true, strict: true }));
}

/**
 * The last connection to a file in WAL mode writes the log into the file and deletes the log, unless it is read-only. A log with
 * content belongs to a running server or to one that was killed: it stays. An empty log, which a connection that only reads
 * creates, goes.
 */
function openReadable(path: string): SqliteFile {
  if (!hasLog(path)) return openWritable(path);
  return openFile(path, () => new SqliteFile(path, { readonly: true, strict: true }));
}

function openImmutable(path: string): SqliteFile {
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
  const url = `${pathToFileURL(path).href}?immutable=1`;
  return openFile(path, () => new SqliteFile(url, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
}

function openFile(path: string, open: () => SqliteFile): SqliteFile {
  try {
    return open();
  } catch (error) {
    throw explainSqlite(error, path);
  }
}

function hasLog(path: string): boolean {
  return ['-wal', '-journal'].some(
    (end) => (statSync(`${path}${end}`, { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
}

function cannotMakeLog(error: unknown, path: string): boolean {
  const { cause } = error as Error;
  const isDenied = cause instanceof SQLiteError && /^SQLITE_(CANTOPEN|READONLY)/.test(cause.code ?? '');
  return isDenied && existsSync(path) && !hasLog(path);
}

export function placeOf(path: string): string {
  return `at ${resolve(path)}`;
}

/** For nobody else to read: it holds everybody's transactions. SQLite gives the files beside it the same mode. */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // There is one, or SQLite finds out in a moment why there cannot be one.
  }
}
