// Opens a database by its URL. Separate from open-stores.ts, so that the thread that reads the catalogue does not load the stores.

import { StorageError } from '../domain/storage-error.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { openPostgres } from './postgres/postgres.ts';
import { realPath } from './sqlite/real-path.ts';
import { openSqlite } from './sqlite/sqlite.ts';

/** For servers, whose requests must not wait for locks and whose writes need not survive a power cut. */
export const SERVER_OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: 2_000,
  connectionsMax: 2,
  pageConnectionsMax: 7,
  mapsFile: true,
};

/** Suffix of the click file beside an SQLite database. */
export const CLICK_END = '-activations';

/**
 * Returns the path of an SQLite database. Resolves symbolic links, so that every path to the database has the same click file.
 */
export function sqlitePath(url: string): string | undefined {
  const given = /^sqlite:(.+)$/s.exec(url)?.[1];
  return given === undefined ? undefined : realPath(given);
}

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const path = sqlitePath(url);
  if (path !== undefined) return openSqlite(path, options);
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, options);
  // The message must not repeat the URL, which may contain a password.
  throw new StorageError('settings', 'the database URL must be sqlite:PATH or postgres://…');
}
