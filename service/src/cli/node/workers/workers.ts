// offerbook serve --workers N: one process in which N threads share the port, for machines with several cores. The
// main thread answers no requests. It has the catalogue built once, in memory that all threads read, replaces workers
// that fail, and keeps their counts, metrics and log lines together.

import { Catalogue, type SnapshotData } from '../../../catalogue/catalogue.ts';
import type { ServeSettings } from '../../../config.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { Stores } from '../../../domain/stores.ts';
import { CountKeeper, SHARED_COUNTS_BYTES } from '../../../http/access/shared-counts.ts';
import type { NodeState } from '../../../http/metrics.ts';
import type { Health } from '../../../http/readiness.ts';
import { SERVER_OPTIONS } from '../../../storage/open-database.ts';
import { openStores } from '../../../storage/open-stores.ts';
import type { TracingSettings } from '../../../tracing/tracing-settings.ts';
import { currentUser } from '../../current-user.ts';
import { logCollector, openTracing, type Tracing } from '../../open-tracing.ts';
import { type Admin, openAdmin } from '../admin.ts';
import { type ChangeFollower, type Followed, followChanges } from '../change-follower.ts';
import { DatabaseFiguresReader } from '../database-figures.ts';
import { DatabaseHealth } from '../database-health.ts';
import { findPort, urlOf } from '../listen.ts';
import type { ServerLog } from '../open-log.ts';
import { STOP_MAX_MS } from '../signals.ts';
import { SnapshotBuilder } from '../snapshot-builder.ts';
import type { ToWorker } from './worker-messages.ts';
import { WorkerPool, type WorkerTimings } from './worker-pool.ts';
import { addSpans } from './worker-report.ts';

/** Of the time that a stop may take, what is left for the main thread when the workers have had theirs. */
const CLOSE_MAX_MS = 1_000;

/** What tests replace: they have worse threads, and less time. */
export interface WorkerParts {
  readonly script?: URL;
  readonly timings?: Partial<WorkerTimings>;
}

interface WorkersOptions extends WorkerParts {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly tracing?: TracingSettings | undefined;
  readonly log: ServerLog;
}

/** Settles when the first worker answers requests. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { databaseUrl } = options;
  // Found out here, once, and not by every worker: what is wrong with the database, and which port it will be.
  const { host, port } = options.settings;
  const settings = { ...options.settings, port: findPort({ host, port, option: '--port' }) };
  const stores = await openStores(databaseUrl, SERVER_OPTIONS, systemClock, { by: currentUser() });
  const workers = new Workers({ ...options, settings }, stores);
  try {
    await workers.start();
  } catch (error) {
    await workers.close();
    throw error;
  }
  return workers;
}

class Workers {
  readonly #options: WorkersOptions;
  readonly #stores: Stores;
  readonly #pool: WorkerPool;
  readonly #builder: SnapshotBuilder;
  readonly #databaseHealth: DatabaseHealth;
  readonly #counts = new SharedArrayBuffer(SHARED_COUNTS_BYTES);
  readonly #keeper = new CountKeeper(new Int32Array(this.#counts));
  /** Answers no requests here: the metrics count its items. */
  readonly #catalogue = new Catalogue(systemClock);
  readonly #figures: DatabaseFiguresReader;
  /** Of what this thread does: it builds the catalogue. */
  readonly #tracing: Tracing | undefined;
  #snapshot: SnapshotData | undefined;
  #admin: Admin | undefined;
  #following: ChangeFollower | undefined;
  #isStopping = false;

  constructor(options: WorkersOptions, stores: Stores) {
    const { settings, databaseUrl, log, timings } = options;
    this.#options = options;
    this.#stores = stores;
    this.#figures = new DatabaseFiguresReader(stores, systemClock);
    this.#tracing = openTracing(options.tracing, { databaseUrl, onChange: logCollector(log.logger) });
    this.#builder = new SnapshotBuilder(databaseUrl, this.#tracing?.tracer);
    this.#databaseHealth = new DatabaseHealth(log.logger);
    this.#pool = new WorkerPool({
      count: settings.workers,
      // No extension: it is .ts in a checkout, and .js where the program is built.
      script: options.script ?? new URL('./worker-thread', import.meta.url),
      firstMessages: (number) => this.#firstMessages(number),
      onLog: log.write,
      logger: log.logger,
      timings,
    });
  }

  /** Rejects when the node cannot go on. */
  get failure(): Promise<never> {
    return this.#pool.failure;
  }

  async start(): Promise<void> {
    const { settings, log } = this.#options;
    this.#admin = openAdmin({
      settings,
      databaseUrl: this.#options.databaseUrl,
      clock: systemClock,
      logger: log.logger,
      health: () => this.#health,
      state: () => this.#readState(),
      routes: () => this.#pool.report.routes,
    });
    // The threads start while the catalogue is built.
    await Promise.all([this.#pool.start(), this.#buildSnapshot()]);
    this.#following = followChanges({
      stores: this.#stores,
      databaseHealth: this.#databaseHealth,
      catalogue: this.#followedCatalogue(),
    });
    // What was committed since the catalogue was read.
    this.#following.look();
    log.logger.info({ url: urlOf(settings.host, settings.port) }, 'listening');
    log.logger.info({ revision: this.#catalogue.revision }, 'ready');
  }

  async stop(): Promise<void> {
    await this.close();
    this.#options.log.logger.info('stopped');
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    await this.#pool.stop(this.#options.settings.drainDelay * 1_000 + STOP_MAX_MS - CLOSE_MAX_MS);
    this.#following?.stop();
    this.#databaseHealth.stop();
    this.#keeper.stop();
    await this.#admin?.stop();
    this.#builder.close();
    await this.#stores.close();
    await this.#tracing?.close();
  }

  get #health(): Health {
    const { report, ready } = this.#pool;
    return {
      isReady: ready > 0 && !this.#isStopping,
      isDatabaseUsable: this.#databaseHealth.isUsable && report.isDatabaseUsable,
      areClicksSpooled: report.clicks?.isSpooling ?? false,
    };
  }

  async #readState(): Promise<NodeState> {
    const database = await this.#figures.read();
    const { report, ready, restarts } = this.#pool;
    return {
      ...report,
      ...this.#health,
      catalogueRevision: this.#catalogue.revision,
      catalogueItems: this.#catalogue.counts(),
      database,
      spans: addSpans([report.spans, this.#tracing?.counts]),
      workers: { ready, restarts },
    };
  }

  #firstMessages(number: number): ToWorker[] {
    const { settings, databaseUrl, tracing } = this.#options;
    const start: ToWorker = {
      type: 'start',
      setup: { number, settings, databaseUrl, tracing, counts: this.#counts },
    };
    const snapshot = this.#snapshot;
    return snapshot === undefined ? [start] : [start, { type: 'snapshot', snapshot }];
  }

  #followedCatalogue(): Followed {
    const catalogue = this.#catalogue;
    return {
      get revision() {
        return catalogue.revision;
      },
      refresh: async () => {
        await this.#buildSnapshot();
        this.#options.log.logger.info({ revision: catalogue.revision }, 'catalogue taken up');
      },
    };
  }

  async #buildSnapshot(): Promise<void> {
    const snapshot = await this.#builder.build();
    this.#snapshot = snapshot;
    this.#catalogue.take(snapshot);
    this.#pool.send({ type: 'snapshot', snapshot });
    // As in the workers: nothing of the snapshot before may stay.
    Bun.gc(true);
  }
}
