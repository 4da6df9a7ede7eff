// Writes that wait for the disk without holding up the process. SQLite's own waiting would block it for milliseconds with
// every commit; here a commit only reaches the write-ahead log, and a thread of the runtime syncs that log before the
// write counts as done. Checkpoints sync by themselves what they move.

import { close, fdatasync, open } from 'node:fs';
import { promisify } from 'node:util';
import { StorageError } from '../../domain/storage-error.ts';
import type { Database } from '../database.ts';

const [openFile, syncFile, closeFile] = [promisify(open), promisify(fdatasync), promisify(close)];

/** Takes a database that was opened without `durable`. */
export function withSyncedWrites(database: Database, path: string): Database {
  /** The log stays the same file for as long as a connection to the database is open. */
  let log: Promise<number> | undefined;
  return {
    ...database,
    async write(work, lockTimeoutMs) {
      const result = await database.write(work, lockTimeoutMs);
      log ??= openFile(`${path}-wal`, 'r+');
      try {
        await syncFile(await log);
      } catch (error) {
        // The next write tries again; whether this one is safe cannot be told.
        log = undefined;
        throw new StorageError('unavailable', `the log of ${path} could not be synced`, { cause: error });
      }
      return result;
    },
    async close() {
      const opened = await log?.catch(() => undefined);
      log = undefined;
      if (opened !== undefined) await closeFile(opened);
      await database.close();
    },
  };
}
