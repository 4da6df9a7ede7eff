// Opens an SQLite file for this process alone. Fails when anybody else has it open, a server that only reads included; from
// then on, nobody else can read or write it. What is in its write-ahead log goes into the file, so that the file is all
// there is.

import { Database as SqliteFile } from 'bun:sqlite';
import { StorageError } from '../../domain/storage-error.ts';
import { explainSqlite, isBusy } from './sqlite-errors.ts';

export function openAlone(path: string): SqliteFile {
  let file: SqliteFile | undefined;
  try {
    file = new SqliteFile(path, { create: false, readwrite: true, strict: true });
    file.run('PRAGMA busy_timeout = 0');
    file.run('PRAGMA locking_mode = EXCLUSIVE');
    // Every open connection holds a lock on the file, whether it does something or not; this needs it without any.
    file.run('BEGIN EXCLUSIVE');
    file.run('COMMIT');
    file.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return file;
  } catch (error) {
    file?.close();
    if (isBusy(error)) {
      throw new StorageError(
        'busy',
        `${path} is in use: stop all servers and imports first; nothing was changed`,
        {
          cause: error,
        },
      );
    }
    throw explainSqlite(error, path);
  }
}
