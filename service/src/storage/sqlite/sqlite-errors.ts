// Converts SQLite's errors to StorageErrors with messages for the operator, and reports a corrupt file to every thread of this
// process.

import { SQLiteError } from 'bun:sqlite';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StorageError, type StorageErrorKind } from '../../domain/storage-error.ts';
import { busy } from '../database.ts';

const CORRUPTION_CHANNEL = 'offerbook-corruption';

interface Corruption {
  readonly path: string;
  readonly reason: string;
}

export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? '');
}

/** True if the cause is an SQLite error other than a locked file, such as a full disk. */
export function isFileFault(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof SQLiteError && !isBusy(error.cause);
}

export function explainSqlite(error: unknown, path: string): unknown {
  if (!(error instanceof SQLiteError)) return error;
  if (isBusy(error)) return busy(error);
  const failure = (kind: StorageErrorKind, message: string) =>
    new StorageError(kind, message, { cause: error });
  // Reduces an extended result code such as SQLITE_IOERR_WRITE to its primary code.
  switch (error.code?.split('_').slice(0, 2).join('_')) {
    case 'SQLITE_NOTADB':
      reportCorruption(path, `${path} is not an SQLite file`);
      return failure('invalid', `${path} is not an Offerbook database: it is not an SQLite file`);
    case 'SQLITE_CANTOPEN':
      if (hasNoFileHandles())
        return failure('unavailable', `${path} cannot be opened: too many files are open`);
      return failure('denied', `${path} cannot be opened: ${whyNot(path)}`);
    case 'SQLITE_READONLY':
    case 'SQLITE_PERM':
      return failure('denied', `${path} is read-only; nothing was written`);
    case 'SQLITE_FULL':
      return failure('full', `the disk with ${path} is full; nothing was written`);
    case 'SQLITE_CORRUPT':
      reportCorruption(path, error.message);
      return failure('corrupt', `${path} cannot be read or written (${error.message})`);
    case 'SQLITE_IOERR':
    case 'SQLITE_NOMEM':
    case 'SQLITE_PROTOCOL':
      return failure('unavailable', `${path} cannot be read or written (${error.message})`);
    default:
      return error;
  }
}

/**
 * SQLite doesn't say why open() failed, so probe /dev/null for EMFILE. Never probe the database file: closing any descriptor
 * on it drops every POSIX lock this process holds.
 */
function hasNoFileHandles(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return false;
  } catch (error) {
    const { code } = error as { code?: unknown };
    return code === 'EMFILE' || code === 'ENFILE';
  }
}

function whyNot(path: string): string {
  if (!mayLookAt(path))
    return "this user has no access to the file's folder; run this command as the service user";
  if (existsSync(path) && statSync(path).isDirectory()) return 'it is a folder, not a file';
  if (!existsSync(dirname(path))) return `the folder ${dirname(path)} does not exist`;
  return 'check the permissions of the file and its folder';
}

/** Returns false if this user has no access to the file's folder; whether the file exists is then unknown. */
export function mayLookAt(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== 'EACCES';
  }
}

/**
 * Each thread has its own connections, and only those that read a damaged page notice. The next statement may succeed, because
 * it reads other pages.
 */
function reportCorruption(path: string, reason: string): void {
  const channel = new BroadcastChannel(CORRUPTION_CHANNEL);
  channel.postMessage({ path: resolve(path), reason } satisfies Corruption);
  channel.close();
}

/** Returns a function that stops watching. */
export function watchCorruption(paths: readonly string[], onCorrupt: (reason: string) => void): () => void {
  const watched = paths.map((path) => resolve(path));
  const channel = new BroadcastChannel(CORRUPTION_CHANNEL);
  channel.onmessage = (message) => {
    const { path, reason } = message.data as Corruption;
    if (watched.includes(path)) onCorrupt(reason);
  };
  channel.unref();
  return () => channel.close();
}
