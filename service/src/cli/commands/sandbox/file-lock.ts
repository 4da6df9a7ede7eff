// Prevents two sandboxes from using the same database file. The lock is an exclusive SQLite transaction on an empty file next
// to the database. The operating system releases it when the process ends, even after SIGKILL.

import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { BadInput } from '@offerbook/wire/failures.ts';

/** Returns a function that releases the lock. `path` must not contain symbolic links, or one file could have two locks. */
export function lockFile(path: string): () => void {
  requireFolder(dirname(path));
  const lockPath = `${path}-lock`;
  let lock: Database | undefined;
  try {
    lock = new Database(lockPath, { create: true, readwrite: true });
    lock.run('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    throw explain(error, path);
  }
  const held = lock;
  return () => {
    // Delete the file before unlocking it: afterwards it may be another sandbox's lock.
    rmSync(lockPath, { force: true });
    held.close();
  };
}

function requireFolder(folder: string): void {
  if (!existsSync(folder)) throw new BadInput(`the folder ${folder} does not exist`);
  if (!statSync(folder).isDirectory()) throw new BadInput(`${folder} is a file, not a folder`);
}

function explain(error: unknown, path: string): unknown {
  if (!(error instanceof SQLiteError)) return error;
  if (error.code?.startsWith('SQLITE_BUSY') === true) {
    return new BadInput(
      `another sandbox is using ${path}; stop it first, or choose another file and port with --database sqlite:PATH --port NUMBER`,
      { cause: error },
    );
  }
  return new BadInput(
    `the folder ${dirname(path)} is not writable; start in another folder, or choose a file elsewhere with --database sqlite:PATH`,
    { cause: error },
  );
}
