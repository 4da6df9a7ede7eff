// Erasing on SQLite: deleted bytes stay in the file, and in its write-ahead log, until something else takes their place.
// What must be gone is overwritten instead. On PostgreSQL, both do nothing: its vacuum sees to that.

import type { Connection, Database } from '../database.ts';

const RETRY_MS = 10;

/** From now on, this connection overwrites with zeros what it deletes or replaces. */
export async function overwriteDeleted(connection: Connection, dialect: Database['dialect']): Promise<void> {
  if (dialect === 'sqlite') await connection.all('PRAGMA secure_delete = ON');
}

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
