// One running node: opens the database, listens, loads what is served from memory, follows its changes, and
// drains when told to stop. `serve` and `sandbox` both run this.

import type { Logger } from 'pino';
import { Catalogue } from '../../catalogue/catalogue.ts';
import type { ServeSettings } from '../../config.ts';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { BadInput } from '../../domain/failures.ts';
import type { Stores } from '../../domain/stores.ts';
import { TokenDirectory } from '../../http/access/token-directory.ts';
import { buildApp } from '../../http/app.ts';
import type { Route } from '../../http/router.ts';
import { openStores, SERVER_OPTIONS } from '../../storage/open-stores.ts';
import { openAdmin } from './admin.ts';
import { listen } from './listen.ts';
import { requestCounter } from './request-counts.ts';

const FLUSH_INTERVAL_MS = 30_000;

export interface NodeOptions {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly logger: Logger;
  /** Whether other processes of the same node listen on the same port, and count requests in the same memory. */
  readonly sharesPort?: boolean;
  readonly clock?: Clock;
  readonly extraRoutes?: readonly Route[];
  /** A public token that everyone who opens the pages may use. */
  readonly pageToken?: string;
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
  const catalogue = new Catalogue(stores.catalogue, clock);
  let stopping = false;
  let following: ChangeFollower | undefined;
  const isReady = () => !stopping && tokens.ready && catalogue.ready;
  // What is opened here, in the order in which it is closed again.
  const opened: (() => Promise<void>)[] = [() => stores.close()];
  const closeAll = async () => {
    for (const close of opened.toReversed()) await close();
  };
  let url: string;
  try {
    const state = () => ({
      isReady: isReady(),
      // Until its changes are followed, it was opened a moment ago.
      isDatabaseUsable: following?.isDatabaseAway() !== true,
      catalogueRevision: catalogue.revision,
      replica: stores.replica(),
    });
    const admin = settings.adminPort === undefined ? undefined : await openAdmin(settings.adminPort, state);
    if (admin !== undefined) opened.push(admin.stop);
    const metrics = admin?.metrics;
    const app = buildApp({
      catalogue,
      tokens,
      transactions: stores.transactions,
      walks: stores.walks,
      requestCounter: requestCounter(options.sharesPort === true),
      isReady,
      // Without a delay the port is closed at once, and whoever had to connect again would find it so.
      isLeaving: () => stopping && settings.drainDelay > 0,
      logger,
      metrics,
      settings,
      extraRoutes: options.extraRoutes,
      pageToken: options.pageToken,
    });
    const server = listen(app, settings, options.sharesPort === true);
    opened.push(server.stop);
    url = server.url;
    logger.info({ url }, 'listening');
    await tokens.refresh();
    following = followChanges(stores, tokens, catalogue, logger);
    opened.push(async () => following?.stop());
    await catalogue.refresh();
    // What was committed meanwhile is not in it yet.
    following.look();
  } catch (error) {
    await closeAll();
    throw error;
  }
  logger.info({ revision: catalogue.revision }, 'ready');

  const flush = () =>
    tokens.flushUsed().catch((error) => logger.debug({ err: error }, 'last use not written yet'));
  const flushTimer = setInterval(flush, FLUSH_INTERVAL_MS);

  return {
    url,
    stores,
    async stop() {
      stopping = true;
      // Whoever sends us requests has this long to find out that it should not; they are answered all the while.
      await Bun.sleep(settings.drainDelay * 1000);
      clearInterval(flushTimer);
      await flush();
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
  if (replicaUrl === undefined) return openStores(databaseUrl, SERVER_OPTIONS, clock);
  return openStores(databaseUrl, SERVER_OPTIONS, clock, {
    url: replicaUrl,
    onChange({ isUsable, reason }) {
      if (isUsable) logger.info('pages of transactions are read from the replica');
      else logger.warn({ reason }, 'the replica cannot be used; reading from the primary');
    },
  });
}

interface ChangeFollower {
  readonly isDatabaseAway: () => boolean;
  /** Takes up what has been committed before. */
  readonly look: () => void;
  readonly stop: () => void;
}

/**
 * Takes up changes of tokens, and of the catalogue once it has been loaded. Tokens do not wait for the catalogue, which
 * takes seconds when it is large. While the database is away, what is in memory goes on being served.
 */
function followChanges(
  stores: Stores,
  tokens: TokenDirectory,
  catalogue: Catalogue,
  logger: Logger,
): ChangeFollower {
  let away = false;
  let stopped = false;
  let latestCatalogue: number | undefined;

  const look = oneAtATime(async () => {
    const revisions = await stores.revisions();
    if (away) logger.info('the database is back');
    away = false;
    latestCatalogue = revisions.catalogue;
    takeUpCatalogue();
    if (revisions.tokens !== tokens.revision) await tokens.refresh();
  }, onFailure);

  const takeUpCatalogue = oneAtATime(async () => {
    if (!catalogue.ready || catalogue.revision === latestCatalogue) return;
    await catalogue.refresh();
    logger.info({ revision: catalogue.revision }, 'catalogue taken up');
  }, onFailure);

  function onFailure(error: unknown): void {
    // What was under way then finds the database closed.
    if (stopped) return;
    if (!away) logger.error({ err: error }, 'the database cannot be read; going on with what is in memory');
    away = true;
  }

  const stopWatching = stores.watch(look);
  return {
    isDatabaseAway: () => away,
    look,
    stop() {
      stopped = true;
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
