// Takes up what other processes have committed: tokens, links, the catalogue, or some of them. Tokens do not wait for the
// catalogue, which takes seconds when it is large. What cannot be taken up now stays as it is in memory, and is tried again.

import type { Logger } from '../../domain/logger.ts';
import type { Stores } from '../../domain/stores.ts';
import type { DatabaseHealth } from './database-health.ts';

/** Something that is kept in memory. */
export interface Followed {
  /** Of what is in memory; undefined until it was loaded, and until then it is not followed. */
  readonly revision: number | undefined;
  /** Reads again what was committed before the call. */
  refresh(): Promise<void>;
}

export type ChangeFollower = ReturnType<typeof followChanges>;

interface FollowOptions {
  readonly stores: Pick<Stores, 'revisions' | 'watch'>;
  readonly databaseHealth: DatabaseHealth;
  readonly logger: Logger;
  readonly tokens?: Followed | undefined;
  readonly links?: Followed | undefined;
  readonly catalogue?: Followed | undefined;
}

/** What it returns takes up, when told to `look`, what has been committed before. */
export function followChanges(options: FollowOptions) {
  const { stores, databaseHealth, logger, tokens, links, catalogue } = options;
  let latestCatalogue: number | undefined;

  const look = oneAtATime(
    async () => {
      const revisions = await stores.revisions();
      latestCatalogue = revisions.catalogue;
      takeUpCatalogue();
      await takeUp(tokens, revisions.tokens);
      if (await takeUp(links, revisions.activation))
        logger.info({ activation: links?.revision }, 'links taken up');
      databaseHealth.succeeded('changes');
    },
    (error) => databaseHealth.failed('changes', error, look),
  );

  const takeUpCatalogue = oneAtATime(
    async () => {
      if (await takeUp(catalogue, latestCatalogue))
        logger.info({ revision: catalogue?.revision }, 'catalogue taken up');
      databaseHealth.succeeded('catalogue');
    },
    (error) => databaseHealth.failed('catalogue', error, look),
  );

  return { look, stop: stores.watch(look) };
}

/** Returns whether there was something to take up. */
async function takeUp(followed: Followed | undefined, latest: number | undefined): Promise<boolean> {
  if (followed?.revision === undefined || followed.revision === latest) return false;
  await followed.refresh();
  return true;
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
