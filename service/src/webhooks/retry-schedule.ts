// When a failed attempt is repeated.

import { MINUTE_MS } from '@offerbook/wire/time.ts';

const DELAYS_MS = [5_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS];
/** Spreads the retries of endpoints that failed at the same time. */
const JITTER = 0.2;
const RETRY_AFTER_MAX_MS = 24 * 60 * MINUTE_MS;

/** Returns the delay after this number of consecutive failures. There is no last attempt. */
export function retryDelayMs(failures: number, retryAfterMs = 0, random: () => number = Math.random): number {
  const delayMs = DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1] ?? 0;
  const spread = Math.round(delayMs * (1 - JITTER + 2 * JITTER * random()));
  return Math.max(spread, Math.min(retryAfterMs, RETRY_AFTER_MAX_MS));
}
