// Counts requests per minute in one thread. For nodes with several workers, see shared-counts.ts.

export const WINDOW_MS = 60_000;
/** Maximum number of keys with their own count, per window. Prevents a flood of addresses from exhausting memory. */
const KEYS_MAX = 200_000;
/** Further keys share this many slots. They can be limited too early, but never too late. */
const SHARED_SLOTS = 4_096;

export interface RequestCount {
  /** Requests in this window. */
  readonly count: number;
  readonly windowLeftMs: number;
}

export interface RequestCounter {
  /** Counts a request and returns the count for its key, including this request. */
  add(key: string): RequestCount;
}

/** Creates the counter for a policy. */
export type CounterMaker = (policy: string) => RequestCounter;

export class LocalCounter implements RequestCounter {
  /** Monotonic, because an operator may set the wall clock back. */
  readonly #monotonicMs: () => number;
  /** By key, or by the number of a shared slot. */
  #counts = new Map<string | number, number>();
  /** Random, so clients cannot predict which keys share a slot. */
  readonly #seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  #windowEndMs = 0;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  add(key: string): RequestCount {
    const windowLeftMs = this.#windowLeftMs();
    const slot = this.#slotOf(key);
    const count = (this.#counts.get(slot) ?? 0) + 1;
    this.#counts.set(slot, count);
    return { count, windowLeftMs };
  }

  #slotOf(key: string): string | number {
    if (this.#counts.size < KEYS_MAX || this.#counts.has(key)) return key;
    return Bun.hash.xxHash32(key, this.#seed) % SHARED_SLOTS;
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
