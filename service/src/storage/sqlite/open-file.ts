// Opens SQLite files. Any opener but openAlone() can share the file with other connections.

import { constants, SQLiteError, Database as SqliteFile } from 'bun:sqlite';
import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StorageError } from '../../domain/storage-error.ts';
import { noDatabase } from '../database.ts';
import { explainSqlite, isBusy, mayLookAt } from './sqlite-errors.ts';

/** `immutable`: reads a file that no process changes, without locks and without a log. */
export type OpenMode = 'writable' | 'readonly' | 'immutable';

export function openFile(path: string, mode: OpenMode): SqliteFile {
  try {
    if (mode === 'writable') return new SqliteFile(path, { create: false, readwrite: true, strict: true });
    if (mode === 'readonly') return new SqliteFile(path, { readonly: true, strict: true });
    const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
    const url = `${pathToFileURL(path).href}?immutable=1`;
    return new SqliteFile(url, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  } catch (error) {
    throw explainSqlite(error, path);
  }
}

/**
 * Opens a file with an exclusive lock. Fails if any other connection is open, even a read-only one. Also checkpoints the
 * write-ahead log, so that the file is complete without the log.
 */
export function openAlone(path: string): SqliteFile {
  const file = openFile(path, 'writable');
  try {
    file.run('PRAGMA busy_timeout = 0');
    file.run('PRAGMA locking_mode = EXCLUSIVE');
    // Fails if another connection is open: in WAL mode, even an idle connection holds a shared lock on the file.
    file.run('BEGIN EXCLUSIVE');
    file.run('COMMIT');
    file.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return file;
  } catch (error) {
    file.close();
    if (!isBusy(error)) throw explainSqlite(error, path);
    const message = `${path} is in use; stop all servers and imports first (nothing was changed)`;
    throw new StorageError('busy', message, { cause: error });
  }
}

/** Detaches the old connection from its log files. Otherwise, closing the connection would delete the new database's logs. */
export function leaveLogs(old: SqliteFile, path: string): void {
  old.run('PRAGMA journal_mode = DELETE');
  old.run('PRAGMA journal_mode = MEMORY');
  // The switch to DELETE leaves an empty journal behind.
  rmSync(`${path}-journal`, { force: true });
}

/** Creates the file with mode 0600, because it will contain all transactions. SQLite gives -wal and -shm the same mode. */
export function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // Either the file exists, or SQLite will report the reason when it opens the file.
  }
}

/** Throws a StorageError if the file is missing in a folder that exists and that this user may search. */
export function requireFile(path: string): void {
  if (mayLookAt(path) && !existsSync(path) && existsSync(dirname(path))) throw noDatabase(placeOf(path));
}

export function hasLog(path: string): boolean {
  return ['-wal', '-journal'].some(
    (end) => (statSync(`${path}${end}`, { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
}

/** True if SQLite was not allowed to create a log beside the file, which therefore was not read, and the file needs no log. */
export function cannotMakeLog(error: unknown, path: string): boolean {
  const { cause } = error as Error;
  const isDenied = cause instanceof SQLiteError && /^SQLITE_(CANTOPEN|READONLY)/.test(cause.code ?? '');
  return isDenied && existsSync(path) && !hasLog(path);
}

export function placeOf(path: string): string {
  return `at ${resolve(path)}`;
}
