// Decides whether and when to retry, without a clock, timers or randomness. Retries are safe: lists are reads, and the
// service treats an activation repeated within 10 s as the same one.

import { MalformedResponseError, NetworkError, TimeoutError } from './errors.ts';

export interface RetryPolicy {
  /** Maximum number of attempts; 1 turns retries off. Default 5. */
  attemptsMax: number;
  /** Upper bound for the first random delay. The bound doubles with each retry. Default 250. */
  delayMs: number;
  /** Cap on the upper bound of the delays. Default 8,000. */
  delayMaxMs: number;
  /** Cap on `Retry-After`. Default 60,000. */
  retryAfterMaxMs: number;
  /** Total time for all attempts and delays. A delay that would exceed it is not started. Default 90,000. */
  budgetMs: number;
}

/** Omitted or undefined fields keep their defaults. */
export type RetryOptions = { [Name in keyof RetryPolicy]?: RetryPolicy[Name] | undefined };

export const RETRY_DEFAULTS: RetryPolicy = {
  attemptsMax: 5,
  delayMs: 250,
  delayMaxMs: 8_000,
  retryAfterMaxMs: 60_000,
  budgetMs: 90_000,
};

export interface Failure {
  readonly error: unknown;
  /** How many times the request has been sent. */
  readonly attempts: number;
  readonly elapsedMs: number;
}

/** Returns the delay before the next attempt, or undefined to give up. `random` is from 0 to 1. */
export function retryDelayMs(failure: Failure, policy: RetryPolicy, random: number): number | undefined {
  if (failure.attempts >= policy.attemptsMax || !isRetryable(failure.error)) return undefined;
  const delayMs = backoffMs(failure.error, failure.attempts, policy, random);
  return failure.elapsedMs + delayMs < policy.budgetMs ? delayMs : undefined;
}

/** Exponential backoff with full jitter, so that clients that failed together do not retry together. */
export function backoffMs(
  error: unknown,
  attempts: number,
  policy: Pick<RetryPolicy, 'delayMs' | 'delayMaxMs' | 'retryAfterMaxMs'>,
  random: number,
): number {
  const jitterMs = random * Math.min(policy.delayMaxMs, policy.delayMs * 2 ** (attempts - 1));
  const { retryAfterMs = 0 } = error as { retryAfterMs?: number };
  return Math.round(Math.min(retryAfterMs, policy.retryAfterMaxMs) + jitterMs);
}

/** True if the same request may succeed later: no response, or a temporary status. */
function isRetryable(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof TimeoutError) return true;
  const { status } = (error ?? {}) as { status?: number };
  return status !== undefined && isTemporary(status);
}

/** Statuses for temporary errors, from the service or from a proxy in front of it. */
export function isTemporary(status: number): boolean {
  return status === 429 || status >= 500;
}

/**
 * True if a follower should wait instead of stopping. A response from another server is treated as a proxy's error
 * page. But if Offerbook has never responded, the address is probably wrong.
 */
export function isOutage(error: unknown, hasAnswered: boolean): boolean {
  const isForeign = error instanceof MalformedResponseError && error.code === 'not_offerbook';
  return isRetryable(error) || (hasAnswered && isForeign);
}

/** Parses a Retry-After header: seconds or a date. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return ms >= 0 ? ms : undefined;
}
