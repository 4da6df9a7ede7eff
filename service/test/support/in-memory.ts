// Temporary files of a test run are in memory where there is room for them: a run writes gigabytes that nobody wants back,
// and would wait for the disk. TMPDIR names another place.

import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 6 * 1024 ** 3;

const folder =
  process.env.TMPDIR === undefined && hasRoom() ? mkdtempSync(`${MEMORY}/offerbook-`) : undefined;
if (folder !== undefined) {
  // PostgreSQL, and some tests, let another user look into folders in it.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
}

/** With everything that the tests, and what they have started, left behind. */
export function leaveMemory(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    // Not on Linux.
    return false;
  }
}
