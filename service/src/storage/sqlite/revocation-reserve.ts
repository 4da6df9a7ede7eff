// A file beside an SQLite database that holds space for revocations: a token must end even if the disk is full. A revocation
// that finds no space deletes the file, is tried again, and then takes back what it did not need.

import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { isFileFault } from './sqlite-errors.ts';

const END = '-reserve';
/** A revocation writes some pages of 8 KiB to the log, and SQLite an index of the log of 32 KiB. */
const RESERVE_BYTES = 1024 * 1024;
const PIECE_BYTES = 4_096;

/** Takes as much space as there is, up to the size of the reserve. */
export function keepReserve(path: string): void {
  let file: number | undefined;
  try {
    file = openSync(`${path}${END}`, 'a', 0o600);
    let bytes = statSync(`${path}${END}`).size;
    // Random: some file systems store neither zeros nor what repeats itself.
    const piece = crypto.getRandomValues(Buffer.alloc(PIECE_BYTES));
    while (bytes < RESERVE_BYTES) bytes += writeSync(file, piece);
  } catch {
    // The disk is full, or the folder may not be written; what was taken stays.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Runs work that writes a little. If the file of the database cannot be written, gives the reserve to it and tries again. */
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
