// Requests a page of transactions from one node several times a second, to measure when it serves pages again.

const INTERVAL_MS = 100;
const REQUEST_TIMEOUT_MS = 5_000;
const GIVE_UP_MS = 60_000;
const KEPT_MAX = 2_000;

export class Probe {
  readonly #url: string;
  readonly #token: string;
  readonly #timer: Timer;
  /** Requests that got 200. */
  #served: { readonly sentAtMs: number; readonly servedAtMs: number }[] = [];

  constructor(nodeUrl: string, token: string) {
    this.#url = `${nodeUrl}/v1/transactions/?limit=1`;
    this.#token = token;
    this.#timer = setInterval(() => void this.#send(), INTERVAL_MS);
  }

  /** Returns the time of the first 200 to a request that was sent after `sinceMs`. */
  async untilServedAfter(sinceMs: number): Promise<number> {
    const giveUpMs = performance.now() + GIVE_UP_MS;
    while (true) {
      const times = this.#served.filter(({ sentAtMs }) => sentAtMs >= sinceMs).map((each) => each.servedAtMs);
      if (times.length > 0) return Math.min(...times);
      if (performance.now() > giveUpMs) throw new Error(`no 200 from ${this.#url} for ${GIVE_UP_MS} ms`);
      await Bun.sleep(20);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #send(): Promise<void> {
    const sentAtMs = performance.now();
    try {
      const response = await fetch(this.#url, {
        headers: { Authorization: `Bearer ${this.#token}` },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      await response.text();
      if (response.status !== 200) return;
      this.#served = [...this.#served.slice(-KEPT_MAX), { sentAtMs, servedAtMs: performance.now() }];
    } catch {
      // The node is being stopped, or has not responded in time.
    }
  }
}
