// One worker thread as the main thread sees it, from its start until it has to be replaced: because it failed, ended by
// itself, or is silent.

import { fromThreadFailure } from '../thread-failure.ts';
import type { FromWorker, ToWorker } from './worker-messages.ts';
import { NO_REPORT, type WorkerReport } from './worker-report.ts';

interface WorkerEvents {
  onLog(lines: string): void;
  onReady(): void;
}

export class WorkerHandle {
  readonly #thread: Worker;
  readonly #events: WorkerEvents;
  readonly #ended = Promise.withResolvers<Error | undefined>();
  readonly #closed = Promise.withResolvers<void>();
  /** Settles when it has to be replaced, with the reason; undefined if it was told to stop and has done so. */
  readonly ended = this.#ended.promise;
  /** Settles when the thread is gone. A thread that is inside of a library does not end before it comes back from there. */
  readonly closed = this.#closed.promise;
  #report = NO_REPORT;
  #hasBeenHeard = false;
  #hasBeenReady = false;
  #hasEnded = false;
  #looksInVain = 0;

  constructor(script: URL, events: WorkerEvents) {
    this.#events = events;
    this.#thread = new Worker(script);
    this.#thread.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(data);
    this.#thread.onerror = ({ message }) => this.#end(new Error(message));
    this.#thread.addEventListener('close', () => {
      this.#closed.resolve();
      this.#end(new Error('it has ended by itself'));
    });
  }

  get hasBeenReady(): boolean {
    return this.#hasBeenReady;
  }

  /** Whether it answers requests. */
  get isReady(): boolean {
    return this.#hasBeenReady && !this.#hasEnded;
  }

  /** What it has told last. */
  get report(): WorkerReport {
    return this.#report;
  }

  send(message: ToWorker): void {
    this.#thread.postMessage(message);
  }

  /**
   * Called at regular intervals. Ends a worker that has told nothing for more than so many of them. Calls are counted, not
   * time: when the whole process stood still, no worker is to blame.
   */
  look(silentLooksMax: number, startLooksMax: number): void {
    this.#looksInVain += 1;
    if (this.#looksInVain > (this.#hasBeenHeard ? silentLooksMax : startLooksMax)) {
      this.#end(new Error('it does not answer'));
    }
  }

  terminate(): void {
    this.#thread.terminate();
  }

  #receive(message: FromWorker): void {
    this.#hasBeenHeard = true;
    this.#looksInVain = 0;
    switch (message.type) {
      case 'report':
        this.#report = message.report;
        break;
      case 'ready':
        this.#hasBeenReady = true;
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
