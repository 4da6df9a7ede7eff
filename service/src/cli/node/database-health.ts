// Tracks whether the database is usable, for a metric, /readyz and the log. A failed operation is retried after a pause.
// Otherwise, the recovery would go unnoticed until the next request.

import type { Logger } from '../../domain/logger.ts';
import { isStorageError } from '../../domain/storage-error.ts';

/**
 * The ways in which a node uses the database. Each use fails and recovers independently. For example, if the role has no free
 * connections, polling for changes works on an open connection while every page of transactions fails.
 */
type DatabaseUse = 'changes' | 'catalogue' | 'requests';

const RETRY_MS = 500;

export class DatabaseHealth {
  readonly #logger: Logger;
  readonly #retries = new Map<DatabaseUse, Timer>();
  readonly #failing = new Set<DatabaseUse>();
  #stopped = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get isUsable(): boolean {
    return this.#failing.size === 0;
  }

  failed(use: DatabaseUse, error: unknown, retry: () => void): void {
    // Queries in progress fail when a stopping node closes the database.
    if (this.#stopped) return;
    if (!isStorageError(error, 'overloaded')) {
      if (this.isUsable) {
        this.#logger.error({ use, err: error }, 'the database is unreachable; serving from memory');
      }
      this.#failing.add(use);
    }
    if (this.#retries.has(use)) return;
    const timer = setTimeout(() => {
      this.#retries.delete(use);
      retry();
    }, RETRY_MS);
    this.#retries.set(use, timer);
  }

  succeeded(use: DatabaseUse): void {
    if (this.#failing.delete(use) && this.isUsable) this.#logger.info('the database has recovered');
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#retries.values()) clearTimeout(timer);
  }
}
