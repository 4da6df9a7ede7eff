// Takes up what other processes have committed: tokens, links, and the catalogue once it has been loaded. Tokens do not wait
// for the catalogue, which takes seconds when it is large. What cannot be taken up now stays as it is in memory, and is
// tried again.

import type { ActivationDirectory } from '../../activation/activation-directory.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Logger } from '../../domain/logger.ts';
import type { Stores } from '../../domain/stores.ts';
import type { TokenDirectory } from '../../http/access/token-directory.ts';
import type { DatabaseHealth } from './database-health.ts';
import type { SnapshotBuilder } from './snapshot-builder.ts';

export interface ChangeFollower {
  /** Takes up what has been committed before. */
  readonly look: () => void;
  readonly stop: () => void;
}

interface Followed {
  readonly stores: Stores;
  readonly tokens: TokenDirectory;
  readonly activation: ActivationDirectory | undefined;
  readonly catalogue: Catalogue;
  readonly builder: Pick<SnapshotBuilder, 'build'>;
  readonly health: DatabaseHealth;
  readonly logger: Logger;
}

export function followChanges({
  stores,
  tokens,
  activation,
  catalogue,
  builder,
  health,
  logger,
}: Followed): ChangeFollower {
  let latestCatalogue: number | undefined;

  const look = oneAtATime(
    async () => {
      const revisions = await stores.revisions();
      latestCatalogue = revisions.catalogue;
      takeUpCatalogue();
      if (revisions.tokens !== tokens.revision) await tokens.refresh();
      if (activation !== undefined && revisions.activation !== activation.revision) {
        await activation.refresh();
        logger.info({ activation: activation.revision }, 'links taken up');
      }
      health.succeeded('changes');
    },
    (error) => health.failed('changes', error, look),
  );

  const takeUpCatalogue = oneAtATime(
    async () => {
      if (!catalogue.ready) return;
      if (catalogue.revision !== latestCatalogue) {
        catalogue.take(await builder.build());
        // The snapshot before lies in shared memory, so that the collector takes it for small and would leave it there.
        Bun.gc(true);
        logger.info({ revision: catalogue.revision }, 'catalogue taken up');
      }
      health.succeeded('catalogue');
    },
    (error) => health.failed('catalogue', error, look),
  );

  return { look, stop: stores.watch(look) };
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
