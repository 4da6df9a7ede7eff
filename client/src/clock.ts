// Time, as far as this library depends on it. A test can hand in a clock of its own and need not wait.

export interface Clock {
  /** Milliseconds since the epoch: the time of day, which can be set. */
  now(): number;
  /** Milliseconds since some moment: for measuring, because nobody can set it. */
  monotonicMs(): number;
  /** Resolves after this many milliseconds; rejects as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Timers count in 32 bits: a longer one would go off at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
        Math.min(ms, TIMER_MAX_MS),
      );
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    }),
};
