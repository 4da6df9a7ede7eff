// What was answered before, so that an unchanged page need not be sent again. Every use is confirmed by the
// service; nothing is ever answered from here alone.

export interface CachedAnswer {
  etag: string;
  /** The answer's body as it came: JSON text. */
  body: string;
}

/** Where answers are kept. Keys are URLs. A cache that throws fails the request. */
export interface EtagCache {
  get(url: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  set(url: string, answer: CachedAnswer): void | Promise<void>;
}

/** Keeps answers in memory; beyond `entriesMax`, the one that was used longest ago goes. */
export class MemoryCache implements EtagCache {
  readonly #answers = new Map<string, CachedAnswer>();
  readonly #entriesMax: number;

  constructor(entriesMax = 100) {
    this.#entriesMax = entriesMax;
  }

  get(url: string): CachedAnswer | undefined {
    const found = this.#answers.get(url);
    if (found !== undefined) this.set(url, found);
    return found;
  }

  set(url: string, answer: CachedAnswer): void {
    // A Map keeps the order of insertion, so what was used last stands last.
    this.#answers.delete(url);
    this.#answers.set(url, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= this.#entriesMax) return;
      this.#answers.delete(oldest);
    }
  }
}
