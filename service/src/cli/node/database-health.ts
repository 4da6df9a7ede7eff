// Tracks whether the database is usable, for a metric, /readyz and the log. A failed operation is retried after a pause.
// Otherwise, the recovery would go unnoticed until the next request. A corrupt file counts as corrupt until the server is
// restarted: some statements still succeed, and they must not count as a recovery.

import type { Logger } from '../../domain/logger.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { DatabaseStatus } from '../../health/facts.ts';
import { CLICK_END, sqlitePath } from '../../storage/open-database.ts';
import { watchCorruption } from '../../storage/sqlite/sqlite-errors.ts';

/**
 * The ways in which a node uses the database. Each use fails and recovers independently. For example, if the role has no free
 * connections, polling for changes works on an open connection while every page of transactions fails.
 */
type DatabaseUse = 'changes' | 'catalogue' | 'requests';

const RETRY_MS = 500;

export type DatabaseHealth = ReturnType<typeof databaseHealth>;

export function databaseHealth(logger: Logger, databaseUrl: string) {
  const retries = new Map<DatabaseUse, Timer>();
  /** The reason of each failing use. */
  const failing = new Map<DatabaseUse, string>();
  let corruption: string | undefined;
  let isStopped = false;
  const path = sqlitePath(databaseUrl);
  const stopWatching = path === undefined ? undefined : watchCorruption([path, path + CLICK_END], corrupted);

  function corrupted(reason: string): void {
    if (corruption === undefined)
      logger.error({ reason }, 'the database file is corrupt; restore a backup, then restart the server');
    corruption = reason;
  }

  function status(): DatabaseStatus {
    if (corruption !== undefined) return { state: 'corrupt', reason: corruption };
    const [reason] = failing.values();
    return reason === undefined ? { state: 'usable' } : { state: 'unreachable', reason };
  }

  return {
    status,
    failed(use: DatabaseUse, error: unknown, retry: () => void): void {
      // Queries in progress fail when a stopping node closes the database.
      if (isStopped) return;
      // If the file has been open before, `invalid` also means that it is corrupt. The channel reports corruption.
      const isCorruption = stopWatching !== undefined && isStorageError(error, 'corrupt', 'invalid');
      if (!isStorageError(error, 'overloaded') && !isCorruption) {
        if (status().state === 'usable')
          logger.error({ use, err: error }, 'the database is unreachable; serving from memory');
        failing.set(use, error instanceof Error ? error.message : String(error));
      }
      if (retries.has(use)) return;
      const timer = setTimeout(() => {
        retries.delete(use);
        retry();
      }, RETRY_MS);
      retries.set(use, timer);
    },
    succeeded(use: DatabaseUse): void {
      if (failing.delete(use) && status().state === 'usable') logger.info('the database has recovered');
    },
    stop(): void {
      isStopped = true;
      stopWatching?.();
      for (const timer of retries.values()) clearTimeout(timer);
    },
  };
}
