// When a request is sent again, and after how long. Pure: no clock, no timers, no randomness of its own.
// Sending a request twice does no harm: lists are reads, and an activation is the same if it is sent again soon.

import { MalformedResponseError, NetworkError, TimeoutError } from './errors.ts';

export interface RetryPolicy {
  /** How many times a request is sent at the most; 1 turns retries off. Default 5. */
  attemptsMax: number;
  /** The first pause is random, up to this; each further one up to twice as much. Default 250. */
  delayMs: number;
  /** No pause is chosen longer than this. Default 8,000. */
  delayMaxMs: number;
  /** A longer `Retry-After` than this is cut down to it. Default 60,000. */
  retryAfterMaxMs: number;
  /** For everything together: attempts and pauses. A pause that would not fit in is not begun. Default 90,000. */
  budgetMs: number;
}

/** What is not given, or given as undefined, keeps its default. */
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

/** How long to wait before the next attempt; undefined to give up. `random` is from 0 to 1. */
export function retryDelayMs(failure: Failure, policy: RetryPolicy, random: number): number | undefined {
  if (failure.attempts >= policy.attemptsMax || !isRetryable(failure.error)) return undefined;
  const delayMs = backoffMs(failure.error, failure.attempts, policy, random);
  return failure.elapsedMs + delayMs < policy.budgetMs ? delayMs : undefined;
}

/** Exponential with full jitter, so that clients that failed together do not come back together. */
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

/** Whether the same request may well succeed a little later: no answer, or one that says "not now". */
function isRetryable(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof TimeoutError) return true;
  const { status } = (error ?? {}) as { status?: number };
  return status !== undefined && isTemporary(status);
}

/** Statuses that say "not now", whether the service or a proxy in front of it sends them. */
export function isTemporary(status: number): boolean {
  return status === 429 || status >= 500;
}

/**
 * Whether a follower should wait for better times rather than stop. What is not from Offerbook at all is taken for a
 * proxy's page while the service is away; but if Offerbook has never answered, the address is wrong.
 */
export function isOutage(error: unknown, hasAnswered: boolean): boolean {
  const isForeign = error instanceof MalformedResponseError && error.code === 'not_offerbook';
  return isRetryable(error) || (hasAnswered && isForeign);
}

/** Reads a Retry-After header: seconds, or a date. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return ms >= 0 ? ms : undefined;
}
