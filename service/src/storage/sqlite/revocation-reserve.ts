// Reserves disk space in a file beside an SQLite database, so that a token can be revoked even on a full disk. If there is no
// space for a revocation, the file is deleted, the revocation is retried, and the reserve is refilled as far as space allows.

import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { isFileFault } from './sqlite-errors.ts';

const END = '-reserve';
/** Ample: a revocation writes a few 8 KiB pages to the log and may create the log's 32 KiB index (-shm). */
const RESERVE_BYTES = 1024 * 1024;
const PIECE_BYTES = 4_096;

/** Fills the reserve as far as the free disk space allows. */
export function keepReserve(path: string): void {
  let file: number | undefined;
  try {
    file = openSync(`${path}${END}`, 'a', 0o600);
    let bytes = statSync(`${path}${END}`).size;
    // Random bytes, because some file systems compress or deduplicate data.
    const piece = crypto.getRandomValues(Buffer.alloc(PIECE_BYTES));
    while (bytes < RESERVE_BYTES) bytes += writeSync(file, piece);
  } catch {
    // The disk is full or the folder is not writable. The space reserved so far stays reserved.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Runs `work`, a small write. If the database file cannot be written, releases the reserve and tries once more. */
export async function withReserve<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isFileFault(error)) throw error;
    rmSync(`${path}${END}`, { force: true });
    try {
      return await work();
    } finally {
      keepReserve(path);
    }
  }
}
