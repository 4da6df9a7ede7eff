// A node with several workers (`serve --workers N`): threads that share the port. The main thread does not serve requests.
// It builds the catalogue for all threads, replaces workers that fail, and collects their metrics and log lines.

import { Catalogue } from '../../../catalogue/catalogue.ts';
import type { SnapshotData } from '../../../catalogue/snapshot-data.ts';
import { KeptRequestCounts } from '../../../http/access/request-counts.ts';
import { SERVER_OPTIONS } from '../../../storage/open-database.ts';
import { openStores } from '../../../storage/open-stores.ts';
import { currentUser } from '../../current-user.ts';
import { logCollector, openTracing } from '../../open-tracing.ts';
import { openAdmin } from '../admin.ts';
import { type ChangeFollower, type Followed, followChanges } from '../change-follower.ts';
import { DatabaseHealth } from '../database-health.ts';
import { findPort, urlOf } from '../listen.ts';
import type { RunningNode } from '../node.ts';
import type { NodeOptions } from '../node-settings.ts';
import { STOP_MAX_MS } from '../signals.ts';
import { openSnapshotBuilder } from '../snapshot-builder.ts';
import { openWebhookHost } from '../webhooks/webhook-host.ts';
import { WorkerPool, type WorkerTimings } from './worker-pool.ts';
import { mergeReports, NO_REPORT, type WorkerReport } from './worker-report.ts';

/** The part of STOP_MAX_MS reserved for closing the main thread after the workers have stopped. */
const CLOSE_MAX_MS = 1_000;
/** How late a window of the rate limits can start. */
const WINDOW_BEAT_MS = 250;

/** Parts that tests replace with faulty threads and shorter timeouts. */
export interface WorkerParts {
  readonly script?: URL;
  readonly timings?: Partial<WorkerTimings>;
}

interface WorkersOptions extends NodeOptions, WorkerParts {
  readonly onLog: (lines: string) => void;
}

/** Resolves when the first worker serves requests. */
export async function startWorkers(options: WorkersOptions): Promise<RunningNode> {
  const { databaseUrl, logger, clock, onLog } = options;
  const { host, port, drainDelay } = options.settings;
  // Opens the database and finds the port once, so that errors are not reported by every worker.
  const settings = { ...options.settings, port: findPort({ host, port, option: '--port' }) };
  const stores = await openStores(databaseUrl, SERVER_OPTIONS, clock, { by: currentUser() });
  // Traces catalogue builds; the workers trace requests.
  const tracing = openTracing(options.tracing, { databaseUrl, clock, onChange: logCollector(logger) });
  const builder = openSnapshotBuilder(databaseUrl, tracing?.tracer);
  const databaseHealth = new DatabaseHealth(logger, databaseUrl);
  const requestCounts = new KeptRequestCounts();
  const windowTimer = setInterval(() => requestCounts.beat(), WINDOW_BEAT_MS);
  // Used only for the metrics, which count its items.
  const catalogue = new Catalogue(clock);
  const webhooks = openWebhookHost(options, stores);
  let snapshot: SnapshotData | undefined;
  let closeAdmin: (() => Promise<void>) | undefined;
  let following: ChangeFollower | undefined;
  let isStopping = false;

  const pool = new WorkerPool({
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
    onLog,
    logger,
    timings: options.timings,
  });

  async function buildSnapshot(): Promise<void> {
    snapshot = await builder.build();
    pool.send({ type: 'snapshot', snapshot });
    catalogue.replace(snapshot);
  }

  const followed: Followed = {
    get revision() {
      return catalogue.revision;
    },
    refresh: buildSnapshot,
  };

  function report(): WorkerReport {
    const { status: databaseStatus } = databaseHealth;
    const own = { ...NO_REPORT, databaseStatus, pools: stores.pools(), spans: tracing?.exporter.counts };
    return mergeReports([pool.report, own]);
  }

  async function close(): Promise<void> {
    isStopping = true;
    await Promise.all([pool.stop(drainDelay * 1_000 + STOP_MAX_MS - CLOSE_MAX_MS), webhooks.stop()]);
    following?.stop();
    databaseHealth.stop();
    clearInterval(windowTimer);
    await Promise.all([closeAdmin?.(), builder.close()]);
    await stores.close();
    await tracing?.exporter.close();
  }

  try {
    closeAdmin = openAdmin(options, {
      stores,
      catalogue,
      isReady: () => pool.ready > 0 && !isStopping,
      report,
      workers: () => ({ ready: pool.ready, restarts: pool.restarts }),
      sender: () => webhooks.report,
    });
    // The threads start while the catalogue is being built.
    await Promise.all([pool.start(), buildSnapshot()]);
    await webhooks.refresh();
    following = followChanges({ stores, databaseHealth, logger, catalogue: followed, webhooks });
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
