// A map whose entries expire. Used to detect repeated taps, and to cache links that many users follow at once.

interface Entry<T> {
  readonly atMs: number;
  readonly value: T;
}

export class ExpiringMap<T> {
  readonly #keptMs: number;
  /** Entries are stored in two generations. The older generation is dropped as a whole once all its entries have expired. */
  #newer = new Map<string, Entry<T>>();
  #older = new Map<string, Entry<T>>();
  #turnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  find(key: string, nowMs: number): T | undefined {
    const entry = this.#newer.get(key) ?? this.#older.get(key);
    // abs() handles a clock that is set back: the entry survives a shift that is shorter than its lifetime, and expires after a
    // longer one.
    return entry && Math.abs(nowMs - entry.atMs) < this.#keptMs ? entry.value : undefined;
  }

  add(key: string, nowMs: number, value: T): void {
    if (Math.abs(nowMs - this.#turnedAtMs) >= this.#keptMs) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#turnedAtMs = nowMs;
    }
    this.#newer.set(key, { atMs: nowMs, value });
  }

  /** Removes the entry if it still has this value. */
  delete(key: string, value: T): void {
    for (const generation of [this.#newer, this.#older])
      if (generation.get(key)?.value === value) generation.delete(key);
  }
}
