// A worker of `serve --workers N`: a thread that serves requests on the shared port. It has its own database connections and
// tokens. The catalogue is in memory that all threads share.

import type { SnapshotData } from '../../../catalogue/snapshot-data.ts';
import { systemClock } from '../../../domain/clock.ts';
import { RequestCounts } from '../../../http/access/request-counts.ts';
import { openLog } from '../log-writer.ts';
import { openServing } from '../serving.ts';
import { toThreadFailure } from '../threads/thread-client.ts';
import type { FromWorker, ToWorker, WorkerSetup } from './worker-messages.ts';
import { NO_REPORT, type WorkerReport } from './worker-report.ts';

declare const self: Worker;

const REPORT_INTERVAL_MS = 250;

let report = (): WorkerReport => NO_REPORT;
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
    requestCounts: new RequestCounts(counts),
    sharesPort: true,
  });
  const { catalogue } = serving;
  report = serving.report;
  await serving.load();
  return {
    replace(snapshot: SnapshotData) {
      const isFirst = !catalogue.ready;
      catalogue.replace(snapshot);
      if (!isFirst) return;
      // Listen only now, because a worker gets requests as soon as it listens.
      serving.listen();
      logger.info({ revision: catalogue.revision }, 'worker ready');
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
