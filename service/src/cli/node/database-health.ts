// Whether the database serves what this node uses it for. The metric and /readyz show it; the log says when it
// changes.

import type { Logger } from 'pino';

/** Each fails and recovers for itself: a role that is out of connections still answers on those that are open. */
export type DatabaseUse = 'revisions and tokens' | 'the catalogue' | 'pages of transactions';

export class DatabaseHealth {
  readonly #logger: Logger;
  readonly #failing = new Set<DatabaseUse>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get isUsable(): boolean {
    return this.#failing.size === 0;
  }

  isFailing(use: DatabaseUse): boolean {
    return this.#failing.has(use);
  }

  failed(use: DatabaseUse, error: unknown): void {
    if (this.isUsable) {
      this.#logger.error({ use, err: error }, 'the database cannot be read; going on with what is in memory');
    }
    this.#failing.add(use);
  }

  succeeded(use: DatabaseUse): void {
    if (this.#failing.delete(use) && this.isUsable) this.#logger.info('the database is back');
  }
}
