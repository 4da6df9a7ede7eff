// One running node in one thread: opens the database, listens, loads what is served from memory, follows its changes,
// and drains when told to stop. `serve` without workers and `sandbox` run this.

import { Catalogue } from '../../catalogue/catalogue.ts';
import type { ServeSettings } from '../../config.ts';
import { type Clock, systemClock } from '../../domain/clock.ts';
import type { Logger } from '../../domain/logger.ts';
import type { Stores } from '../../domain/stores.ts';
import { LocalCounter } from '../../http/access/request-counter.ts';
import type { SandboxParts } from '../../http/app.ts';
import { CallerTally } from '../../http/caller-tally.ts';
import { RequestTally } from '../../http/request-tally.ts';
import type { TracingSettings } from '../../tracing/tracing-settings.ts';
import { logCollector, openTracing } from '../open-tracing.ts';
import { type Admin, openAdmin } from './admin.ts';
import { type ChangeFollower, followChanges } from './change-follower.ts';
import { DatabaseFiguresReader } from './database-figures.ts';
import { DatabaseHealth } from './database-health.ts';
import { openNodeStores } from './node-stores.ts';
import { Serving } from './serving.ts';
import { SnapshotBuilder } from './snapshot-builder.ts';

export interface NodeOptions extends SandboxParts {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Undefined when nothing is traced. */
  readonly tracing?: TracingSettings | undefined;
  /** Builds the snapshots of the catalogue; in a thread of its own unless given. Closed with the node. */
  readonly builder?: Pick<SnapshotBuilder, 'build' | 'close'>;
  /** How long a click waits for the database before it goes to the spool. */
  readonly clickDeadlineMs?: number;
}

export interface RunningNode {
  readonly url: string;
  readonly stores: Stores;
  /** Lets requests under way finish, then closes everything. */
  stop(): Promise<void>;
}

export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { settings, databaseUrl, logger, clock = systemClock } = options;
  const stores = await openNodeStores(options, clock);
  const catalogue = new Catalogue(clock);
  const tracing = openTracing(options.tracing, { databaseUrl, clock, onChange: logCollector(logger) });
  const tracer = tracing?.tracer;
  const builder = options.builder ?? new SnapshotBuilder(databaseUrl, tracer);
  const databaseHealth = new DatabaseHealth(logger);
  const tally = new RequestTally();
  const callers = new CallerTally(clock);
  const serving = new Serving({
    ...options,
    stores,
    catalogue,
    databaseHealth,
    clock,
    tally,
    tracer,
    callers,
    requestCounter: () => new LocalCounter(),
    sharesPort: false,
  });
  const loaded = {
    get revision() {
      return catalogue.revision;
    },
    async refresh() {
      catalogue.take(await builder.build());
      // The snapshot before lies in shared memory, so that the collector takes it for small and would leave it there.
      Bun.gc(true);
      logger.info({ revision: catalogue.revision }, 'catalogue taken up');
    },
  };
  let admin: Admin | undefined;
  let following: ChangeFollower | undefined;
  const stop = async () => {
    await serving.stop();
    following?.stop();
    databaseHealth.stop();
    await admin?.stop();
    builder.close();
    await stores.close();
    await tracing?.close();
  };
  const figures = new DatabaseFiguresReader(stores, clock);
  const state = async () => ({
    ...serving.health,
    routes: tally.routes,
    callers: callers.tallies,
    catalogueRevision: catalogue.revision,
    catalogueItems: catalogue.counts(),
    database: await figures.read(),
    replica: stores.replica(),
    clicks: serving.clicks,
    spans: tracing?.counts,
    workers: { ready: Number(serving.health.isReady), restarts: 0 },
  });
  let url: string;
  try {
    admin = openAdmin({
      settings,
      databaseUrl: options.databaseUrl,
      clock,
      logger,
      health: () => serving.health,
      state,
      routes: () => tally.routes,
    });
    url = serving.listen();
    logger.info({ url }, 'listening');
    await serving.load();
    const { tokens, links } = serving;
    following = followChanges({ stores, databaseHealth, tokens, links, catalogue: loaded });
    catalogue.take(await builder.build());
    // What was committed meanwhile is not in it yet.
    following.look();
  } catch (error) {
    await stop();
    throw error;
  }
  logger.info({ revision: catalogue.revision }, 'ready');

  return {
    url,
    stores,
    async stop() {
      await serving.drain();
      await stop();
      logger.info('stopped');
    },
  };
}
