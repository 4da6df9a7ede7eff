// A worker of `serve --workers N`: a thread that serves requests on the shared port. It has its own database connections and
// tokens. The catalogue is in memory that all threads share.

import type { SnapshotData } from '../../../catalogue/snapshot-data.ts';
import type { ServeSettings } from '../../../config.ts';
import { systemClock } from '../../../domain/clock.ts';
import { requestCounts } from '../../../http/access/request-counts.ts';
import type { ServingReport } from '../../../http/metrics.ts';
import type { TracingSettings } from '../../../tracing/tracing-settings.ts';
import { openLog } from '../log-writer.ts';
import { openServing } from '../serving.ts';
import { type ThreadFailure, toThreadFailure } from '../threads/thread-client.ts';
import { NO_REPORT } from './worker-report.ts';

interface WorkerSetup {
  /** Starts at 1; a replacement keeps the number of the worker it replaces. */
  readonly number: number;
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly tracing: TracingSettings | undefined;
  /** Request counts for rate limits, shared by all workers. */
  readonly counts: Int32Array<SharedArrayBuffer>;
}

export type ToWorker =
  | { readonly type: 'start'; readonly setup: WorkerSetup }
  /** A new catalogue. The worker opens the port after receiving the first catalogue. */
  | { readonly type: 'snapshot'; readonly snapshot: SnapshotData }
  | { readonly type: 'stop' };

export type FromWorker =
  /** Sent several times a second; also serves as a heartbeat. */
  | { readonly type: 'report'; readonly report: ServingReport }
  /** The worker has opened the port. */
  | { readonly type: 'ready' }
  | { readonly type: 'log'; readonly lines: string }
  | { readonly type: 'failed'; readonly failure: ThreadFailure }
  /** The worker has closed everything and can be terminated. */
  | { readonly type: 'stopped' };

declare const self: Worker;

const REPORT_INTERVAL_MS = 250;

let report = (): ServingReport => NO_REPORT;
let running: ReturnType<typeof start> | undefined;

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
      (await running)?.replace(message.snapshot);
      break;
    case 'stop':
      await (await running)?.stop();
      send({ type: 'report', report: report() });
      send({ type: 'stopped' });
      break;
  }
}

async function start({ number, counts, ...setup }: WorkerSetup) {
  const log = openLog(setup.settings.logLevel, async (lines) => send({ type: 'log', lines }), number);
  const { logger } = log;
  const serving = await openServing({
    ...setup,
    logger,
    clock: systemClock,
    sharedCounts: requestCounts(counts),
  });
  const { catalogue } = serving;
  report = serving.report;
  await serving.start();
  return {
    replace(snapshot: SnapshotData) {
      const isFirst = catalogue.snapshot === undefined;
      catalogue.replace(snapshot);
      if (!isFirst) return;
      // Listen only now, because a worker gets requests as soon as it listens.
      serving.listen();
      logger.info({ revision: snapshot.revision }, 'worker ready');
      send({ type: 'ready' });
    },
    async stop() {
      await serving.drain();
      await serving.stop();
      await serving.close();
      await log.close();
    },
  };
}

function send(message: FromWorker): void {
  self.postMessage(message);
}
