// Limits that several nodes keep together, through the database. A node does not ask for every request: it
// takes permits, one at first and then twice as many each time they run out, up to a hundredth of the limit.
// All nodes together never let more through than the limit. They may let through a little less: what one node
// has taken and not used by the end of the window, no other can use.
//
// When the database is away or slow, each node counts for itself until it is back.

import type { PermitStore, WantedPermits } from '../domain/stores.ts';
import type { CounterMaker, RequestCount, RequestCounter } from './access/request-counter.ts';

/** A request waits no longer than this to be counted. */
const TIMEOUT_MS = 250;
const PROBE_INTERVAL_MS = 1_000;
/** Keys in one statement; what does not fit goes into the next. */
const BATCH_MAX = 1_000;
/** Keys beyond this many in one window ask for every request, so that memory stays bounded. */
const KEYS_MAX = 200_000;

/** A counter that never has to wait. */
export interface InstantCounter extends RequestCounter {
  add(key: string): RequestCount;
}

interface Taken {
  /** The permits are those that follow the first so many of the window. */
  readonly before: number;
  readonly windowNumber: number;
}

interface Waiting {
  count: number;
  readonly callers: { readonly offset: number; readonly resolve: (taken: Taken | undefined) => void }[];
}

export interface PermitPoolEvents {
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
}

/** Asks the database for permits, one statement at a time: what is asked for meanwhile goes into the next. */
export class PermitPool {
  readonly #store: PermitStore;
  readonly #events: PermitPoolEvents;
  readonly #probe: Timer;
  #waiting = new Map<string, Waiting>();
  #asking = false;
  #isAway = false;
  #windowEndMs = 0;

  constructor(store: PermitStore, events: PermitPoolEvents) {
    this.#store = store;
    this.#events = events;
    this.#probe = setInterval(() => void this.#lookIfBack(), PROBE_INTERVAL_MS);
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** What is left of the window under way. */
  get windowLeftMs(): number {
    return this.#windowEndMs - performance.now();
  }

  /** Undefined when the database has no answer. */
  take(key: string, count: number): Promise<Taken | undefined> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? { count: 0, callers: [] };
      waiting.callers.push({ offset: waiting.count, resolve });
      waiting.count += count;
      this.#waiting.set(key, waiting);
      if (!this.#asking) void this.#askForAll();
    });
  }

  stop(): void {
    clearInterval(this.#probe);
  }

  async #askForAll(): Promise<void> {
    this.#asking = true;
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, BATCH_MAX);
      for (const [key] of batch) this.#waiting.delete(key);
      try {
        const { taken, windowNumber } = await this.#ask(batch.map(([key, { count }]) => ({ key, count })));
        for (const [key, { count, callers }] of batch) {
          const before = (taken.get(key) ?? 0) - count;
          for (const { offset, resolve } of callers) resolve({ before: before + offset, windowNumber });
        }
      } catch (error) {
        if (!this.#isAway) this.#events.onAway(error);
        this.#isAway = true;
        for (const [, { callers }] of batch) for (const { resolve } of callers) resolve(undefined);
      }
    }
    this.#asking = false;
  }

  async #ask(wanted: readonly WantedPermits[]) {
    // From before the question, so that no permit is used after its window.
    const askedAtMs = performance.now();
    const answer = await inTime(this.#store.take(wanted));
    this.#windowEndMs = askedAtMs + answer.windowLeftMs;
    return answer;
  }

  /** While the database is away, requests do not wait for it; this does. */
  async #lookIfBack(): Promise<void> {
    if (!this.#isAway || this.#asking) return;
    try {
      await this.#ask([]);
    } catch {
      return;
    }
    this.#isAway = false;
    this.#events.onBack();
  }
}

interface Holding {
  left: number;
  /** How many all nodes had taken, when last heard. */
  taken: number;
  /** How many to take next time. */
  block: number;
  asking: boolean;
}

export class PermitCounter implements RequestCounter {
  readonly #pool: PermitPool;
  readonly #policy: string;
  readonly #limit: number;
  /** Counts all the while, so that it knows enough when the database goes away. */
  readonly #alone: InstantCounter;
  #holdings = new Map<string, Holding>();
  #windowNumber = -1;

  constructor(pool: PermitPool, policy: string, limit: number, alone: InstantCounter) {
    this.#pool = pool;
    this.#policy = policy;
    this.#limit = limit;
    this.#alone = alone;
  }

  add(key: string): RequestCount | Promise<RequestCount> {
    const alone = this.#alone.add(key);
    if (this.#pool.isAway) return alone;
    const windowLeftMs = this.#pool.windowLeftMs;
    if (windowLeftMs <= 0) this.#holdings.clear();
    const holding = this.#holdings.get(key);
    if (holding !== undefined && holding.left > 0) {
      holding.left -= 1;
      return { count: holding.taken - holding.left, windowLeftMs };
    }
    if (holding !== undefined && holding.taken >= this.#limit)
      return { count: this.#limit + 1, windowLeftMs };
    return this.#ask(key, alone);
  }

  peek(key: string): RequestCount {
    const windowLeftMs = this.#pool.windowLeftMs;
    const holding = this.#holdings.get(key);
    if (this.#pool.isAway || windowLeftMs <= 0 || holding === undefined) return this.#alone.peek(key);
    return { count: holding.taken - holding.left, windowLeftMs };
  }

  async #ask(key: string, alone: RequestCount): Promise<RequestCount> {
    const earlier = this.#holdings.get(key);
    // Whoever comes while more is on its way takes one permit only: a crowd must not take a block each.
    const wanted = earlier === undefined || earlier.asking ? 1 : earlier.block;
    if (earlier !== undefined) earlier.asking = true;
    const taken = await this.#pool.take(`${this.#policy} ${key}`, wanted);
    if (earlier !== undefined) earlier.asking = false;
    if (taken === undefined) return alone;
    if (taken.windowNumber !== this.#windowNumber) {
      this.#holdings.clear();
      this.#windowNumber = taken.windowNumber;
    }
    this.#keep(key, taken.before, wanted);
    return { count: taken.before + 1, windowLeftMs: this.#pool.windowLeftMs };
  }

  /** The first of the permits is used at once; the others, as far as they are within the limit, are kept. */
  #keep(key: string, before: number, wanted: number): void {
    const holding = this.#holdings.get(key) ?? { left: 0, taken: 0, block: 1, asking: false };
    const within = Math.min(this.#limit, before + wanted);
    holding.left += Math.max(0, within - before - 1);
    holding.taken = Math.max(holding.taken, within, Math.min(before, this.#limit));
    holding.block = Math.min(holding.block * 2, Math.max(1, Math.floor(this.#limit / 100)));
    if (this.#holdings.size < KEYS_MAX || this.#holdings.has(key)) this.#holdings.set(key, holding);
  }
}

/** Counters that share permits; `alone` makes those that count when the database is away. */
export function permitCounters(pool: PermitPool, alone: (policy: string) => InstantCounter): CounterMaker {
  return (policy, limit) => new PermitCounter(pool, policy, limit, alone(policy));
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no permits within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
