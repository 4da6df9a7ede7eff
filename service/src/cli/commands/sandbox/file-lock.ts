// Keeps two sandboxes from using one file. The operating system holds the lock for SQLite, on an empty file beside
// the database. It ends with the process, however that ends, so it is never left behind.

import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { BadInput } from '@offerbook/wire/failures.ts';

/** Returns what releases it. `path`: without links, so that the same file under two names has one lock. */
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
    // The file goes first: once the lock is gone it may be another's.
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
      `another sandbox is using ${path}; stop it first, or give this one a file and a port of its own with --database sqlite:PATH --port NUMBER`,
      { cause: error },
    );
  }
  return new BadInput(
    `nothing can be written in the folder ${dirname(path)}; start in another folder, or name a file elsewhere with --database sqlite:PATH`,
    { cause: error },
  );
}
