// Writes bytes to a file that is open already, stdout above all, beside everything else that the process does.

import { write } from 'node:fs';

/** How long a pipe that is full is left alone before it is tried again. */
const BLOCKED_MS = 20;

/** Resolves when the system has all of them; rejects with the system's error when it does not take them. */
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
