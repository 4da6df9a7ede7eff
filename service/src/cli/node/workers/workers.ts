// The workers of a node (`serve --workers N`): threads that share the port. The main thread does not serve requests. It passes each
// catalogue to all threads, replaces workers that fail, and collects their metrics and log lines.

import { Catalogue } from '../../../catalogue/catalogue.ts';
import type { SnapshotData } from '../../../catalogue/snapshot-data.ts';
import { keptRequestCounts } from '../../../http/access/request-counts.ts';
import { SERVER_OPTIONS } from '../../../storage/open-database.ts';
import { openStores } from '../../../storage/open-stores.ts';
import { currentUser } from '../../current-user.ts';
import { openTracing } from '../../open-tracing.ts';
import { type ChangeFollower, followChanges } from '../change-follower.ts';
import { databaseHealth } from '../database-health.ts';
import { findPort, urlOf } from '../listen.ts';
import type { NodeOptions } from '../node-settings.ts';
import type { Serving } from '../serving.ts';
import { STOP_MAX_MS } from '../signals.ts';
import { openWorkerPool, type WorkerTimings } from './worker-pool.ts';
import { mergeReports, NO_REPORT } from './worker-report.ts';

/** The part of STOP_MAX_MS reserved for closing the main thread after the workers have stopped. */
const CLOSE_MAX_MS = 1_000;
/** How late a window of the rate limits can start. */
const WINDOW_BEAT_MS = 250;

/** Parts that tests replace with faulty threads and shorter timeouts. */
export interface WorkerParts {
  readonly script?: URL;
  readonly timings?: Partial<WorkerTimings>;
}

/** `start` resolves when the first worker serves requests. */
export async function openWorkers(options: NodeOptions & WorkerParts): Promise<Serving> {
  const { databaseUrl, logger, clock } = options;
  const { host, port, drainDelay } = options.settings;
  // Opens the database and finds the port once, so that errors are not reported by every worker.
  const settings = { ...options.settings, port: findPort({ host, port, option: '--port' }) };
  const stores = await openStores(databaseUrl, SERVER_OPTIONS, clock, { by: currentUser() });
  // Traces catalogue builds; the workers trace requests.
  const tracing = openTracing(options);
  const health = databaseHealth(logger, databaseUrl);
  const requestCounts = keptRequestCounts();
  const windowTimer = setInterval(() => requestCounts.beat(), WINDOW_BEAT_MS);
  // Used only for the metrics, which count its items.
  const catalogue = new Catalogue(clock);
  let snapshot: SnapshotData | undefined;
  let following: ChangeFollower | undefined;
  let isStopping = false;

  const pool = openWorkerPool({
    count: settings.workers,
    // No extension, because the file is .ts in a checkout and .js in the built program.
    script: options.script ?? new URL('./worker-thread', import.meta.url),
    firstMessages: (number) => [
      {
        type: 'start',
        setup: { number, settings, databaseUrl, tracing: options.tracing, counts: requestCounts.table },
      },
      ...(snapshot === undefined ? [] : [{ type: 'snapshot', snapshot } as const]),
    ],
    logger,
    timings: options.timings,
  });

  return {
    stores,
    catalogue,
    tracer: tracing?.tracer,
    failure: pool.failure,
    isReady: () => pool.workers().ready > 0 && !isStopping,
    report() {
      const databaseStatus = health.status();
      const own = { ...NO_REPORT, databaseStatus, pools: stores.pools(), spans: tracing?.exporter.counts };
      return mergeReports([pool.report(), own]);
    },
    workers: pool.workers,
    replace(built) {
      snapshot = built;
      pool.send({ type: 'snapshot', snapshot });
      catalogue.replace(snapshot);
    },
    async start(followed) {
      await pool.start();
      following = followChanges({ stores, databaseHealth: health, logger, ...followed });
    },
    reloadChanges: () => following?.poll(),
    /** Each worker opens the port after it has received the catalogue. */
    listen: () => urlOf(host, settings.port),
    /** Each worker keeps serving during --drain-delay. */
    async drain() {
      isStopping = true;
    },
    async stop() {
      isStopping = true;
      await pool.stop(drainDelay * 1_000 + STOP_MAX_MS - CLOSE_MAX_MS);
      following?.stop();
      health.stop();
      clearInterval(windowTimer);
    },
    async close() {
      await stores.close();
      await tracing?.exporter.close();
    },
  };
}
