// What the database knows that monitoring wants: how imports have ended, and which tokens are about to expire. Read when it
// is asked for; while the database does not answer, as it was read last.

import { isExpiring } from '../../domain/access-token.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Stores } from '../../domain/stores.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { DatabaseFigures } from '../../http/metrics.ts';

/** A monitoring system waits some seconds for its page, and wants it most when the database is away. */
const READ_MAX_MS = 1_000;

/** What it returns reads them; undefined when they could not be read yet. */
export function databaseFigures(
  { imports, tokens }: Pick<Stores, 'imports' | 'tokens'>,
  clock: Clock,
): () => Promise<DatabaseFigures | undefined> {
  let last: DatabaseFigures | undefined;

  async function read(): Promise<DatabaseFigures> {
    const nowMs = clock();
    const expiring = (await tokens.list()).tokens.filter((token) => isExpiring(token, nowMs));
    return { imports: await imports.totals(), tokensExpiring: expiring.length };
  }

  return async () => {
    try {
      last = await withTimeout(read(), READ_MAX_MS, () => new Error('too slow'));
    } catch {
      // Other metrics tell that the database cannot be used.
    }
    return last;
  };
}
