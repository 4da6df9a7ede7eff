// Erasing on SQLite: deleted bytes stay in the file, and in its write-ahead log, until something else takes their place.
// What must be gone is overwritten instead. On PostgreSQL, both do nothing: its vacuum sees to that.

import type { Connection, Database } from '../database.ts';

/** From now on, this connection overwrites with zeros what it deletes or replaces. */
export async function overwriteDeleted(connection: Connection, dialect: Database['dialect']): Promise<void> {
  if (dialect === 'sqlite') await connection.all('PRAGMA secure_delete = ON');
}

/** Empties the write-ahead log, unless somebody reads from it just then: the next checkpoints do it in that case. */
export async function emptyLog(database: Pick<Database, 'dialect' | 'all'>): Promise<void> {
  if (database.dialect === 'sqlite') await database.all('PRAGMA wal_checkpoint(TRUNCATE)');
}
