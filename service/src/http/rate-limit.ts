// Request limits: so many a minute for each key, counted in fixed windows in this process. The headers are
// those of the IETF draft (RateLimit and RateLimit-Policy).

export const WINDOW_MS = 60_000;
/** Keys beyond this many in one window are not counted: a flood of addresses must not fill the memory. */
const KEYS_MAX = 200_000;

export interface RateLimitState {
  readonly exceeded: boolean;
  readonly retryAfterS: number;
  readonly headers: Readonly<Record<string, string>>;
}

const UNLIMITED: RateLimitState = { exceeded: false, retryAfterS: 0, headers: {} };

export class RateLimiter {
  readonly #policy: string;
  readonly #limit: number;
  readonly #policyHeader: string;
  /** Must not follow the wall clock, which an operator may set back by an hour. */
  readonly #monotonicMs: () => number;
  #counts = new Map<string, number>();
  #windowEndMs = 0;

  /** A limit of 0 turns the limiter off. */
  constructor(policy: string, limit: number, monotonicMs: () => number = () => performance.now()) {
    this.#policy = policy;
    this.#limit = limit;
    this.#policyHeader = `"${policy}";q=${limit};w=${WINDOW_MS / 1000}`;
    this.#monotonicMs = monotonicMs;
  }

  /** Counts one request. */
  take(key: string): RateLimitState {
    if (this.#limit === 0) return UNLIMITED;
    const nowMs = this.#monotonicMs();
    if (nowMs >= this.#windowEndMs) {
      this.#counts = new Map();
      this.#windowEndMs = nowMs + WINDOW_MS;
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > 1 || this.#counts.size < KEYS_MAX) this.#counts.set(key, count);
    const resetS = Math.ceil((this.#windowEndMs - nowMs) / 1000);
    return {
      exceeded: count > this.#limit,
      retryAfterS: resetS,
      headers: {
        RateLimit: `"${this.#policy}";r=${Math.max(0, this.#limit - count)};t=${resetS}`,
        'RateLimit-Policy': this.#policyHeader,
      },
    };
  }
}
