// SQLite, the embedded default, through bun:sqlite. One connection writes; reads use connections of their
// own, so that WAL lets them go on while an import runs.

import { BadInput } from '../../domain/failures.ts';
import type { Database, DatabaseOptions } from '../database.ts';
import { placeOf, SqliteConnection } from './sqlite-connection.ts';

const WATCH_INTERVAL_MS = 200;
const IDLE_READERS_MAX = 4;

export function openSqlite(path: string, options: DatabaseOptions): Database {
  if (path === ':memory:') {
    throw new BadInput('the database must be a file: several connections could not share one in memory');
  }
  const { create = false } = options;
  const idleReaders: SqliteConnection[] = [];
  let writer: Promise<SqliteConnection> | undefined;
  let lastWrite: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function withReader<T>(work: (reader: SqliteConnection) => Promise<T>): Promise<T> {
    const reader =
      idleReaders.pop() ??
      (await SqliteConnection.open(path, { create, mapsFile: options.mapsFile === true }));
    try {
      return await work(reader);
    } finally {
      if (!closed && idleReaders.length < IDLE_READERS_MAX) idleReaders.push(reader);
      else reader.close();
    }
  }

  /** Opened late, so that a server can still read a database that it may not write. */
  async function openWriter(): Promise<SqliteConnection> {
    const opening = writer ?? SqliteConnection.open(path, { create, durable: options.durable });
    writer = opening;
    try {
      return await opening;
    } catch (error) {
      writer = undefined;
      throw error;
    }
  }

  return {
    dialect: 'sqlite',
    all: (sql, ...params) => withReader((reader) => reader.all(sql, ...params)),
    allWithBytes: (sql, ...params) => withReader((reader) => reader.allWithBytes(sql, ...params)),
    read: (work) => withReader((reader) => reader.read(work)),
    async readOnce(work) {
      const reader = await SqliteConnection.open(path, { create });
      try {
        return await reader.read(work);
      } finally {
        reader.close();
      }
    },
    write(work, lockTimeoutMs = options.lockTimeoutMs) {
      const deadlineMs = performance.now() + lockTimeoutMs;
      // Those before this one may have waited for the same lock.
      const run = lastWrite.then(async () =>
        (await openWriter()).write(work, Math.max(0, deadlineMs - performance.now())),
      );
      lastWrite = run.catch(() => {});
      return run;
    },
    watch: (onChange) => watchFile(path, onChange),
    describePlace: async () => placeOf(path),
    async close() {
      closed = true;
      await lastWrite;
      for (const reader of idleReaders.splice(0)) reader.close();
      (await writer)?.close();
    },
  };
}

function watchFile(path: string, onChange: () => void): () => void {
  let watcher: SqliteConnection | undefined;
  let seen: number | undefined;
  let timer: Timer | undefined;
  let stopped = false;

  async function look(): Promise<void> {
    try {
      watcher ??= await SqliteConnection.open(path);
      const version = watcher.dataVersion();
      if (version !== seen && !stopped) onChange();
      seen = version;
    } catch {
      // A look that fails says nothing about the data; the next one may succeed.
    }
    if (stopped) watcher?.close();
    else timer = setTimeout(look, WATCH_INTERVAL_MS);
  }

  void look();
  return () => {
    stopped = true;
    // Between two looks there is nobody else to close it.
    if (timer !== undefined) watcher?.close();
    clearTimeout(timer);
  };
}
