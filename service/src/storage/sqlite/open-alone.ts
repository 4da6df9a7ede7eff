// Opens an SQLite file with an exclusive lock. Fails if any other connection is open, even a read-only one. Also checkpoints
// the write-ahead log, so that the file is complete without the log.

import { Database as SqliteFile } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { StorageError } from '../../domain/storage-error.ts';
import { explainSqlite, isBusy } from './sqlite-errors.ts';

export function openAlone(path: string): SqliteFile {
  let file: SqliteFile | undefined;
  try {
    file = new SqliteFile(path, { create: false, readwrite: true, strict: true });
    file.run('PRAGMA busy_timeout = 0');
    file.run('PRAGMA locking_mode = EXCLUSIVE');
    // Fails if another connection is open: in WAL mode, even an idle connection holds a shared lock on the file.
    file.run('BEGIN EXCLUSIVE');
    file.run('COMMIT');
    file.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return file;
  } catch (error) {
    file?.close();
    if (isBusy(error)) {
      throw new StorageError(
        'busy',
        `${path} is in use; stop all servers and imports first (nothing was changed)`,
        {
          cause: error,
        },
      );
    }
    throw explainSqlite(error, path);
  }
}

/** Detaches the old connection from its log files. Otherwise, closing the connection would delete the new database's logs. */
export function leaveLogs(old: SqliteFile, path: string): void {
  old.run('PRAGMA journal_mode = DELETE');
  old.run('PRAGMA journal_mode = MEMORY');
  // The switch to DELETE leaves an empty journal behind.
  rmSync(`${path}-journal`, { force: true });
}
