// Opens the database that a URL names. Apart from the stores, so that the thread that reads the catalogue starts without
// all the others.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { StorageError } from '../domain/storage-error.ts';
import type { Database, DatabaseOptions } from './database.ts';
import { openPostgres } from './postgres/postgres.ts';
import { realPath } from './sqlite/real-path.ts';
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

/**
 * The path of an SQLite database; undefined for any other URL. One file is one database: every name of it leads to the
 * same clicks.
 */
export function sqlitePath(url: string): string | undefined {
  const given = /^sqlite:(.+)$/s.exec(url)?.[1];
  if (given === undefined) return undefined;
  const path = realPath(given);
  requireClicksBeside(path, given);
  return path;
}

/** Throws a StorageError for clicks beside a link to the database, where an earlier Offerbook kept them. */
function requireClicksBeside(path: string, given: string): void {
  const [old, now] = [`${given}${CLICK_END}`, `${path}${CLICK_END}`];
  if (path === given || !existsSync(old) || resolve(realPath(old)) === resolve(realPath(now))) return;
  const where = `${given} is a link to ${path}, but there are clicks beside the link`;
  throw new StorageError(
    'conflict',
    existsSync(now)
      ? `${where}, in ${old}, and others in ${now}; put them together as docs/operations/databases.md says`
      : `${where}; stop all servers and move ${old} to ${now}, and ${old}-wal, if it is there, to ${now}-wal; clicks may also wait in a spool, see docs/operations/databases.md`,
  );
}

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const path = sqlitePath(url);
  if (path !== undefined) return openSqlite(path, options);
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgres(url, options);
  // The URL is not repeated: it may hold a password.
  throw new StorageError('settings', 'the database URL must be sqlite:PATH or postgres://…');
}
