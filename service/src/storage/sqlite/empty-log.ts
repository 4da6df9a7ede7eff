// Empties the write-ahead log of an SQLite file. The log still contains deleted data after the file has been overwritten.

import type { Queries } from '../database.ts';

const RETRY_MS = 10;

/** Stops trying after `waitMs` if other connections keep the log busy; later checkpoints will empty it. */
export async function emptyLog(file: Queries, waitMs: number): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  const [before] = await file.all<{ timeout: number }>('PRAGMA busy_timeout');
  // SQLite's busy timeout would block this process, which may be using the log itself.
  await file.all('PRAGMA busy_timeout = 0');
  try {
    while (true) {
      const [row] = await file.all<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
      if (row?.busy === 0 || performance.now() >= deadlineMs) return;
      await Bun.sleep(RETRY_MS);
    }
  } finally {
    await file.all(`PRAGMA busy_timeout = ${before?.timeout ?? 0}`);
  }
}
