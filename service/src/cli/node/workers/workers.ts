// offerbook serve --workers N: one process in which N threads share the port, for machines with several cores. The main
// thread serves no requests. It builds the catalogue once for all threads, replaces workers that fail, and collects their
// counts, metrics and log lines.

import { Catalogue } from '../../../catalogue/catalogue.ts';
import type { SnapshotData } from '../../../catalogue/snapshot-data.ts';
import type { ServeSettings } from '../../../config.ts';
import { systemClock } from '../../../domain/clock.ts';
import { CountKeeper, SHARED_COUNTS_BYTES } from '../../../http/access/shared-counts.ts';
import type { Health } from '../../../http/readiness.ts';
import { SERVER_OPTIONS } from '../../../storage/open-database.ts';
import { openStores } from '../../../storage/open-stores.ts';
import type { TracingSettings } from '../../../tracing/tracing-settings.ts';
import { currentUser } from '../../current-user.ts';
import { logCollector, openTracing } from '../../open-tracing.ts';
import { openAdmin } from '../admin.ts';
import { type ChangeFollower, type Followed, followChanges } from '../change-follower.ts';
import { DatabaseHealth } from '../database-health.ts';
import { findPort, urlOf } from '../listen.ts';
import type { RunningNode } from '../node.ts';
import type { ServerLog } from '../open-log.ts';
import { STOP_MAX_MS } from '../signals.ts';
import { SnapshotBuilder } from '../snapshot-builder.ts';
import { WorkerPool, type WorkerTimings } from './worker-pool.ts';
import { mergeReports, NO_REPORT } from './worker-report.ts';

/** The part of STOP_MAX_MS that is left for the main thread after the workers have stopped. */
const CLOSE_MAX_MS = 1_000;

/** Parts that tests replace with faulty threads and shorter timeouts. */
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

/** Resolves when the first worker serves requests. */
export async function startWorkers(options: WorkersOptions): Promise<RunningNode> {
  const { databaseUrl, log } = options;
  const { logger } = log;
  const { host, port, drainDelay } = options.settings;
  // Opens the database and finds the port once, so that errors are not reported by every worker.
  const settings = { ...options.settings, port: findPort({ host, port, option: '--port' }) };
  const stores = await openStores(databaseUrl, SERVER_OPTIONS, systemClock, { by: currentUser() });
  // Traces the work of this thread: building the catalogue.
  const tracing = openTracing(options.tracing, { databaseUrl, onChange: logCollector(logger) });
  const builder = new SnapshotBuilder(databaseUrl, tracing?.tracer);
  const databaseHealth = new DatabaseHealth(logger);
  const counts = new SharedArrayBuffer(SHARED_COUNTS_BYTES);
  const keeper = new CountKeeper(new Int32Array(counts));
  // Only for the metrics, which count its items.
  const catalogue = new Catalogue(systemClock);
  let snapshot: SnapshotData | undefined;
  let closeAdmin: (() => Promise<void>) | undefined;
  let following: ChangeFollower | undefined;
  let isStopping = false;

  const pool = new WorkerPool({
    count: settings.workers,
    // No extension: .ts in a checkout, .js in the built program.
    script: options.script ?? new URL('./worker-thread', import.meta.url),
    firstMessages: (number) => [
      { type: 'start', setup: { number, settings, databaseUrl, tracing: options.tracing, counts } },
      ...(snapshot === undefined ? [] : [{ type: 'snapshot', snapshot } as const]),
    ],
    onLog: log.write,
    logger,
    timings: options.timings,
  });

  async function buildSnapshot(): Promise<void> {
    snapshot = await builder.build();
    catalogue.take(snapshot);
    pool.send({ type: 'snapshot', snapshot });
    // Frees the old snapshot, as in the workers.
    Bun.gc(true);
  }

  const followed: Followed = {
    get revision() {
      return catalogue.revision;
    },
    refresh: buildSnapshot,
  };

  function health(): Health {
    const { report, ready } = pool;
    return {
      isReady: ready > 0 && !isStopping,
      isDatabaseUsable: databaseHealth.isUsable && report.isDatabaseUsable,
      areClicksSpooled: report.clicks?.isSpooling ?? false,
      isClickDiskLow: report.clicks?.isDiskLow ?? false,
    };
  }

  async function close(): Promise<void> {
    isStopping = true;
    await pool.stop(drainDelay * 1_000 + STOP_MAX_MS - CLOSE_MAX_MS);
    following?.stop();
    databaseHealth.stop();
    keeper.stop();
    await closeAdmin?.();
    builder.close();
    await stores.close();
    await tracing?.exporter.close();
  }

  try {
    closeAdmin = openAdmin({
      settings,
      databaseUrl,
      clock: systemClock,
      logger,
      stores,
      catalogue,
      health,
      report: () =>
        mergeReports([pool.report, { ...NO_REPORT, pools: stores.pools(), spans: tracing?.exporter.counts }]),
      workers: () => ({ ready: pool.ready, restarts: pool.restarts }),
    });
    // The threads start while the catalogue is built.
    await Promise.all([pool.start(), buildSnapshot()]);
    following = followChanges({ stores, databaseHealth, logger, catalogue: followed });
    // Reload what was committed since the catalogue was read.
    following.poll();
  } catch (error) {
    await close();
    throw error;
  }
  const url = urlOf(host, settings.port);
  logger.info({ url }, 'listening');
  logger.info({ revision: catalogue.revision }, 'ready');
  return {
    url,
    failure: pool.failure,
    async stop() {
      await close();
      logger.info('stopped');
    },
  };
}
