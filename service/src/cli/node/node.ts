// One running node in one thread: opens the database, loads what is served from memory, listens, follows changes, and
// drains when told to stop. `serve` without workers and `sandbox` run this.

import { type Clock, systemClock } from '../../domain/clock.ts';
import { LocalCounter } from '../../http/access/request-counter.ts';
import { openAdmin } from './admin.ts';
import { openServing, type ServingOptions } from './serving.ts';
import { SnapshotBuilder } from './snapshot-builder.ts';

interface NodeOptions extends Omit<ServingOptions, 'clock' | 'requestCounter' | 'sharesPort'> {
  readonly clock?: Clock;
  /** Builds the snapshots of the catalogue; in a thread of its own unless given. Closed with the node. */
  readonly builder?: Pick<SnapshotBuilder, 'build' | 'close'>;
}

export interface RunningNode {
  readonly url: string;
  /** Rejects when it cannot go on. */
  readonly failure?: Promise<never>;
  /** Lets requests under way finish, then closes everything. */
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
      // The snapshot before lies in shared memory, so that the collector takes it for small and would leave it there.
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
    // Not before everything is loaded: a proxy tries another node when a connection is refused, but not after a 503.
    url = serving.listen();
    logger.info({ url }, 'listening');
    // What was committed meanwhile is not in it yet.
    serving.takeUpChanges();
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
