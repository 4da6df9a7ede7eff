// Counts requests in windows of one minute, in the memory of one thread. The workers of a node count together in
// shared-counts.ts.

export const WINDOW_MS = 60_000;
/** Keys per window with a count of their own: a flood of addresses must not fill the memory. */
const KEYS_MAX = 200_000;
/** Further keys share this many counts. They may be limited early, never late. */
const SHARED_PLACES = 4_096;

/** The count of a key. */
export interface RequestCount {
  /** Requests in this window. */
  readonly count: number;
  readonly windowLeftMs: number;
}

/** Counts the requests of one policy. */
export interface RequestCounter {
  /** Counts a request and returns the count of its key, this request included. */
  add(key: string): RequestCount;
}

/** Creates the counter of a policy. */
export type CounterMaker = (policy: string) => RequestCounter;

export class LocalCounter implements RequestCounter {
  /** Must not follow the wall clock, which an operator may set back by an hour. */
  readonly #monotonicMs: () => number;
  /** By key, or by the number of a shared slot. */
  #counts = new Map<string | number, number>();
  /** Clients cannot predict which keys share a slot. */
  readonly #seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  #windowEndMs = 0;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  add(key: string): RequestCount {
    const windowLeftMs = this.#windowLeftMs();
    const place = this.#place(key);
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    return { count, windowLeftMs };
  }

  #place(key: string): string | number {
    if (this.#counts.size < KEYS_MAX || this.#counts.has(key)) return key;
    return Bun.hash.xxHash32(key, this.#seed) % SHARED_PLACES;
  }

  /** Starts a new window if the last one has ended. */
  #windowLeftMs(): number {
    const nowMs = this.#monotonicMs();
    if (nowMs >= this.#windowEndMs) {
      this.#counts = new Map();
      this.#windowEndMs = nowMs + WINDOW_MS;
    }
    return this.#windowEndMs - nowMs;
  }
}
