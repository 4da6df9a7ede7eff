// The main thread's handle for one worker. Detects that the worker has failed, ended or stopped reporting, and must therefore
// be replaced.

import type { Logger } from '../../../domain/logger.ts';
import { fromThreadFailure } from '../threads/thread-client.ts';
import { NO_REPORT } from './worker-report.ts';
import type { FromWorker, ToWorker } from './worker-thread.ts';

export type WorkerHandle = ReturnType<typeof startWorker>;

export function startWorker(script: URL, logger: Logger, onReady: () => void) {
  const thread = new Worker(script);
  const ended = Promise.withResolvers<Error | undefined>();
  const closed = Promise.withResolvers<void>();
  let report = NO_REPORT;
  let hasBeenReady = false;
  let hasReported = false;
  let hasEnded = false;
  let silentChecks = 0;

  function end(reason: Error | undefined): void {
    if (hasEnded) return;
    hasEnded = true;
    thread.terminate();
    ended.resolve(reason);
  }

  function receive(message: FromWorker): void {
    hasReported = true;
    silentChecks = 0;
    switch (message.type) {
      case 'report':
        report = message.report;
        break;
      case 'ready':
        hasBeenReady = true;
        onReady();
        break;
      case 'log':
        logger.relay(message.lines);
        break;
      case 'failed':
        end(fromThreadFailure(message.failure));
        break;
      case 'stopped':
        end(undefined);
        break;
    }
  }

  thread.onmessage = ({ data }: MessageEvent<FromWorker>) => receive(data);
  thread.onerror = ({ message }) => end(new Error(message));
  thread.addEventListener('close', () => {
    closed.resolve();
    end(new Error('it ended unexpectedly'));
  });

  return {
    /** Resolves with the reason to replace the worker, or with undefined after a requested stop. */
    ended: ended.promise,
    /** Resolves when the thread has ended. A thread in native code ends only when that code returns. */
    closed: closed.promise,
    report: () => report,
    hasBeenReady: () => hasBeenReady,
    /** True while the worker serves requests. */
    isReady: () => hasBeenReady && !hasEnded,
    send: (message: ToWorker) => thread.postMessage(message),
    terminate: () => thread.terminate(),
    /**
     * Called at regular intervals. Ends the worker if too many calls pass without a report. Counts calls instead of time,
     * because a pause of the whole process is not the worker's fault.
     */
    check(silentChecksMax: number, startChecksMax: number): void {
      silentChecks += 1;
      if (silentChecks > (hasReported ? silentChecksMax : startChecksMax))
        end(new Error('it does not respond'));
    },
  };
}
