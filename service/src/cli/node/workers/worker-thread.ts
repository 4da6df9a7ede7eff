// A worker of `offerbook serve --workers N`: a thread that answers requests on the port that it shares with the others.
// It has connections and tokens of its own; the catalogue lies in memory that all threads share.

import { Catalogue, type SnapshotData } from '../../../catalogue/catalogue.ts';
import { systemClock } from '../../../domain/clock.ts';
import { SharedCounter } from '../../../http/access/shared-counts.ts';
import { CallerTally } from '../../../http/caller-tally.ts';
import { RequestTally } from '../../../http/request-tally.ts';
import { logCollector, openTracing } from '../../open-tracing.ts';
import { followChanges } from '../change-follower.ts';
import { DatabaseHealth } from '../database-health.ts';
import { openNodeStores } from '../node-stores.ts';
import { openLog } from '../open-log.ts';
import { Serving } from '../serving.ts';
import { toThreadFailure } from '../thread-failure.ts';
import type { FromWorker, ToWorker, WorkerSetup } from './worker-messages.ts';
import { NO_REPORT, type WorkerReport } from './worker-report.ts';

declare const self: Worker;

const REPORT_INTERVAL_MS = 250;

interface RunningWorker {
  take(snapshot: SnapshotData): void;
  stop(): Promise<void>;
}

let report = (): WorkerReport => NO_REPORT;
let running: Promise<RunningWorker> | undefined;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  receive(data).catch((error) => send({ type: 'failed', failure: toThreadFailure(error) }));
};

async function receive(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'start':
      setInterval(() => send({ type: 'report', report: report() }), REPORT_INTERVAL_MS);
      running = start(message.setup);
      await running;
      break;
    case 'snapshot':
      (await running)?.take(message.snapshot);
      // The snapshot before lies in shared memory, so that the collector takes it for small and would leave it there.
      Bun.gc(true);
      break;
    case 'stop':
      await (await running)?.stop();
      send({ type: 'report', report: report() });
      send({ type: 'stopped' });
      break;
  }
}

async function start(setup: WorkerSetup): Promise<RunningWorker> {
  const { settings, databaseUrl } = setup;
  const log = openLog(settings.logLevel, async (lines) => send({ type: 'log', lines }), setup.number);
  const { logger } = log;
  const stores = await openNodeStores({ settings, databaseUrl, logger }, systemClock);
  const tracing = openTracing(setup.tracing, { databaseUrl, onChange: logCollector(logger) });
  const catalogue = new Catalogue(systemClock);
  const databaseHealth = new DatabaseHealth(logger);
  const counts = new Int32Array(setup.counts);
  const tally = new RequestTally();
  const callers = new CallerTally(systemClock);
  const serving = new Serving({
    settings,
    databaseUrl,
    stores,
    catalogue,
    databaseHealth,
    logger,
    clock: systemClock,
    tally,
    tracer: tracing?.tracer,
    callers,
    requestCounter: (policy) => new SharedCounter(counts, policy),
    sharesPort: true,
  });
  report = () => ({
    isDatabaseUsable: databaseHealth.isUsable,
    replica: stores.replica(),
    routes: tally.routes,
    clicks: serving.clicks,
    spans: tracing?.counts,
    callers: callers.tallies,
  });
  await serving.load();
  const { tokens, links } = serving;
  const following = followChanges({ stores, databaseHealth, tokens, links });
  // What was committed since they were read.
  following.look();
  return {
    take(snapshot) {
      const isFirst = !catalogue.ready;
      catalogue.take(snapshot);
      if (!isFirst) return;
      // Not before: a worker that listens gets its share of the requests, which the others could answer.
      serving.listen();
      logger.info({ revision: catalogue.revision }, 'worker ready');
      send({ type: 'ready' });
    },
    async stop() {
      await serving.drain();
      await serving.stop();
      following.stop();
      databaseHealth.stop();
      await stores.close();
      await tracing?.close();
      await log.close();
    },
  };
}

function send(message: FromWorker): void {
  self.postMessage(message);
}
