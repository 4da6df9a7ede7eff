// Erasing on SQLite: what is deleted is overwritten in the file, but its bytes stay in the write-ahead log until that is
// emptied. On PostgreSQL there is nothing to do: its vacuum sees to that.

import type { Database } from '../database.ts';

const RETRY_MS = 10;

/** Empties the write-ahead log, unless others use it all the while: the next checkpoints do it in that case. */
export async function emptyLog(database: Pick<Database, 'dialect' | 'all'>, waitMs = 1_000): Promise<void> {
  if (database.dialect !== 'sqlite') return;
  const deadlineMs = performance.now() + waitMs;
  const [before] = await database.all<{ timeout: number }>('PRAGMA busy_timeout');
  // SQLite's own waiting would block this process, and with it whatever in it uses the log.
  await database.all('PRAGMA busy_timeout = 0');
  try {
    while (true) {
      const [row] = await database.all<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)');
      if (row?.busy === 0 || performance.now() >= deadlineMs) return;
      await Bun.sleep(RETRY_MS);
    }
  } finally {
    await database.all(`PRAGMA busy_timeout = ${before?.timeout ?? 0}`);
  }
}
