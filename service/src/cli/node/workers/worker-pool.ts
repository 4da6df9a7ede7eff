// Keeps a node's workers running: starts them, replaces workers that end or stop reporting, and fails the node if no worker
// starts.

import { BadInput } from '@offerbook/wire/failures.ts';
import type { Logger } from '../../../domain/logger.ts';
import { withTimeout } from '../../../domain/promises.ts';
import { isStorageError } from '../../../domain/storage-error.ts';
import { canStartThread } from '../threads/thread-client.ts';
import { startWorker, type WorkerHandle } from './worker-handle.ts';
import { countsOf, mergeReports, NO_REPORT } from './worker-report.ts';
import type { ToWorker } from './worker-thread.ts';

/** Tests use shorter times. */
const TIMINGS = {
  /** Longest time between two reports. */
  silenceMaxMs: 5_000,
  /** Longest time until the first report. */
  startMaxMs: 30_000,
  /** Longest time until a terminated thread ends. */
  endMaxMs: 10_000,
  /** Pause before a worker is replaced. It doubles each time the replacement also ends early. */
  restartMinMs: 500,
  restartMaxMs: 10_000,
  /** A worker that runs for less than this time has ended early. */
  provenMs: 60_000,
};

export type WorkerTimings = Readonly<typeof TIMINGS>;

/** Storage errors that a restart does not fix. */
const PERMANENT = ['denied', 'missing', 'invalid', 'too new', 'settings'] as const;

const CHECK_INTERVAL_MS = 250;
/** Maximum number of consecutive failed starts, counted across all workers, while no worker is ready. */
const FAILED_STARTS_MAX = 5;

interface WorkerPoolOptions {
  readonly count: number;
  readonly script: URL;
  readonly firstMessages: (number: number) => readonly ToWorker[];
  readonly logger: Logger;
  readonly timings?: Partial<WorkerTimings> | undefined;
}

export function openWorkerPool(options: WorkerPoolOptions) {
  const { script, firstMessages, logger } = options;
  const timings: WorkerTimings = { ...TIMINGS, ...options.timings };
  const workers = new Map<number, WorkerHandle>();
  const firstReady = Promise.withResolvers<void>();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {});
  const stopping = Promise.withResolvers<void>();
  let restarts = 0;
  let timer: Timer | undefined;
  let running: Promise<void>[] = [];
  /** Sum of the counts that ended workers had reported. */
  let past = NO_REPORT;
  let isStopping = false;
  let failedStarts = 0;

  /** Number of workers that serve requests. */
  function ready(): number {
    return [...workers.values()].filter((worker) => worker.isReady()).length;
  }

  /** Sends a message to all current workers. Workers that start later get only their first messages. */
  function send(message: ToWorker): void {
    for (const worker of workers.values()) worker.send(message);
  }

  async function keepRunning(number: number): Promise<void> {
    for (let endsInARow = 0; !isStopping; restarts += 1) {
      const startedAtMs = performance.now();
      const reason = await runOnce(number);
      if (isStopping || reason === undefined) return;
      const isProven = performance.now() - startedAtMs >= timings.provenMs;
      endsInARow = isProven ? 1 : endsInARow + 1;
      const delayMs = Math.min(timings.restartMaxMs, timings.restartMinMs * 2 ** (endsInARow - 1));
      logger.error({ worker: number, err: reason, delayMs }, 'a worker ended; starting a new one');
      await Promise.race([Bun.sleep(delayMs), stopping.promise]);
    }
  }

  /** Returns why the worker ended; undefined after a requested stop. */
  async function runOnce(number: number): Promise<Error | undefined> {
    if (!canStartThread()) {
      const error = new Error('no file handle is free to start a thread');
      startFailed(error);
      return error;
    }
    const worker = startWorker(script, logger, startSucceeded);
    workers.set(number, worker);
    for (const message of firstMessages(number)) worker.send(message);
    const reason = await worker.ended;
    workers.delete(number);
    past = mergeReports([past, countsOf(worker.report())]);
    if (reason === undefined || isStopping) return reason;
    if (!worker.hasBeenReady()) startFailed(reason);
    await expectClosed(worker);
    return reason;
  }

  function startSucceeded(): void {
    failedStarts = 0;
    firstReady.resolve();
  }

  function startFailed(reason: Error): void {
    failedStarts = ready() > 0 ? 0 : failedStarts + 1;
    if (failedStarts === 0) return;
    if (reason instanceof BadInput || isStorageError(reason, ...PERMANENT)) failure.reject(reason);
    if (failedStarts < FAILED_STARTS_MAX) return;
    failure.reject(new Error(`no worker could start: ${reason.message}`, { cause: reason }));
  }

  /**
   * Fails the node if the thread does not end: its socket would keep accepting a share of the connections without answering
   * them.
   */
  async function expectClosed(worker: WorkerHandle): Promise<void> {
    const stuck = () => new Error('a worker does not respond and cannot be terminated');
    await withTimeout(worker.closed, timings.endMaxMs, stuck).catch(failure.reject);
  }

  function check(): void {
    const { silenceMaxMs, startMaxMs } = timings;
    for (const worker of workers.values())
      worker.check(silenceMaxMs / CHECK_INTERVAL_MS, startMaxMs / CHECK_INTERVAL_MS);
  }

  return {
    /** Rejects if the node cannot continue. */
    failure: failure.promise,
    workers: () => ({ ready: ready(), restarts }),
    /** Returns one report for all workers, including those that have ended. */
    report: () => mergeReports([past, ...[...workers.values()].map((worker) => worker.report())]),
    /** Starts all workers. Resolves when the first of them serves requests. */
    async start(): Promise<void> {
      timer = setInterval(check, CHECK_INTERVAL_MS);
      running = Array.from({ length: options.count }, (_, i) => keepRunning(i + 1));
      await Promise.race([firstReady.promise, failure.promise]);
    },
    send,
    /** Gives the workers up to this long to finish their requests, then terminates them. */
    async stop(timeoutMs: number): Promise<void> {
      isStopping = true;
      stopping.resolve();
      send({ type: 'stop' });
      await Promise.race([Promise.all(running), Bun.sleep(timeoutMs)]);
      clearInterval(timer);
      for (const worker of workers.values()) worker.terminate();
    },
  };
}
