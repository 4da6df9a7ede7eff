// Opens the database that a URL names. Apart from the stores, so that the thread that reads the catalogue starts without
// all the others.

import { BadInput } from '../domain/failures.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { openPostgres } from './postgres/postgres.ts';
import { openSqlite } from './sqlite/sqlite.ts';

/** For servers: a request must not wait, and SQLite would hold up all the others. What they write may be lost. */
export const SERVER_OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: 2_000,
  connectionsMax: 2,
  pageConnectionsMax: 7,
  mapsFile: true,
};

/** Clicks have a file of their own beside an SQLite database: its path with this at the end. */
export const CLICK_END = '-activations';

/** The path of an SQLite database; undefined for any other URL. */
export function sqlitePath(url: string): string | undefined {
  return /^sqlite:(.+)$/s.exec(url)?.[1];
}

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const path = sqlitePath(url);
  if (path !== undefined) return openSqlite(path, options);
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, options);
  // The URL is not repeated: it may hold a password.
  throw new BadInput('the database URL must be sqlite:PATH or postgres://…');
}
