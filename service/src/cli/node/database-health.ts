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

export class DatabaseHealth {
  readonly #logger: Logger;
  readonly #retries = new Map<DatabaseUse, Timer>();
  /** The reason of each failing use. */
  readonly #failing = new Map<DatabaseUse, string>();
  #stopWatching: (() => void) | undefined;
  #corruption: string | undefined;
  #stopped = false;

  constructor(logger: Logger, databaseUrl: string) {
    this.#logger = logger;
    const path = sqlitePath(databaseUrl);
    if (path !== undefined)
      this.#stopWatching = watchCorruption([path, path + CLICK_END], (reason) => this.#corrupted(reason));
  }

  get status(): DatabaseStatus {
    if (this.#corruption !== undefined) return { state: 'corrupt', reason: this.#corruption };
    const [reason] = this.#failing.values();
    return reason === undefined ? { state: 'usable' } : { state: 'unreachable', reason };
  }

  failed(use: DatabaseUse, error: unknown, retry: () => void): void {
    // Queries in progress fail when a stopping node closes the database.
    if (this.#stopped) return;
    // If the file has been open before, `invalid` also means that it is corrupt. The channel reports corruption.
    const isCorruption = this.#stopWatching !== undefined && isStorageError(error, 'corrupt', 'invalid');
    if (!isStorageError(error, 'overloaded') && !isCorruption) {
      if (this.status.state === 'usable') {
        this.#logger.error({ use, err: error }, 'the database is unreachable; serving from memory');
      }
      this.#failing.set(use, error instanceof Error ? error.message : String(error));
    }
    if (this.#retries.has(use)) return;
    const timer = setTimeout(() => {
      this.#retries.delete(use);
      retry();
    }, RETRY_MS);
    this.#retries.set(use, timer);
  }

  succeeded(use: DatabaseUse): void {
    if (this.#failing.delete(use) && this.status.state === 'usable')
      this.#logger.info('the database has recovered');
  }

  stop(): void {
    this.#stopped = true;
    this.#stopWatching?.();
    for (const timer of this.#retries.values()) clearTimeout(timer);
  }

  #corrupted(reason: string): void {
    if (this.#corruption === undefined)
      this.#logger.error(
        { reason },
        'the database file is corrupt; restore a backup, then restart the server',
      );
    this.#corruption = reason;
  }
}
