// Caches responses with their ETags, so that the service need not resend unchanged pages. The client revalidates a cached
// response with the service each time before using it.

export interface CachedResponse {
  etag: string;
  /** The response body: unparsed JSON. */
  body: string;
}

/** Storage for cached responses, keyed by URL. If the cache throws, the request fails. */
export interface EtagCache {
  get(url: string): CachedResponse | undefined | Promise<CachedResponse | undefined>;
  set(url: string, response: CachedResponse): void | Promise<void>;
}

/** Keeps up to `entriesMax` responses in memory and evicts the least recently used. */
export class MemoryCache implements EtagCache {
  readonly #responses = new Map<string, CachedResponse>();
  readonly #entriesMax: number;

  constructor(entriesMax = 100) {
    this.#entriesMax = entriesMax;
  }

  get(url: string): CachedResponse | undefined {
    const found = this.#responses.get(url);
    if (found !== undefined) this.set(url, found);
    return found;
  }

  set(url: string, response: CachedResponse): void {
    // A Map iterates in insertion order, so re-inserting makes this entry the newest.
    this.#responses.delete(url);
    this.#responses.set(url, response);
    for (const oldest of this.#responses.keys()) {
      if (this.#responses.size <= this.#entriesMax) return;
      this.#responses.delete(oldest);
    }
  }
}
