// SQLite, the embedded default, through bun:sqlite. One connection writes; reads use connections of their
// own, so that WAL lets them go on while an import runs. Statements run in this process and block it, which
// is why a server keeps them small and never waits for a lock.

import { SQLiteError, Database as SqliteFile } from 'bun:sqlite';
import { BadInput, DatabaseUnavailable } from '../domain/errors.ts';
import {
  busy,
  type Connection,
  type Database,
  type DatabaseOptions,
  type SqlValue,
  type Table,
  upsertSql,
} from './database.ts';

const WATCH_INTERVAL_MS = 200;
/** Readers never wait for a writer under WAL, only for the moment in which one cleans up after a crash. */
const READ_LOCK_TIMEOUT_MS = 1_000;
/** SQLite's own waiting would block this process, its requests and whatever in it holds the lock: we ask again instead. */
const LOCK_RETRY_MS = 10;
const IDLE_READERS_MAX = 4;

export function openSqlite(path: string, options: DatabaseOptions): Database {
  const idleReaders: SqliteConnection[] = [];
  let writer: SqliteConnection | undefined;
  let lastWrite: Promise<unknown> = Promise.resolve();

  async function withReader<T>(work: (reader: SqliteConnection) => Promise<T>): Promise<T> {
    const reader = idleReaders.pop() ?? new SqliteConnection(path);
    try {
      return await work(reader);
    } finally {
      if (idleReaders.length < IDLE_READERS_MAX) idleReaders.push(reader);
      else reader.close();
    }
  }

  return {
    dialect: 'sqlite',
    all: (sql, ...params) => withReader((reader) => reader.all(sql, ...params)),
    read: (work) => withReader((reader) => reader.transaction('BEGIN', work)),
    write(work) {
      const run = lastWrite.then(() => {
        // Opened late, so that a server can still read a database that it may not write.
        writer ??= new SqliteConnection(path);
        return writer.transaction('BEGIN IMMEDIATE', work, options.lockTimeoutMs);
      });
      lastWrite = run.catch(() => {});
      return run;
    },
    watch(onChange) {
      const watcher = new SqliteConnection(path);
      let seen = watcher.dataVersion();
      const timer = setInterval(() => {
        const now = watcher.dataVersion();
        if (now === seen) return;
        seen = now;
        onChange();
      }, WATCH_INTERVAL_MS);
      return () => {
        clearInterval(timer);
        watcher.close();
      };
    },
    async close() {
      await lastWrite;
      for (const reader of idleReaders.splice(0)) reader.close();
      writer?.close();
    },
  };
}

class SqliteConnection implements Connection {
  readonly #file: SqliteFile;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    this.#file = this.#explained(() => new SqliteFile(path, { create: true, readwrite: true, strict: true }));
    this.#explained(() => {
      this.#file.run(`PRAGMA busy_timeout = ${READ_LOCK_TIMEOUT_MS}`);
      this.#file.run('PRAGMA journal_mode = WAL');
      this.#file.run('PRAGMA foreign_keys = ON');
      // An import that reported success must survive a power cut, so commits wait for the disk.
      this.#file.run('PRAGMA synchronous = FULL');
      // 64 MiB, so that a large import does not spill its pages to disk more than once.
      this.#file.run('PRAGMA cache_size = -65536');
      this.#file.run('PRAGMA journal_size_limit = 67108864');
    });
  }

  async all<Row>(sql: string, ...params: SqlValue[]): Promise<Row[]> {
    return this.#explained(() => this.#statement(sql).all(...params) as Row[]);
  }

  async findMany<Row>(table: Table, keys: readonly string[]): Promise<Row[]> {
    return this.#explained(() => {
      const [key] = columnNames(table);
      const find = this.#statement(
        `SELECT ${columnNames(table).join(', ')} FROM ${table.name} WHERE ${key} = $1`,
      );
      return keys.map((value) => find.get(value) as Row | null).filter((row) => row !== null);
    });
  }

  async putMany(table: Table, rows: readonly (readonly SqlValue[])[]): Promise<number> {
    return this.#explained(() => {
      const values = table.columns.map((_, i) => `$${i + 1}`).join(', ');
      const put = this.#statement(upsertSql(table, `VALUES (${values})`));
      return rows.reduce((written, row) => written + put.run(...row).changes, 0);
    });
  }

  async deleteMany(table: Table, keys: readonly string[]): Promise<void> {
    this.#explained(() => {
      const remove = this.#statement(`DELETE FROM ${table.name} WHERE ${columnNames(table)[0]} = $1`);
      for (const key of keys) remove.run(key);
    });
  }

  /** Nothing to do: a commit moves the data version of every other connection, and that is what is watched. */
  async announce(): Promise<void> {}

  dataVersion(): number {
    return this.#explained(() => {
      const row = this.#file.query('PRAGMA data_version').get() as { data_version: number };
      return row.data_version;
    });
  }

  async transaction<T>(
    begin: 'BEGIN' | 'BEGIN IMMEDIATE',
    work: (connection: Connection) => Promise<T>,
    lockTimeoutMs = 0,
  ): Promise<T> {
    await this.#begin(begin, lockTimeoutMs);
    try {
      const result = await work(this);
      this.#explained(() => this.#file.run('COMMIT'));
      return result;
    } catch (error) {
      // SQLite has already rolled back by itself after some errors, a full disk among them.
      if (this.#file.inTransaction) this.#file.run('ROLLBACK');
      throw error;
    }
  }

  async #begin(begin: string, lockTimeoutMs: number): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += LOCK_RETRY_MS) {
      try {
        this.#file.run('PRAGMA busy_timeout = 0');
        this.#file.run(begin);
        return;
      } catch (error) {
        if (!isBusy(error) || waitedMs >= lockTimeoutMs) throw explain(error, this.#path);
      } finally {
        this.#file.run(`PRAGMA busy_timeout = ${READ_LOCK_TIMEOUT_MS}`);
      }
      await Bun.sleep(LOCK_RETRY_MS);
    }
  }

  close(): void {
    this.#file.close();
  }

  #statement(sql: string) {
    return this.#file.query(sql.replace(/\$(\d+)/g, '?$1'));
  }

  #explained<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw explain(error, this.#path);
    }
  }
}

function columnNames(table: Table): string[] {
  return table.columns.map(([name]) => name);
}

function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? '');
}

/** SQLite's own error as a sentence for the operator. */
function explain(error: unknown, path: string): unknown {
  if (!(error instanceof SQLiteError)) return error;
  if (isBusy(error)) return busy(error);
  switch (error.code?.split('_').slice(0, 2).join('_')) {
    case 'SQLITE_NOTADB':
      return new BadInput(`${path} is not an Offerbook database: it is not an SQLite file`, { cause: error });
    case 'SQLITE_CANTOPEN':
      return new BadInput(`${path} cannot be opened: check that its folder exists and may be written`, {
        cause: error,
      });
    case 'SQLITE_READONLY':
      return new BadInput(`${path} is read-only: nothing was written`, { cause: error });
    case 'SQLITE_FULL':
      return new DatabaseUnavailable(`the disk that holds ${path} is full: nothing was written`, {
        cause: error,
      });
    case 'SQLITE_IOERR':
    case 'SQLITE_CORRUPT':
      return new DatabaseUnavailable(`${path} cannot be read or written (${error.message})`, {
        cause: error,
      });
    default:
      return error;
  }
}
