// A node in one thread: opens the database, loads the catalogue and tokens, listens, reloads on changes, and drains on stop.
// `serve` without workers and `sandbox` run this.

import { type Clock, systemClock } from '../../domain/clock.ts';
import { LocalCounter } from '../../http/access/request-counter.ts';
import { openAdmin } from './admin.ts';
import { openServing, type ServingOptions } from './serving.ts';
import { SnapshotBuilder } from './snapshot-builder.ts';

interface NodeOptions extends Omit<ServingOptions, 'clock' | 'requestCounter' | 'sharesPort'> {
  readonly clock?: Clock;
  /** Builds snapshots of the catalogue, by default in a thread. Closed with the node. */
  readonly builder?: Pick<SnapshotBuilder, 'build' | 'close'>;
}

export interface RunningNode {
  readonly url: string;
  /** Rejects if the node cannot continue. */
  readonly failure?: Promise<never>;
  /** Lets requests in progress finish, then closes everything. */
  stop(): Promise<void>;
}

export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { settings, databaseUrl, logger, clock = systemClock } = options;
  const serving = await openServing({
    ...options,
    clock,
    requestCounter: () => new LocalCounter(),
    sharesPort: false,
  });
  const { catalogue } = serving;
  const builder = options.builder ?? new SnapshotBuilder(databaseUrl, serving.tracer);
  const loaded = {
    get revision() {
      return catalogue.revision;
    },
    async refresh() {
      catalogue.take(await builder.build());
      // The old snapshot is in shared memory, whose size the garbage collector does not see.
      Bun.gc(true);
    },
  };
  let closeAdmin: (() => Promise<void>) | undefined;
  const stop = async () => {
    await serving.stop();
    await closeAdmin?.();
    builder.close();
    await serving.close();
  };
  let url: string;
  try {
    closeAdmin = openAdmin({
      settings,
      databaseUrl,
      clock,
      logger,
      stores: serving.stores,
      catalogue,
      health: () => serving.health,
      report: () => serving.report,
      workers: () => ({ ready: Number(serving.health.isReady), restarts: 0 }),
    });
    await serving.load(loaded);
    catalogue.take(await builder.build());
    // Listen only when everything is loaded: proxies retry a refused connection on another node, but not a 503.
    url = serving.listen();
    logger.info({ url }, 'listening');
    // Changes committed during the build are not in the snapshot.
    serving.reloadChanges();
  } catch (error) {
    await stop();
    throw error;
  }
  logger.info({ revision: catalogue.revision }, 'ready');

  return {
    url,
    async stop() {
      await serving.drain();
      await stop();
      logger.info('stopped');
    },
  };
}
