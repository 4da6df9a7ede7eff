// Worker thread that prints how many bytes of a backup have been written, until it is terminated.

import { readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface BackupProgressTask {
  readonly folder: string;
  /** Size of the database. The backup can be smaller, because it omits free pages. */
  readonly bytesMax: number;
}

const DELAY_MS = 1_000;
const REDRAW_MS = 200;
const STDERR = 2;

declare const self: Worker;

self.onmessage = async ({ data: { folder, bytesMax } }: MessageEvent<BackupProgressTask>) => {
  await Bun.sleep(DELAY_MS);
  while (true) {
    const written = sizeOf(folder);
    const words = `${megabytes(written)} of at most ${megabytes(Math.max(written, bytesMax))} MB written`;
    writeSync(STDERR, `\r\x1b[K${words}`);
    await Bun.sleep(REDRAW_MS);
  }
};

/** Returns 0 after the folder has been renamed or removed. */
function sizeOf(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
