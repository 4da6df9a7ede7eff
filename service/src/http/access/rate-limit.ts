// Rate limits: requests per minute per key, in fixed windows, with the RateLimit and RateLimit-Policy headers of the IETF
// draft.

import { ApiError } from '../../domain/api-errors.ts';
import { type CounterMaker, type RequestCounter, WINDOW_MS } from './request-counter.ts';

export interface RateLimitState {
  /** True if the last request exceeded the limit. */
  readonly exceeded: boolean;
  readonly retryAfterS: number;
  /** Value of the RateLimit header; undefined if there is no limit. */
  readonly header: string | undefined;
  /** Value of the RateLimit-Policy header. */
  readonly policyHeader: string | undefined;
}

const UNLIMITED: RateLimitState = {
  exceeded: false,
  retryAfterS: 0,
  header: undefined,
  policyHeader: undefined,
};

export class RateLimiter {
  readonly #policy: string;
  readonly #limit: number;
  readonly #policyHeader: string;
  readonly #counter: RequestCounter;

  /** A limit of 0 means unlimited. */
  constructor(policy: string, limit: number, counter: RequestCounter) {
    this.#policy = policy;
    this.#limit = limit;
    this.#policyHeader = `"${policy}";q=${limit};w=${WINDOW_MS / 1000}`;
    this.#counter = counter;
  }

  /** Counts one request. */
  take(key: string): RateLimitState {
    if (this.#limit === 0) return UNLIMITED;
    const { count, windowLeftMs } = this.#counter.add(key);
    const resetS = Math.max(1, Math.ceil(windowLeftMs / 1000));
    const left = Math.max(0, this.#limit - count);
    return {
      exceeded: count > this.#limit,
      retryAfterS: resetS,
      header: `"${this.#policy}";r=${left};t=${resetS}`,
      policyHeader: this.#policyHeader,
    };
  }
}

/** Sets the RateLimit headers for the response. Throws ApiError if the limit is exceeded. */
export function countRequest(
  exchange: { rateLimit: RateLimitState | undefined },
  state: RateLimitState,
): void {
  exchange.rateLimit = state;
  if (!state.exceeded) return;
  throw new ApiError('rate_limited', `Too many requests. Try again in ${state.retryAfterS} s.`, {
    headers: { 'Retry-After': String(state.retryAfterS) },
  });
}

export interface RateLimitSettings {
  /** Requests per minute; 0 means unlimited. */
  readonly rateLimitPublic: number;
  readonly rateLimitPrivate: number;
  readonly rateLimitFailedAuth: number;
  readonly rateLimitActivation: number;
  readonly rateLimitActivationOrg: number;
}

export type RateLimits = ReturnType<typeof rateLimits>;

/** Builds all rate limits of the service. */
export function rateLimits(settings: RateLimitSettings, counter: CounterMaker) {
  const limiter = (policy: string, limit: number) => new RateLimiter(policy, limit, counter(policy));
  return {
    public: limiter('public', settings.rateLimitPublic),
    private: limiter('private', settings.rateLimitPrivate),
    failed: limiter('failed-auth', settings.rateLimitFailedAuth),
    activation: limiter('activation', settings.rateLimitActivation),
    activationOrg: limiter('activation-org', settings.rateLimitActivationOrg),
    /** For links that POST returned. These links have a separate limit, because following them is not a new activation. */
    links: limiter('links', settings.rateLimitActivation),
  };
}
