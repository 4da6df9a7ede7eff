// What the database knows that monitoring wants: how imports have ended, and which tokens are about to expire. Read when it
// is asked for; while the database does not answer, as it was read last.

import { isExpiring } from '../../domain/access-token.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Stores } from '../../domain/stores.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { DatabaseFigures } from '../../http/metrics.ts';

/** A monitoring system waits some seconds for its page, and wants it most when the database is away. */
const READ_MAX_MS = 1_000;

export class DatabaseFiguresReader {
  readonly #stores: Pick<Stores, 'imports' | 'tokens'>;
  readonly #clock: Clock;
  #last: DatabaseFigures | undefined;

  constructor(stores: Pick<Stores, 'imports' | 'tokens'>, clock: Clock) {
    this.#stores = stores;
    this.#clock = clock;
  }

  /** Undefined when they could not be read yet. */
  async read(): Promise<DatabaseFigures | undefined> {
    try {
      this.#last = await withTimeout(this.#read(), READ_MAX_MS, () => new Error('too slow'));
    } catch {
      // Other metrics tell that the database cannot be used.
    }
    return this.#last;
  }

  async #read(): Promise<DatabaseFigures> {
    const nowMs = this.#clock();
    const { tokens } = await this.#stores.tokens.list();
    const tokensExpiring = tokens.filter((token) => isExpiring(token, nowMs)).length;
    return { imports: await this.#stores.imports.totals(), tokensExpiring };
  }
}
