// One running node: opens the database, listens, loads what is served from memory, follows its changes, and
// drains when told to stop. `serve` and `sandbox` both run this.

import { Catalogue } from '../../catalogue/catalogue.ts';
import type { ServeSettings } from '../../config.ts';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { BadInput } from '../../domain/failures.ts';
import type { Logger } from '../../domain/logger.ts';
import type { Stores, TransactionQuery } from '../../domain/stores.ts';
import type { Uuid } from '../../domain/uuid.ts';
import { TokenDirectory } from '../../http/access/token-directory.ts';
import { buildApp } from '../../http/app.ts';
import { RequestTally } from '../../http/request-tally.ts';
import type { Route } from '../../http/router.ts';
import { openStores, SERVER_OPTIONS } from '../../storage/open-stores.ts';
import { currentUser } from '../current-user.ts';
import { openActivation } from './activation.ts';
import { openAdmin } from './admin.ts';
import { type ChangeFollower, followChanges } from './change-follower.ts';
import { DatabaseFiguresReader } from './database-figures.ts';
import { DatabaseHealth } from './database-health.ts';
import { listen } from './listen.ts';
import { requestCounter } from './request-counts.ts';
import { SnapshotBuilder } from './snapshot-builder.ts';

const FLUSH_INTERVAL_MS = 30_000;

/** A page that nobody asked for, of no organisation: it is read from the primary on the connections that pages have. */
const PROBE: TransactionQuery = {
  orgId: 0,
  cursor: undefined,
  window: { minMs: 0, maxMs: 0 },
  limit: 1,
  atLeastMs: Number.POSITIVE_INFINITY,
};

export interface NodeOptions {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly logger: Logger;
  /** Whether other processes of the same node listen on the same port, and count requests in the same memory. */
  readonly sharesPort?: boolean;
  readonly clock?: Clock;
  /** Builds the snapshots of the catalogue; in a thread of its own unless given. Closed with the node. */
  readonly builder?: Pick<SnapshotBuilder, 'build' | 'close'>;
  /** How long a click waits for the database before it goes to the spool. */
  readonly clickDeadlineMs?: number;
  readonly extraRoutes?: readonly Route[];
  /** A public token that everyone who opens the pages may use. */
  readonly pageToken?: string;
  /** One of the extra routes, at which the explorer finds transactions that everyone may see. */
  readonly feedPath?: string;
  /** The public id of an organisation for which everyone who opens the pages may activate deals. */
  readonly pageOrg?: Uuid;
}

export interface RunningNode {
  readonly url: string;
  readonly stores: Stores;
  /** Lets requests under way finish, then closes everything. */
  stop(): Promise<void>;
}

export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { settings, logger, clock = systemClock } = options;
  const stores = await openNodeStores(options, clock);
  const tokens = new TokenDirectory(stores.tokens, () => stores.revisions(), clock);
  const catalogue = new Catalogue(clock);
  const builder = options.builder ?? new SnapshotBuilder(options.databaseUrl);
  const health = new DatabaseHealth(logger);
  const tally = new RequestTally();
  const activation =
    settings.activation === 'on' ? openActivation({ ...options, stores, catalogue, clock }) : undefined;
  let stopping = false;
  let following: ChangeFollower | undefined;
  const isReady = () => !stopping && tokens.ready && catalogue.ready;
  const flush = () =>
    tokens.flushUsed().catch((error) => logger.debug({ err: error }, 'last use not written yet'));
  const flushTimer = setInterval(flush, FLUSH_INTERVAL_MS);
  // What is closed at the end, the last one first.
  const opened: (() => Promise<void>)[] = [
    () => stores.close(),
    async () => builder.close(),
    async () => activation?.stop(),
    async () => {
      clearInterval(flushTimer);
      await flush();
    },
  ];
  const closeAll = async () => {
    for (const close of opened.toReversed()) await close();
  };
  const onDatabaseFailure = (error: unknown) => health.failed('requests', error, readProbe);
  const readProbe = () =>
    void stores.transactions.page(PROBE).then(() => health.succeeded('requests'), onDatabaseFailure);
  let url = '';
  try {
    const figures = new DatabaseFiguresReader(stores, clock);
    const state = async () => ({
      routes: tally.routes,
      isReady: isReady(),
      isDatabaseUsable: health.isUsable,
      catalogueRevision: catalogue.revision,
      catalogueItems: catalogue.counts(),
      database: await figures.read(),
      replica: stores.replica(),
      clicks: activation && { tally: activation.activation.tally, ...activation.recorder.state },
    });
    if (settings.adminPort !== undefined) opened.push(openAdmin(settings.adminPort, state).stop);
    const app = buildApp({
      catalogue,
      tokens,
      transactions: stores.transactions,
      walks: stores.walks,
      activation: activation?.activation,
      areClicksSpooled: () => activation?.recorder.state.isSpooling ?? false,
      requestCounter: requestCounter(options.sharesPort === true),
      isReady,
      isDatabaseUsable: () => health.isUsable,
      onDatabaseFailure,
      // Without a delay the port is closed at once, and whoever had to connect again would find it so.
      isLeaving: () => stopping && settings.drainDelay > 0,
      logger,
      tally,
      settings,
      extraRoutes: options.extraRoutes,
      pageToken: options.pageToken,
      feedPath: options.feedPath,
      pageOrg: options.pageOrg,
    });
    const startListening = () => {
      const server = listen(app, settings, options.sharesPort === true);
      opened.push(server.stop);
      logger.info({ url: server.url }, 'listening');
      return server.url;
    };
    // A worker that shares its port would be given requests that others could answer: it listens when it is ready.
    const isOneOfSeveral = options.sharesPort === true;
    if (!isOneOfSeveral) url = startListening();
    await tokens.refresh();
    await activation?.start();
    following = followChanges({
      stores,
      tokens,
      activation: activation?.directory,
      catalogue,
      builder,
      health,
      logger,
    });
    opened.push(async () => following?.stop());
    opened.push(async () => health.stop());
    catalogue.take(await builder.build());
    if (isOneOfSeveral) url = startListening();
    // What was committed meanwhile is not in it yet.
    following.look();
  } catch (error) {
    await closeAll();
    throw error;
  }
  logger.info({ revision: catalogue.revision }, 'ready');

  return {
    url,
    stores,
    async stop() {
      stopping = true;
      // Whoever sends us requests has this long to find out that it should not; they are answered all the while.
      await Bun.sleep(settings.drainDelay * 1000);
      await closeAll();
      logger.info('stopped');
    },
  };
}

/** Throws BadInput when there is a replica of a database that has none. */
export function requireReplicable(databaseUrl: string, { replicaUrl }: ServeSettings): void {
  if (replicaUrl !== undefined && databaseUrl.startsWith('sqlite:')) {
    throw new BadInput('--replica-url needs a PostgreSQL database: SQLite has no replicas');
  }
}

async function openNodeStores({ databaseUrl, settings, logger }: NodeOptions, clock: Clock): Promise<Stores> {
  requireReplicable(databaseUrl, settings);
  const { replicaUrl } = settings;
  const by = currentUser();
  if (replicaUrl === undefined) return openStores(databaseUrl, SERVER_OPTIONS, clock, { by });
  return openStores(databaseUrl, SERVER_OPTIONS, clock, {
    by,
    replica: {
      url: replicaUrl,
      onChange({ isUsable, reason }) {
        if (isUsable) logger.info('pages of transactions are read from the replica');
        else logger.warn({ reason }, 'the replica cannot be used; reading from the primary');
      },
    },
  });
}
