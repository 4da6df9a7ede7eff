// Request counts for a node with several workers: a hash table in shared memory, updated with atomic instructions. The limit is
// exact across workers, and requests do not wait for a lock.
//
// The table has two halves, one for the current window and one for the previous window. At the end of a window, the main thread
// clears the older half and then makes it current.

import { type RequestCount, type RequestCounter, WINDOW_MS } from './request-counter.ts';

/**
 * Slots per window. A key that finds no free slot shares another key's slot: it can be limited too early, but never too
 * late.
 */
const SLOTS = 2 ** 18;
/** Maximum distance between a key's slot and its preferred slot (linear probing). */
const DISTANCE_MAX = 64;
/** Each slot consists of a tag, which identifies the key, and a count. */
const HALF_LENGTH = SLOTS * 2;
const [WINDOW, SECONDS_LEFT, SEED, HALVES_START] = [0, 1, 2, 3];
export const SHARED_COUNTS_BYTES = (HALVES_START + 2 * HALF_LENGTH) * Int32Array.BYTES_PER_ELEMENT;

const BEAT_MS = 250;

/** Starts new windows. Exactly one thread must call this. */
export class CountKeeper {
  readonly #table: Int32Array;
  readonly #monotonicMs: () => number;
  readonly #timer: Timer;
  #windowEndMs: number;

  constructor(table: Int32Array, monotonicMs: () => number = () => performance.now()) {
    this.#table = table;
    this.#monotonicMs = monotonicMs;
    this.#windowEndMs = monotonicMs() + WINDOW_MS;
    // Random, so that clients cannot predict which addresses share a slot.
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
    const count = Atomics.add(this.#table, this.#slotOf(key) + 1, 1) + 1;
    return { count, windowLeftMs: Atomics.load(this.#table, SECONDS_LEFT) * 1000 };
  }

  /** Returns the key's slot in this window: its own, the first free slot, or a shared slot. */
  #slotOf(key: string): number {
    const table = this.#table;
    const name = `${this.#policy} ${key}`;
    const seed = Atomics.load(table, SEED) >>> 0;
    // 0 marks a free slot.
    const tag = Bun.hash.xxHash32(name, seed) | 0 || 1;
    const first = Bun.hash.xxHash32(name, ~seed >>> 0);
    const start = halfOf(Atomics.load(table, WINDOW));
    const slotAt = (distance: number) => start + ((first + distance) % SLOTS) * 2;
    for (let distance = 0; distance < DISTANCE_MAX; distance++) {
      const slot = slotAt(distance);
      // Another worker can claim a free slot first, for this key or a different key.
      const found = Atomics.load(table, slot) || Atomics.compareExchange(table, slot, 0, tag) || tag;
      if (found === tag) return slot;
    }
    return slotAt(0);
  }
}

function halfOf(window: number): number {
  return HALVES_START + (window & 1) * HALF_LENGTH;
}
