// Keeps temporary files of a test run in memory if there is room: a run writes gigabytes and would wait for the disk.
// TMPDIR overrides the place.

import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 6 * 1024 ** 3;

const folder =
  process.env.TMPDIR === undefined && hasRoom() ? mkdtempSync(`${MEMORY}/offerbook-`) : undefined;
if (folder !== undefined) {
  // PostgreSQL and some tests access folders in it as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
}

/** Deletes the folder with all files that tests and their processes left behind. */
export function leaveMemory(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    // /dev/shm exists only on Linux.
    return false;
  }
}
