// Copies, syncs and checksums files for backup and restore, and creates folders.

import { closeSync, constants, fsyncSync, linkSync, mkdtempSync, openSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StorageError } from '../../domain/storage-error.ts';

/** Syncs a file, or the entries of a folder, to disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export async function sumOf(path: string) {
  const hash = new Bun.CryptoHasher('sha256');
  let bytes = 0;
  for await (const chunk of Bun.file(path).stream()) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Runs `work` and converts system errors such as ENOSPC to StorageErrors. */
export async function withFileErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code)))) throw error;
    const kind = error.code === 'ENOSPC' ? 'full' : error.code === 'EACCES' ? 'denied' : 'invalid';
    throw new StorageError(kind, error.message, { cause: error });
  }
}

/** Creates a folder with mode 0700; its path is `path` plus a random suffix. */
export function newFolder(path: string): string {
  try {
    return mkdtempSync(path);
  } catch (error) {
    throw new StorageError('denied', `${dirname(path)} is not a writable folder`, {
      cause: error,
    });
  }
}

/** Copies a file with mode 0600, syncs the copy and returns its checksum. Fails if the target exists. */
export async function copySynced(from: string, to: string) {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await chmod(to, 0o600);
  sync(to);
  return sumOf(to);
}

/** Gives a file a second name, under which it remains when another file takes the first. */
export async function keepAs(path: string, second: string): Promise<void> {
  try {
    linkSync(path, second);
  } catch {
    // Not every file system supports hard links.
    await copySynced(path, second);
  }
}
