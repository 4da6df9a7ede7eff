// Serves requests: owns the stores, the tokens in memory, the routes and the port. A node has one instance in its only thread,
// or one in each worker. The caller builds the catalogue.

import { Catalogue } from '../../catalogue/catalogue.ts';
import type { Logger } from '../../domain/logger.ts';
import type { Stores } from '../../domain/stores.ts';
import type { TransactionQuery } from '../../domain/transaction.ts';
import type { CounterMaker } from '../../http/access/request-counter.ts';
import { TokenDirectory } from '../../http/access/token-directory.ts';
import { type App, buildApp } from '../../http/app.ts';
import { CallerTally } from '../../http/caller-tally.ts';
import { RequestTally } from '../../http/request-tally.ts';
import { SERVER_OPTIONS, sqlitePath } from '../../storage/open-database.ts';
import { openStores } from '../../storage/open-stores.ts';
import type { ReplicaOptions } from '../../storage/postgres/replica.ts';
import { keepReserve } from '../../storage/sqlite/revocation-reserve.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { currentUser } from '../current-user.ts';
import { logCollector, openTracing, type Tracing } from '../open-tracing.ts';
import { type NodeActivation, openActivation } from './activation.ts';
import { type ChangeFollower, type Followed, followChanges } from './change-follower.ts';
import { DatabaseHealth } from './database-health.ts';
import { type Listener, listen, urlOf } from './listen.ts';
import type { NodeOptions } from './node-settings.ts';
import { healthOf, type WorkerReport } from './workers/worker-report.ts';

const FLUSH_INTERVAL_MS = 30_000;

/** Finds no transactions. Reads from the primary, on the connections for pages, to check that the database has recovered. */
const PROBE: TransactionQuery = {
  orgId: 0,
  cursor: undefined,
  window: { minMs: 0, maxMs: 0 },
  limit: 1,
  atLeastMs: Number.POSITIVE_INFINITY,
};

interface ServingOptions extends NodeOptions {
  readonly requestCounter: CounterMaker;
  /** True if other threads listen on the same port. */
  readonly sharesPort: boolean;
}

export async function openServing(options: ServingOptions): Promise<Serving> {
  const { databaseUrl, settings, logger, clock } = options;
  const replica = settings.replicaUrl === undefined ? undefined : loggedReplica(settings.replicaUrl, logger);
  const stores = await openStores(databaseUrl, SERVER_OPTIONS, clock, { by: currentUser(), replica });
  const path = sqlitePath(databaseUrl);
  if (path !== undefined) keepReserve(path);
  return new Serving(options, stores);
}

class Serving {
  readonly stores: Stores;
  readonly catalogue: Catalogue;
  readonly #tokens: TokenDirectory;
  readonly #activation: NodeActivation | undefined;
  readonly #options: ServingOptions;
  readonly #tracing: Tracing | undefined;
  readonly #databaseHealth: DatabaseHealth;
  readonly #tally = new RequestTally();
  readonly #callers: CallerTally;
  readonly #app: App;
  readonly #flushTimer: Timer;
  #following: ChangeFollower | undefined;
  #listener: Listener | undefined;
  #stopping = false;

  constructor(options: ServingOptions, stores: Stores) {
    const { settings, databaseUrl, logger, clock } = options;
    this.#options = options;
    this.stores = stores;
    this.catalogue = new Catalogue(clock);
    this.#tracing = openTracing(options.tracing, { databaseUrl, clock, onChange: logCollector(logger) });
    this.#databaseHealth = new DatabaseHealth(logger);
    this.#callers = new CallerTally(clock);
    this.#tokens = new TokenDirectory(stores.tokens, () => stores.revisions(), clock);
    const { catalogue } = this;
    this.#activation = settings.activation === 'on' ? openActivation(options, stores, catalogue) : undefined;
    this.#app = buildApp({
      ...options,
      catalogue,
      tokens: this.#tokens,
      transactions: stores.transactions,
      walks: stores.walks,
      activation: this.#activation?.activation,
      tally: this.#tally,
      callers: this.#callers,
      tracer: this.tracer,
      health: () => healthOf(this.report, this.isReady),
      localUrl: () => urlOf('localhost', this.#listener?.port ?? settings.port),
      onDatabaseFailure: (error) => this.#databaseFailed(error),
      // Without a delay the port closes immediately, so a client that reconnects would be refused.
      isLeaving: () => this.#stopping && settings.drainDelay > 0,
    });
    this.#flushTimer = setInterval(() => void this.#flush(), FLUSH_INTERVAL_MS);
  }

  get tracer(): Tracer | undefined {
    return this.#tracing?.tracer;
  }

  get isReady(): boolean {
    return !this.#stopping && this.#tokens.ready && this.catalogue.ready;
  }

  get report(): WorkerReport {
    const activation = this.#activation;
    return {
      isDatabaseUsable: this.#databaseHealth.isUsable,
      replica: this.stores.replica(),
      pools: this.stores.pools(),
      routes: this.#tally.routes,
      clicks: activation && {
        tally: activation.activation.tally,
        ...activation.recorder.state,
        isDiskLow: activation.isDiskLow,
      },
      spans: this.#tracing?.exporter.counts,
      callers: this.#callers.tallies,
    };
  }

  /** Loads tokens and links, then follows their changes. `catalogue` is passed only by a thread that builds it. */
  async load(catalogue?: Followed): Promise<void> {
    await this.#tokens.refresh();
    await this.#activation?.start();
    this.#following = followChanges({
      stores: this.stores,
      databaseHealth: this.#databaseHealth,
      logger: this.#options.logger,
      tokens: this.#tokens,
      links: this.#activation?.directory,
      catalogue,
    });
    this.reloadChanges();
  }

  /** Checks for changes immediately. */
  reloadChanges(): void {
    this.#following?.poll();
  }

  /** Opens the port and returns its URL. */
  listen(): string {
    const { settings, sharesPort } = this.#options;
    this.#listener = listen(this.#app, settings, sharesPort);
    return this.#listener.url;
  }

  /** Keeps serving during --drain-delay while /readyz returns 503, so that load balancers switch to other nodes. */
  async drain(): Promise<void> {
    this.#stopping = true;
    await Bun.sleep(this.#options.settings.drainDelay * 1_000);
  }

  /** Closes the port, waits for requests in progress, and stores their clicks and token uses. Call `close` afterwards. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#listener?.stop();
    clearInterval(this.#flushTimer);
    await this.#flush();
    await this.#activation?.stop();
    this.#following?.stop();
    this.#databaseHealth.stop();
  }

  async close(): Promise<void> {
    await this.stores.close();
    await this.#tracing?.exporter.close();
  }

  async #flush(): Promise<void> {
    try {
      await this.#tokens.flushUsed();
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'token uses not stored yet');
    }
  }

  #databaseFailed(error: unknown): void {
    this.#databaseHealth.failed('requests', error, () => {
      this.stores.transactions.page(PROBE).then(
        () => this.#databaseHealth.succeeded('requests'),
        (again) => this.#databaseFailed(again),
      );
    });
  }
}

function loggedReplica(url: string, logger: Logger): ReplicaOptions {
  return {
    url,
    onChange({ isUsable, reason }) {
      if (isUsable) logger.info('transactions are read from the replica');
      else logger.warn({ reason }, 'the replica is unusable; transactions are read from the primary');
    },
  };
}
