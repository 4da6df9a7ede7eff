// Metrics that are read from the database: import outcomes, tokens that expire soon, and the state of webhooks and pulls. While the
// database is unreachable, the last values are returned.

import { isExpiring } from '../../domain/access-token.ts';
import type { Clock } from '../../domain/clock.ts';
import { withTimeout } from '../../domain/promises.ts';
import type { Stores } from '../../domain/stores.ts';
import { webhookFigures } from '../../domain/webhook.ts';
import type { DatabaseFigures } from '../../http/metrics.ts';
import type { ContentFacts } from '../../storage/inspect-database.ts';

/** Monitoring must get its metrics within seconds, even while the database is unreachable. */
const READ_MAX_MS = 1_000;

/** Returns a function that reads the figures; it returns undefined until the first successful read. */
export function databaseFigures(stores: Stores, clock: Clock) {
  let last: Awaited<ReturnType<typeof read>> | undefined;

  /** Returns the figures, and the facts for the health checks. */
  async function read() {
    const nowMs = clock();
    const imports = await stores.imports.totals();
    const contents: ContentFacts = {
      tokens: (await stores.tokens.list()).tokens,
      feeds: imports.feeds,
      webhooks: await stores.webhooks.list(),
      pulls: await stores.pulls.list(),
      openImports: await stores.imports.listOpen(),
    };
    const figures: DatabaseFigures = {
      imports,
      tokensExpiring: contents.tokens.filter((token) => isExpiring(token, nowMs)).length,
      webhooks: webhookFigures(contents.webhooks, nowMs),
      pulls: contents.pulls,
      pullRequests: await stores.pulls.listRequests(),
    };
    return { figures, contents };
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
