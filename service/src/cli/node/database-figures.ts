// Metrics that are read from the database: import outcomes, tokens that expire soon, and the state of webhooks and pulls. While the
// database is unreachable, the last values are returned.

import { isExpiring } from '../../domain/access-token.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Stores } from '../../domain/stores.ts';
import { webhookFigures } from '../../domain/webhook.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { DatabaseFigures } from '../../http/metrics.ts';

/** Monitoring must get its metrics within seconds, even while the database is unreachable. */
const READ_MAX_MS = 1_000;

/** Returns a function that reads the figures; it returns undefined until the first successful read. */
export function databaseFigures(
  { imports, tokens, webhooks, pulls }: Stores,
  clock: Clock,
): () => Promise<DatabaseFigures | undefined> {
  let last: DatabaseFigures | undefined;

  async function read(): Promise<DatabaseFigures> {
    const nowMs = clock();
    const expiring = (await tokens.list()).tokens.filter((token) => isExpiring(token, nowMs));
    return {
      imports: await imports.totals(),
      tokensExpiring: expiring.length,
      webhooks: webhookFigures(await webhooks.list(), nowMs),
      pulls: await pulls.list(),
      pullRequests: await pulls.listRequests(),
    };
  }

  return async () => {
    try {
      last = await withTimeout(read(), READ_MAX_MS, () => new Error('too slow'));
    } catch {
      // The offerbook_database_usable metric reports the outage.
    }
    return last;
  };
}
