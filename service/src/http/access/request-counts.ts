// Counts requests per minute in a hash table, which several threads can share: they update it with atomic instructions. The counts
// are exact across threads, and requests do not wait for a lock.
//
// The table has two halves, one for the current window and one for the previous window. At the end of a window, its keeper clears
// the older half and then makes it current.

export const WINDOW_MS = 60_000;
/** Fixed, so floods cannot exhaust memory. A key without a free slot shares one: it is limited too early, never too late. */
const SLOTS = 2 ** 18;
/** Maximum distance between a key's slot and its preferred slot (linear probing). */
const DISTANCE_MAX = 64;
/** Each slot consists of a tag, which identifies the key, and a count. */
const SLOT_LENGTH = 2;
const [WINDOW, SECONDS_LEFT, SEED, HALVES_START] = [0, 1, 2, 3];

export type RequestCounts = ReturnType<typeof requestCounts>;

/** Counts in a table whose windows another thread keeps. */
export function requestCounts(table: Int32Array<SharedArrayBuffer>) {
  const slots = (table.length - HALVES_START) / (2 * SLOT_LENGTH);

  /** Returns the key's slot in this window: its own, the first free slot, or a shared slot. */
  function slotOf(key: string): number {
    const seed = Atomics.load(table, SEED) >>> 0;
    // 0 marks a free slot.
    const tag = Bun.hash.xxHash32(key, seed) | 0 || 1;
    const first = Bun.hash.xxHash32(key, ~seed >>> 0);
    const start = halfOf(Atomics.load(table, WINDOW), slots);
    const slotAt = (distance: number) => start + ((first + distance) % slots) * SLOT_LENGTH;
    for (let distance = 0; distance < DISTANCE_MAX; distance++) {
      const slot = slotAt(distance);
      // A different thread can claim a free slot first, for this key or a different key.
      const found = Atomics.load(table, slot) || Atomics.compareExchange(table, slot, 0, tag) || tag;
      if (found === tag) return slot;
    }
    return slotAt(0);
  }

  return {
    /** Counts a request and returns the count for its key, including this request. */
    add(key: string) {
      const count = Atomics.add(table, slotOf(key) + 1, 1) + 1;
      return { count, secondsLeft: Atomics.load(table, SECONDS_LEFT) };
    },
  };
}

function halfOf(window: number, slots: number): number {
  return HALVES_START + (window & 1) * slots * SLOT_LENGTH;
}

/**
 * Creates the table and starts its windows: when it counts a request, and at each beat(). The clock is monotonic, because an
 * operator may set the wall clock back.
 */
export function keptRequestCounts({ slots = SLOTS, monotonicMs = () => performance.now() } = {}) {
  const length = HALVES_START + 2 * slots * SLOT_LENGTH;
  const table = new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
  const counts = requestCounts(table);
  let windowEndMs = monotonicMs() + WINDOW_MS;
  // Random, so that clients cannot predict which addresses share a slot.
  Atomics.store(table, SEED, crypto.getRandomValues(new Int32Array(1))[0] ?? 0);
  beat();

  /** If other threads share the table, call this several times a second. */
  function beat(): void {
    const nowMs = monotonicMs();
    if (nowMs >= windowEndMs) {
      const next = Atomics.load(table, WINDOW) + 1;
      const start = halfOf(next, slots);
      table.fill(0, start, start + slots * SLOT_LENGTH);
      Atomics.store(table, WINDOW, next);
      windowEndMs = nowMs + WINDOW_MS;
    }
    Atomics.store(table, SECONDS_LEFT, Math.ceil((windowEndMs - nowMs) / 1000));
  }

  return {
    table,
    beat,
    add(key: string) {
      beat();
      return counts.add(key);
    },
  };
}
