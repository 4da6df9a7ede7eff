// Writes bytes to an open file such as stdout, without blocking the event loop.

import { write } from 'node:fs';

/** Pause before the next attempt to write to a full pipe. */
const BLOCKED_MS = 20;

/** Resolves when all bytes have been written; rejects with the operating system's error. */
export async function writeAll(file: number, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      rest = rest.subarray(await writeSome(file, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await Bun.sleep(BLOCKED_MS);
    }
  }
}

function writeSome(file: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, (error, written) => (error === null ? resolve(written) : reject(error)));
  });
}
