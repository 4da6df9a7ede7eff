// Counting requests in windows of a minute. This file counts in the memory of one process; the workers of a node count
// together in shared-counts.ts.

export const WINDOW_MS = 60_000;
/** Keys beyond this many in one window are not counted: a flood of addresses must not fill the memory. */
const KEYS_MAX = 200_000;

/** Where a key stands. */
export interface RequestCount {
  /** Requests of this window, or more than the limit when no further one may be let through. */
  readonly count: number;
  readonly windowLeftMs: number;
}

/** Counts the requests of one policy. */
export interface RequestCounter {
  /** Counts a request and tells where its key stands with it. */
  add(key: string): RequestCount;
  /** Where a key stands, without counting anything. */
  peek(key: string): RequestCount;
}

/** Makes the counter of a policy. */
export type CounterMaker = (policy: string) => RequestCounter;

export class LocalCounter implements RequestCounter {
  /** Must not follow the wall clock, which an operator may set back by an hour. */
  readonly #monotonicMs: () => number;
  #counts = new Map<string, number>();
  #windowEndMs = 0;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  add(key: string): RequestCount {
    const windowLeftMs = this.#windowLeftMs();
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > 1 || this.#counts.size < KEYS_MAX) this.#counts.set(key, count);
    return { count, windowLeftMs };
  }

  peek(key: string): RequestCount {
    const windowLeftMs = this.#windowLeftMs();
    return { count: this.#counts.get(key) ?? 0, windowLeftMs };
  }

  /** Begins a new window when the last one is over. */
  #windowLeftMs(): number {
    const nowMs = this.#monotonicMs();
    if (nowMs >= this.#windowEndMs) {
      this.#counts = new Map();
      this.#windowEndMs = nowMs + WINDOW_MS;
    }
    return this.#windowEndMs - nowMs;
  }
}
