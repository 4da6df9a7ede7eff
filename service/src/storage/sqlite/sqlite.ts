// The SQLite implementation of Database (the default), on bun:sqlite. One connection writes. Reads use other connections, so in
// WAL mode they are not blocked by an import. Single statements and the watch share a connection that stays open.

import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import type { Connection, Database, DatabaseOptions, SqlValue } from '../database.ts';
import { openOnce } from '../open-once.ts';
import type { Statement } from '../sql.ts';
import { placeOf } from './open-file.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { SQLITE_DIALECT } from './sqlite-dialect.ts';
import { SQLITE_MAIN } from './sqlite-schemas.ts';

const WATCH_INTERVAL_MS = 200;
const IDLE_READERS_MAX = 4;

export function openSqlite(path: string, options: DatabaseOptions): Database {
  if (path === ':memory:') {
    throw new StorageError(
      'settings',
      'the database must be a file, because several connections cannot share an in-memory database',
    );
  }
  const { access, create = false } = options;
  const idleReaders: SqliteConnection[] = [];
  const mapsFile = options.mapsFile === true;
  // Stays open, so that a revocation takes effect even when the process has run out of file descriptors. Single statements run
  // synchronously, so they need only one connection.
  const single = openOnce(() => SqliteConnection.open(path, { access, create, mapsFile }));
  // Opened on the first write, so that a server can read a database that it has no permission to write to.
  const writer = openOnce(() => SqliteConnection.open(path, { access, create, durable: options.durable }));
  let lastWrite: Promise<unknown> = Promise.resolve();
  /** Reads in progress; `close` waits for them. */
  const reading = new Set<Promise<unknown>>();
  let closed = false;

  /** A connection opened after `close` would never be closed and would leave its log behind at exit. */
  function requireOpen(): void {
    if (closed) throw new StorageError('unavailable', 'the database has been closed');
  }

  async function withReader<T>(work: (connection: Connection) => Promise<T>, isKept: boolean): Promise<T> {
    requireOpen();
    const idle = isKept ? idleReaders.pop() : undefined;
    const reader =
      idle ?? (await SqliteConnection.open(path, { access, create, mapsFile: mapsFile && isKept }));
    try {
      return await reader.read(work);
    } finally {
      if (isKept && idleReaders.length < IDLE_READERS_MAX) idleReaders.push(reader);
      else reader.close();
    }
  }

  function untilRead<T>(read: Promise<T>): Promise<T> {
    reading.add(read);
    return read.finally(() => reading.delete(read));
  }

  async function all<Row>(statement: Statement, ...params: SqlValue[]): Promise<Row[]> {
    requireOpen();
    return (await single.open()).all(statement, ...params);
  }

  /**
   * Tries to acquire the write lock on a new connection, without writing. Returns undefined if the attempt fails for any reason
   * other than a held lock.
   */
  async function isWriteLockHeld(): Promise<boolean | undefined> {
    try {
      const connection = await SqliteConnection.open(path, { access: 'dry run', durable: false });
      try {
        await connection.write(async () => {}, 0);
        return false;
      } finally {
        connection.close();
      }
    } catch (error) {
      return isStorageError(error, 'busy') ? true : undefined;
    }
  }

  return {
    sql: SQLITE_DIALECT,
    schema: SQLITE_MAIN,
    all,
    allWithBytes: all,
    read: (work) => untilRead(withReader(work, true)),
    readOnce: (work) => untilRead(withReader(work, false)),
    async write(work, lockTimeoutMs = options.lockTimeoutMs) {
      requireOpen();
      if (access === 'read') throw new Error('this database was opened for reading');
      const deadlineMs = performance.now() + lockTimeoutMs;
      // The time spent in the queue behind earlier writes counts towards the timeout.
      const run = lastWrite.then(async () =>
        (await writer.open()).write(work, Math.max(0, deadlineMs - performance.now())),
      );
      lastWrite = run.catch(() => {});
      return run;
    },
    watch(onChange) {
      let seen: number | undefined;
      let isStopped = false;
      const timer = setInterval(async () => {
        const polled = single.open().then((connection) => connection.dataVersion());
        // If this poll fails, the next one may succeed.
        const version = await polled.catch(() => seen);
        if (version !== seen && !isStopped) onChange();
        seen = version;
      }, WATCH_INTERVAL_MS);
      return () => {
        isStopped = true;
        clearInterval(timer);
      };
    },
    async emptyLog() {
      requireOpen();
      await (await single.open()).emptyLog();
    },
    isWriteLockHeld,
    pools: () => undefined,
    rivals: () => [],
    recordFailover: async () => {},
    describePlace: async () => placeOf(path),
    async close() {
      closed = true;
      await lastWrite;
      await Promise.allSettled(reading);
      for (const reader of idleReaders.splice(0)) reader.close();
      await single.close();
      await writer.close();
    },
  };
}
