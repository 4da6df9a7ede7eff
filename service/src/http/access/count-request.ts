// Counts a request against a limit: the answer says what is left, and a request too many is refused.

import { ApiError } from '../../domain/api-errors.ts';
import type { Exchange } from '../exchange.ts';
import type { RateLimitState } from './rate-limit.ts';

/** Throws ApiError when the limit is exceeded. */
export function countRequest(exchange: Exchange, state: RateLimitState): void {
  exchange.rateLimit = state;
  if (!state.exceeded) return;
  throw new ApiError('rate_limited', `Too many requests. Try again in ${state.retryAfterS} s.`, {
    headers: { 'Retry-After': String(state.retryAfterS) },
  });
}
