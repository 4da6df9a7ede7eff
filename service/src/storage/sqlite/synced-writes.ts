// Makes writes durable without blocking the process. SQLite by itself would block the process while syncing each commit. Here,
// a commit only writes to the write-ahead log, and one of Bun's threads syncs the log before the write resolves. SQLite syncs
// checkpoints itself.

import { close, fdatasync, open } from 'node:fs';
import { promisify } from 'node:util';
import { StorageError } from '../../domain/storage-error.ts';
import type { Database } from '../database.ts';

const [openFile, syncFile, closeFile] = [promisify(open), promisify(fdatasync), promisify(close)];

/** Wraps a database that was opened with `durable: false`. */
export function withSyncedWrites(database: Database, path: string): Database {
  /** File descriptor of the log, which SQLite never replaces while a connection is open. */
  let log: Promise<number> | undefined;
  return {
    ...database,
    async write(work, lockTimeoutMs) {
      const result = await database.write(work, lockTimeoutMs);
      log ??= openFile(`${path}-wal`, 'r+');
      try {
        await syncFile(await log);
      } catch (error) {
        // It is unknown whether this write is durable. The next write reopens the log.
        log = undefined;
        throw new StorageError('unavailable', `the write-ahead log of ${path} could not be synced`, {
          cause: error,
        });
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
