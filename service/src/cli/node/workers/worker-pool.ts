// Keeps a node's workers running: starts them, replaces workers that end or stop reporting, and fails the node if no worker
// starts.

import { BadInput } from '@offerbook/wire/failures.ts';
import type { Logger } from '../../../domain/logger.ts';
import { withTimeout } from '../../../domain/promises.ts';
import { isStorageError } from '../../../domain/storage-error.ts';
import { canStartThread } from '../threads/thread-client.ts';
import { WorkerHandle } from './worker-handle.ts';
import { countsOf, mergeReports, NO_REPORT, type WorkerReport } from './worker-report.ts';
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
  readonly onLog: (lines: string) => void;
  readonly logger: Logger;
  readonly timings?: Partial<WorkerTimings> | undefined;
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #timings: WorkerTimings;
  readonly #workers = new Map<number, WorkerHandle>();
  readonly #firstReady = Promise.withResolvers<void>();
  readonly #failure = Promise.withResolvers<never>();
  /** Rejects if the node cannot continue. */
  readonly failure = this.#failure.promise;
  readonly #stopping = Promise.withResolvers<void>();
  restarts = 0;
  #timer: Timer | undefined;
  #running: Promise<void>[] = [];
  /** Sum of the counts that ended workers had reported. */
  #past = NO_REPORT;
  #isStopping = false;
  #failedStarts = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#timings = { ...TIMINGS, ...options.timings };
    this.failure.catch(() => {});
  }

  /** Number of workers that serve requests. */
  get ready(): number {
    return [...this.#workers.values()].filter(({ isReady }) => isReady).length;
  }

  /** The merged report of all workers, including those that have ended. */
  get report(): WorkerReport {
    return mergeReports([this.#past, ...[...this.#workers.values()].map(({ report }) => report)]);
  }

  /** Starts all workers. Resolves when the first of them serves requests. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
    this.#running = Array.from({ length: this.#options.count }, (_, i) => this.#keepRunning(i + 1));
    await Promise.race([this.#firstReady.promise, this.failure]);
  }

  /** Sends a message to all current workers. Workers that start later get only their first messages. */
  send(message: ToWorker): void {
    for (const worker of this.#workers.values()) worker.send(message);
  }

  /** Gives the workers up to this long to finish their requests, then terminates them. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    this.#stopping.resolve();
    this.send({ type: 'stop' });
    await Promise.race([Promise.all(this.#running), Bun.sleep(timeoutMs)]);
    clearInterval(this.#timer);
    for (const worker of this.#workers.values()) worker.terminate();
  }

  async #keepRunning(number: number): Promise<void> {
    for (let endsInARow = 0; !this.#isStopping; this.restarts += 1) {
      const startedAtMs = performance.now();
      const reason = await this.#runOnce(number);
      if (this.#isStopping || reason === undefined) return;
      const isProven = performance.now() - startedAtMs >= this.#timings.provenMs;
      endsInARow = isProven ? 1 : endsInARow + 1;
      const { restartMinMs, restartMaxMs } = this.#timings;
      const delayMs = Math.min(restartMaxMs, restartMinMs * 2 ** (endsInARow - 1));
      this.#options.logger.error(
        { worker: number, err: reason, delayMs },
        'a worker ended; starting a new one',
      );
      await Promise.race([Bun.sleep(delayMs), this.#stopping.promise]);
    }
  }

  /** Returns why the worker ended; undefined after a requested stop. */
  async #runOnce(number: number): Promise<Error | undefined> {
    if (!canStartThread()) {
      const error = new Error('no file handle is free to start a thread');
      this.#startFailed(error);
      return error;
    }
    const { script, firstMessages, onLog } = this.#options;
    const worker = new WorkerHandle(script, { onLog, onReady: () => this.#startSucceeded() });
    this.#workers.set(number, worker);
    for (const message of firstMessages(number)) worker.send(message);
    const reason = await worker.ended;
    this.#workers.delete(number);
    this.#past = mergeReports([this.#past, countsOf(worker.report)]);
    if (reason === undefined || this.#isStopping) return reason;
    if (!worker.hasBeenReady) this.#startFailed(reason);
    await this.#expectClosed(worker);
    return reason;
  }

  #startSucceeded(): void {
    this.#failedStarts = 0;
    this.#firstReady.resolve();
  }

  #startFailed(reason: Error): void {
    this.#failedStarts = this.ready > 0 ? 0 : this.#failedStarts + 1;
    if (this.#failedStarts === 0) return;
    if (reason instanceof BadInput || isStorageError(reason, ...PERMANENT)) this.#failure.reject(reason);
    if (this.#failedStarts < FAILED_STARTS_MAX) return;
    this.#failure.reject(new Error(`no worker could start: ${reason.message}`, { cause: reason }));
  }

  /**
   * Fails the node if the thread does not end: its socket would keep accepting a share of the connections without answering
   * them.
   */
  async #expectClosed(worker: WorkerHandle): Promise<void> {
    const stuck = () => new Error('a worker does not respond and cannot be terminated');
    await withTimeout(worker.closed, this.#timings.endMaxMs, stuck).catch(this.#failure.reject);
  }

  #check(): void {
    const { silenceMaxMs, startMaxMs } = this.#timings;
    for (const worker of this.#workers.values()) {
      worker.check(silenceMaxMs / CHECK_INTERVAL_MS, startMaxMs / CHECK_INTERVAL_MS);
    }
  }
}
