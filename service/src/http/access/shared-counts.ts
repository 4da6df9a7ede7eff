// The counts of one node that has several workers: a table in memory that these threads share, changed with atomic
// instructions only. So the limit holds exactly, whichever worker a connection ends up at, and a request waits for
// nobody.
//
// The table has two halves. One counts the window under way, the other is the one before it. The keeper, which is the
// main thread, empties the older half at the end of a window and then makes it the current one.

import { type RequestCount, type RequestCounter, WINDOW_MS } from './request-counter.ts';

/** Keys in one window. A key that finds no free place shares the count of another: it may be limited early, never late. */
const PLACES = 2 ** 18;
/** How far from its own place a key may be put when that is taken. */
const DISTANCE_MAX = 64;
/** For each place a tag, which tells the key, and a count. */
const HALF_LENGTH = PLACES * 2;
const [WINDOW, SECONDS_LEFT, SEED, HALVES_START] = [0, 1, 2, 3];
export const SHARED_COUNTS_BYTES = (HALVES_START + 2 * HALF_LENGTH) * Int32Array.BYTES_PER_ELEMENT;

const BEAT_MS = 250;

/** Moves the windows on. One thread does it, for as long as there are workers. */
export class CountKeeper {
  readonly #table: Int32Array;
  readonly #monotonicMs: () => number;
  readonly #timer: Timer;
  #windowEndMs: number;

  constructor(table: Int32Array, monotonicMs: () => number = () => performance.now()) {
    this.#table = table;
    this.#monotonicMs = monotonicMs;
    this.#windowEndMs = monotonicMs() + WINDOW_MS;
    // Nobody outside can tell which addresses would share a place with another.
    Atomics.store(table, SEED, crypto.getRandomValues(new Int32Array(1))[0] ?? 0);
    this.beat();
    this.#timer = setInterval(() => this.beat(), BEAT_MS);
  }

  beat(): void {
    const nowMs = this.#monotonicMs();
    if (nowMs >= this.#windowEndMs) {
      const next = Atomics.load(this.#table, WINDOW) + 1;
      const start = halfOf(next);
      this.#table.fill(0, start, start + HALF_LENGTH);
      Atomics.store(this.#table, WINDOW, next);
      this.#windowEndMs = nowMs + WINDOW_MS;
    }
    Atomics.store(this.#table, SECONDS_LEFT, Math.ceil((this.#windowEndMs - nowMs) / 1000));
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

export class SharedCounter implements RequestCounter {
  readonly #table: Int32Array;
  readonly #policy: string;

  constructor(table: Int32Array, policy: string) {
    this.#table = table;
    this.#policy = policy;
  }

  add(key: string): RequestCount {
    const count = Atomics.add(this.#table, this.#place(key) + 1, 1) + 1;
    return { count, windowLeftMs: Atomics.load(this.#table, SECONDS_LEFT) * 1000 };
  }

  /** Where a key is counted in this window: the first place that is its own or free, or else one that it shares. */
  #place(key: string): number {
    const table = this.#table;
    const name = `${this.#policy} ${key}`;
    const seed = Atomics.load(table, SEED) >>> 0;
    // 0 means that a place is free.
    const tag = Bun.hash.xxHash32(name, seed) | 0 || 1;
    const first = Bun.hash.xxHash32(name, ~seed >>> 0);
    const start = halfOf(Atomics.load(table, WINDOW));
    const placeAt = (distance: number) => start + ((first + distance) % PLACES) * 2;
    for (let distance = 0; distance < DISTANCE_MAX; distance++) {
      const place = placeAt(distance);
      // Another worker may claim a free place first, for the same key or for another.
      const found = Atomics.load(table, place) || Atomics.compareExchange(table, place, 0, tag) || tag;
      if (found === tag) return place;
    }
    return placeAt(0);
  }
}

function halfOf(window: number): number {
  return HALVES_START + (window & 1) * HALF_LENGTH;
}
