// The clock and timers that this library uses. Tests pass their own clock to avoid waiting.

export interface Clock {
  /** Wall-clock time, in milliseconds since the epoch. */
  now(): number;
  /** Monotonic time for measuring durations. */
  monotonicMs(): number;
  /** Resolves after this many milliseconds; rejects as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that setTimeout supports; a longer one fires immediately. */
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
