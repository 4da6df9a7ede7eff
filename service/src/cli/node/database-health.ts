// Whether the database serves what this node uses it for. The metric and /readyz show it; the log says when it
// changes. What fails is tried again soon, whatever the cause was: nobody else may ask for it in a long time.

import type { Logger } from '../../domain/logger.ts';
import { isStorageError } from '../../domain/storage-error.ts';

/**
 * Each fails and recovers for itself. A role that has used up its connections, for example, is answered on those that are
 * open, so that changes are followed while every page of transactions fails.
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
    // What is under way when the node stops finds the database closed.
    if (this.#stopped) return;
    if (!isStorageError(error, 'overloaded')) {
      if (this.isUsable) {
        this.#logger.error(
          { use, err: error },
          'the database cannot be read; going on with what is in memory',
        );
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
    if (this.#failing.delete(use) && this.isUsable) this.#logger.info('the database is back');
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#retries.values()) clearTimeout(timer);
  }
}
