// Serves requests: owns the stores, the tokens in memory, the routes and the port. A node has one instance in its only thread,
// or one in each worker. The caller builds the catalogue.

import { Catalogue } from '../../catalogue/catalogue.ts';
import type { SnapshotData } from '../../catalogue/snapshot-data.ts';
import type { TransactionQuery } from '../../domain/transaction.ts';
import { keptRequestCounts, type RequestCounts } from '../../http/access/request-counts.ts';
import { tokenDirectory } from '../../http/access/token-directory.ts';
import { buildApp } from '../../http/app.ts';
import type { ServingReport } from '../../http/metrics.ts';
import { requestTally } from '../../http/request-tally.ts';
import { SERVER_OPTIONS, sqlitePath } from '../../storage/open-database.ts';
import { openStores } from '../../storage/open-stores.ts';
import type { ReplicaOptions } from '../../storage/postgres/replica.ts';
import { keepReserve } from '../../storage/sqlite/revocation-reserve.ts';
import { currentUser } from '../current-user.ts';
import { openTracing } from '../open-tracing.ts';
import { openActivation } from './activation.ts';
import { type ChangeFollower, type Followed, followChanges } from './change-follower.ts';
import { databaseHealth } from './database-health.ts';
import { type Listener, listen, urlOf } from './listen.ts';
import type { NodeOptions } from './node-settings.ts';

const FLUSH_INTERVAL_MS = 30_000;

/**
 * Query that checks whether the database has recovered. It matches no transactions, and reads from the primary on the same
 * connections as pages.
 */
const PROBE: TransactionQuery = {
  orgId: 0,
  window: { minMs: 0, maxMs: 0 },
  limit: 1,
  atLeastMs: Number.POSITIVE_INFINITY,
};

interface ServingOptions extends NodeOptions {
  /** The counts of all threads that listen on the port; undefined if no other thread does. */
  readonly sharedCounts?: RequestCounts;
}

/** The part of a node that serves requests: this thread, or workers. */
export type Serving = Awaited<ReturnType<typeof openServing>> & {
  /** Rejects if the node cannot continue. */
  readonly failure?: Promise<never>;
};

export async function openServing(options: ServingOptions) {
  const { databaseUrl, settings, logger, clock, sharedCounts, database = SERVER_OPTIONS } = options;
  const replica = settings.replicaUrl === undefined ? undefined : loggedReplica(settings.replicaUrl, options);
  const stores = await openStores(databaseUrl, database, clock, {
    by: currentUser(),
    replica,
    clusterLogger: logger,
  });
  const path = sqlitePath(databaseUrl);
  if (path !== undefined) keepReserve(path);
  const tracing = openTracing(options);
  const health = databaseHealth(logger, databaseUrl);
  const tally = requestTally(clock);
  const tokens = tokenDirectory(stores.tokens, () => stores.revisions(), clock);
  const catalogue = new Catalogue(clock);
  const activation = settings.activation === 'on' ? openActivation(options, stores, catalogue) : undefined;
  let following: ChangeFollower | undefined;
  let listener: Listener | undefined;
  let isStopping = false;

  const isReady = () => !isStopping && tokens.revision !== undefined && catalogue.snapshot !== undefined;

  function report(): ServingReport {
    return {
      databaseStatus: health.status(),
      replica: stores.replica(),
      cluster: stores.cluster(),
      pools: stores.pools(),
      requests: tally.tallies,
      clicks: activation?.state(),
      spans: tracing?.exporter.counts,
    };
  }

  function databaseFailed(error: unknown): void {
    health.failed('requests', error, () => {
      stores.transactions.page(PROBE).then(() => health.succeeded('requests'), databaseFailed);
    });
  }

  async function flushTokenUses(): Promise<void> {
    try {
      await tokens.flushUsed();
    } catch (error) {
      logger.debug({ err: error }, 'the last use of tokens could not be stored; retrying');
    }
  }
  const flushTimer = setInterval(() => void flushTokenUses(), FLUSH_INTERVAL_MS);

  const app = buildApp({
    ...options,
    requestCounts: sharedCounts ?? keptRequestCounts(),
    catalogue,
    tokens,
    transactions: stores.transactions,
    walks: stores.walks,
    activation: activation?.activation,
    tally,
    tracer: tracing?.tracer,
    health: () => ({ ...report(), isReady: isReady() }),
    localUrl: () => urlOf('localhost', listener?.port ?? settings.port),
    onDatabaseFailure: databaseFailed,
    // Without --drain-delay, the port closes immediately, so a client that was asked to reconnect would be refused.
    isLeaving: () => isStopping && settings.drainDelay > 0,
  });

  return {
    stores,
    catalogue,
    tracer: tracing?.tracer,
    isReady,
    report,
    workers: () => ({ ready: Number(isReady()), restarts: 0 }),
    replace: (snapshot: SnapshotData) => catalogue.replace(snapshot),
    /** Loads tokens and links, then follows their changes. For a worker, the main thread follows all other changes. */
    async start(followed?: { readonly catalogue: Followed; readonly webhooks: Followed }): Promise<void> {
      await tokens.refresh();
      await activation?.start();
      const links = activation?.directory;
      following = followChanges({ stores, databaseHealth: health, logger, tokens, links, ...followed });
      following.poll();
    },
    reloadChanges(): void {
      following?.poll();
    },
    /** Opens the port and returns its URL. */
    listen(): string {
      listener = listen(app, settings, sharedCounts !== undefined);
      return listener.url;
    },
    /** Keeps serving during --drain-delay while /readyz returns 503, so that load balancers switch to other nodes. */
    async drain(): Promise<void> {
      isStopping = true;
      await Bun.sleep(settings.drainDelay * 1_000);
    },
    /** Closes the port, waits for requests in progress, and stores their clicks and token uses. Call `close` afterwards. */
    async stop(): Promise<void> {
      isStopping = true;
      await listener?.stop();
      clearInterval(flushTimer);
      await flushTokenUses();
      await activation?.stop();
      following?.stop();
      health.stop();
    },
    async close(): Promise<void> {
      await stores.close();
      await tracing?.exporter.close();
    },
  };
}

function loggedReplica(url: string, { logger, replicaLagMaxMs }: ServingOptions): ReplicaOptions {
  return {
    url,
    lagMaxMs: replicaLagMaxMs,
    onChange({ isUsable, reason }) {
      if (isUsable) logger.info('transactions are read from the replica');
      else logger.warn({ reason }, 'the replica is unusable; transactions are read from the primary');
    },
  };
}
