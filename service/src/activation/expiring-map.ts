// A map whose entries expire. Used to detect repeated taps, and to cache links that many users follow at once.

export class ExpiringMap<T> {
  readonly #keptMs: number;
  /** In order of insertion. */
  readonly #entries = new Map<string, { readonly atMs: number; readonly value: T }>();

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  find(key: string, nowMs: number): T | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#isLive(entry.atMs, nowMs) ? entry.value : undefined;
  }

  /** Also removes the oldest entries if they have expired. */
  add(key: string, nowMs: number, value: T): void {
    for (const [oldest, { atMs }] of this.#entries) {
      if (this.#isLive(atMs, nowMs)) break;
      this.#entries.delete(oldest);
    }
    this.#entries.delete(key);
    this.#entries.set(key, { atMs: nowMs, value });
  }

  /** Removes the entry if it still has this value. */
  delete(key: string, value: T): void {
    if (this.#entries.get(key)?.value === value) this.#entries.delete(key);
  }

  /** If the clock is set back, an entry survives a shift shorter than its lifetime, and expires after a longer one. */
  #isLive(atMs: number, nowMs: number): boolean {
    return Math.abs(nowMs - atMs) < this.#keptMs;
  }
}
