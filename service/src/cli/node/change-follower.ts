// Takes up what other processes have committed: tokens, and the catalogue once it has been loaded. Tokens do not wait
// for the catalogue, which takes seconds when it is large. What fails is tried again soon, whatever the cause was;
// until then the node goes on with what is in memory.

import type { Logger } from 'pino';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Stores } from '../../domain/stores.ts';
import type { TokenDirectory } from '../../http/access/token-directory.ts';
import type { DatabaseHealth, DatabaseUse } from './database-health.ts';

const RETRY_MS = 500;

export interface ChangeFollower {
  /** Takes up what has been committed before. */
  readonly look: () => void;
  readonly stop: () => void;
}

interface Followed {
  readonly stores: Stores;
  readonly tokens: TokenDirectory;
  readonly catalogue: Catalogue;
  readonly health: DatabaseHealth;
  readonly logger: Logger;
}

export function followChanges({ stores, tokens, catalogue, health, logger }: Followed): ChangeFollower {
  let stopped = false;
  let retry: Timer | undefined;
  let latestCatalogue: number | undefined;

  const look = oneAtATime(
    async () => {
      const revisions = await stores.revisions();
      latestCatalogue = revisions.catalogue;
      takeUpCatalogue();
      if (revisions.tokens !== tokens.revision) await tokens.refresh();
      health.succeeded('revisions and tokens');
    },
    (error) => onFailure('revisions and tokens', error),
  );

  const takeUpCatalogue = oneAtATime(
    async () => {
      if (!catalogue.ready) return;
      if (catalogue.revision !== latestCatalogue) {
        await catalogue.refresh();
        logger.info({ revision: catalogue.revision }, 'catalogue taken up');
      }
      health.succeeded('the catalogue');
    },
    (error) => onFailure('the catalogue', error),
  );

  function onFailure(use: DatabaseUse, error: unknown): void {
    // What was under way then finds the database closed.
    if (stopped) return;
    health.failed(use, error);
    // SQLite calls back only when something else is committed, and the cause may be gone long before that.
    retry ??= setTimeout(() => {
      retry = undefined;
      look();
    }, RETRY_MS);
  }

  const stopWatching = stores.watch(look);
  return {
    look,
    stop() {
      stopped = true;
      clearTimeout(retry);
      stopWatching();
    },
  };
}

/** A call during a run causes one more, because that run may have looked too early. */
function oneAtATime(work: () => Promise<void>, onFailure: (error: unknown) => void): () => void {
  let isRunning = false;
  let again = false;
  return function run(): void {
    again = isRunning;
    if (isRunning) return;
    isRunning = true;
    void work()
      .catch(onFailure)
      .finally(() => {
        isRunning = false;
        if (again) run();
      });
  };
}
