// Reloads tokens, links, the catalogue and the list of webhooks when another process has committed changes. Tokens do not wait
// for the catalogue, which can take seconds to reload. After a failed reload, the old data stays in memory, and the reload is
// retried.

import type { Logger } from '../../domain/logger.ts';
import { oneAtATime } from '../../domain/promises.ts';
import type { Stores } from '../../domain/stores.ts';
import type { DatabaseHealth } from './database-health.ts';

/** Data that is held in memory and reloaded on changes. */
export interface Followed {
  /** Revision in memory. Undefined until the first load; changes are ignored until then. */
  readonly revision: number | undefined;
  /** Reloads at least everything that was committed before the call. */
  refresh(): Promise<void>;
}

export type ChangeFollower = ReturnType<typeof followChanges>;

type Name = 'tokens' | 'links' | 'catalogue' | 'webhooks';

interface FollowOptions extends Readonly<Partial<Record<Name, Followed | undefined>>> {
  readonly stores: Stores;
  readonly databaseHealth: DatabaseHealth;
  readonly logger: Logger;
}

/** Polls until `stop` is called. `poll` checks for changes immediately. */
export function followChanges(options: FollowOptions) {
  const { stores, databaseHealth, logger, tokens, links, catalogue, webhooks } = options;
  let latestCatalogue: number | undefined;

  const poll = oneAtATime(
    async () => {
      const revisions = await stores.revisions();
      latestCatalogue = revisions.catalogue;
      reloadCatalogue();
      await reload(tokens, revisions.tokens);
      if (await reload(links, revisions.activation))
        logger.info({ activation: links?.revision }, 'links reloaded');
      await reload(webhooks, revisions.webhooks);
      databaseHealth.succeeded('changes');
    },
    (error) => databaseHealth.failed('changes', error, poll),
  );

  const reloadCatalogue = oneAtATime(
    async () => {
      if (await reload(catalogue, latestCatalogue))
        logger.info({ revision: catalogue?.revision }, 'catalogue reloaded');
      databaseHealth.succeeded('catalogue');
    },
    (error) => databaseHealth.failed('catalogue', error, poll),
  );

  return { poll, stop: stores.watch(poll) };
}

/** Returns true if the data had changed. */
async function reload(followed: Followed | undefined, latest: number | undefined): Promise<boolean> {
  if (followed?.revision === undefined || followed.revision === latest) return false;
  await followed.refresh();
  return true;
}
