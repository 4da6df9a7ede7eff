// Rate limits: requests per minute per key, in fixed windows, with the RateLimit and RateLimit-Policy headers of the IETF
// draft.

import { ApiError } from '../../domain/api-errors.ts';
import { type RequestCounts, WINDOW_MS } from './request-counts.ts';

export type RateLimitState = ReturnType<ReturnType<typeof rateLimiter>>;

const UNLIMITED = { count: 0, exceeded: false, retryAfterS: 0, header: undefined, policyHeader: undefined };

/**
 * Returns a function that counts a request, and returns the count of this window and the values of the RateLimit and
 * RateLimit-Policy headers. A limit of 0 means unlimited.
 */
export function rateLimiter(policy: string, limit: number, counts: RequestCounts) {
  const policyHeader = `"${policy}";q=${limit};w=${WINDOW_MS / 1000}`;
  return (key: string) => {
    if (limit === 0) return UNLIMITED;
    const { count, secondsLeft } = counts.add(`${policy} ${key}`);
    const retryAfterS = Math.max(1, secondsLeft);
    const left = Math.max(0, limit - count);
    const header = `"${policy}";r=${left};t=${retryAfterS}`;
    return { count, exceeded: count > limit, retryAfterS, header, policyHeader };
  };
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

/** Limit of a network, as a multiple of an address's limit. Behind carrier-grade NAT, a few addresses serve thousands of users. */
const SITE_LIMITS = 5;
/** Share of an organisation's limit that is available to networks with many clicks. */
const BUSY_SHARE = 0.75;

export type RateLimits = ReturnType<typeof rateLimits>;

/** Builds all rate limits of the service. */
export function rateLimits(settings: RateLimitSettings, counts: RequestCounts) {
  const limiter = (policy: string, limit: number) => rateLimiter(policy, limit, counts);
  return {
    public: limiter('public', settings.rateLimitPublic),
    private: limiter('private', settings.rateLimitPrivate),
    failed: limiter('failed-auth', settings.rateLimitFailedAuth),
    activation: limiter('activation', settings.rateLimitActivation),
    activationSite: limiter('activation-network', settings.rateLimitActivation * SITE_LIMITS),
    activationOrg: limiter('activation-org', settings.rateLimitActivationOrg),
    /** For networks with many clicks. They cannot use up the organisation's limit, so users of other networks stay tracked. */
    activationBusy: limiter('activation-busy', Math.ceil(settings.rateLimitActivationOrg * BUSY_SHARE)),
    /** For links that POST returned. These links have a separate limit, because following them is not a new activation. */
    links: limiter('links', settings.rateLimitActivation),
  };
}
