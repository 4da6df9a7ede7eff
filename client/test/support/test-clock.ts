// A clock that does not wait: as soon as nothing else is left to do, it jumps to the end of the next sleep. Works only without
// real sockets, because the clock cannot tell when they are idle.

import type { Clock } from '../../src/clock.ts';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly ms: number;
  readonly wake: () => void;
}

export class TestClock implements Clock {
  #nowMs = Date.UTC(2026, 10, 14, 12);
  #setByMs = 0;
  readonly #sleepers = new Set<Sleeper>();
  /** Durations of all completed sleeps, in order. */
  readonly slept: number[] = [];

  now(): number {
    return this.#nowMs + this.#setByMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  /** Sets the wall-clock time, like an administrator or a time server. */
  set(byMs: number): void {
    this.#setByMs += byMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const sleeper = { wakeAtMs: this.#nowMs + ms, ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', stop, { once: true });
      setImmediate(() => this.#wakeNext());
    });
  }

  #wakeNext(): void {
    const [next] = [...this.#sleepers].sort((a, b) => a.wakeAtMs - b.wakeAtMs);
    if (next === undefined) return;
    this.#sleepers.delete(next);
    this.#nowMs = Math.max(this.#nowMs, next.wakeAtMs);
    this.slept.push(next.ms);
    next.wake();
    // Other sleepers continue after this one.
    if (this.#sleepers.size > 0) setImmediate(() => this.#wakeNext());
  }
}
