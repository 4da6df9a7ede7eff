// The main thread's handle for one worker. Detects that the worker has failed, ended or stopped reporting, and must therefore
// be replaced.

import { fromThreadFailure } from '../threads/thread-client.ts';
import { NO_REPORT, type WorkerReport } from './worker-report.ts';
import type { FromWorker, ToWorker } from './worker-thread.ts';

interface WorkerEvents {
  onLog(lines: string): void;
  onReady(): void;
}

export class WorkerHandle {
  readonly #thread: Worker;
  readonly #events: WorkerEvents;
  readonly #ended = Promise.withResolvers<Error | undefined>();
  readonly #closed = Promise.withResolvers<void>();
  /** Resolves with the reason to replace the worker, or with undefined after a requested stop. */
  readonly ended = this.#ended.promise;
  /** Resolves when the thread has ended. A thread in native code ends only when that code returns. */
  readonly closed = this.#closed.promise;
  report: WorkerReport = NO_REPORT;
  hasBeenReady = false;
  #hasReported = false;
  #hasEnded = false;
  #silentChecks = 0;

  constructor(script: URL, events: WorkerEvents) {
    this.#events = events;
    this.#thread = new Worker(script);
    this.#thread.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(data);
    this.#thread.onerror = ({ message }) => this.#end(new Error(message));
    this.#thread.addEventListener('close', () => {
      this.#closed.resolve();
      this.#end(new Error('it ended unexpectedly'));
    });
  }

  /** True while the worker serves requests. */
  get isReady(): boolean {
    return this.hasBeenReady && !this.#hasEnded;
  }

  send(message: ToWorker): void {
    this.#thread.postMessage(message);
  }

  /**
   * Called at regular intervals. Ends the worker if too many calls pass without a report. Counts calls instead of time,
   * because a pause of the whole process is not the worker's fault.
   */
  check(silentChecksMax: number, startChecksMax: number): void {
    this.#silentChecks += 1;
    if (this.#silentChecks > (this.#hasReported ? silentChecksMax : startChecksMax)) {
      this.#end(new Error('it does not respond'));
    }
  }

  terminate(): void {
    this.#thread.terminate();
  }

  #receive(message: FromWorker): void {
    this.#hasReported = true;
    this.#silentChecks = 0;
    switch (message.type) {
      case 'report':
        this.report = message.report;
        break;
      case 'ready':
        this.hasBeenReady = true;
        this.#events.onReady();
        break;
      case 'log':
        this.#events.onLog(message.lines);
        break;
      case 'failed':
        this.#end(fromThreadFailure(message.failure));
        break;
      case 'stopped':
        this.#end(undefined);
        break;
    }
  }

  #end(reason: Error | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#thread.terminate();
    this.#ended.resolve(reason);
  }
}
