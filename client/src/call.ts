// Merges the options of one call with the client's options. Invalid values throw before anything is sent.

import type { OfferbookError } from './errors.ts';
import { RETRY_DEFAULTS, type RetryOptions, type RetryPolicy } from './retry-rules.ts';

/** Options that every call accepts besides its parameters. A call's options override the client's options. */
export interface CallOptions {
  /** Aborts the call, and any later page of the same list, with an AbortedError. */
  signal?: AbortSignal | undefined;
  /** Time limit for one attempt, including reading the body. Default 10,000. */
  timeoutMs?: number | undefined;
  /** When to retry. Omitted fields keep their defaults. */
  retry?: RetryOptions | undefined;
  /** Sent in addition to the client's headers. `Authorization` always carries the token. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Called when an attempt has failed and will be retried, before the delay. `error.attempts` counts the attempts so far.
   */
  onRetry?: ((error: OfferbookError, retryInMs: number) => void) | undefined;
}

export interface CallSettings {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly headers: Headers;
  readonly onRetry: CallOptions['onRetry'];
}

/** Applies a call's options to the client's settings, `base`. The client's constructor omits `base`. */
export function callSettings(options: CallOptions, base?: CallSettings): CallSettings {
  const { timeoutMs = base?.timeoutMs ?? 10_000, signal, onRetry = base?.onRetry } = options;
  requireAtLeast(1, timeoutMs, 'timeoutMs');
  const headers = new Headers(base?.headers);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  return { signal, timeoutMs, retry: retryPolicy(options.retry, base?.retry), headers, onRetry };
}

function retryPolicy(options: RetryOptions = {}, base = RETRY_DEFAULTS): RetryPolicy {
  const policy = { ...base };
  for (const name of Object.keys(base) as (keyof RetryPolicy)[]) {
    policy[name] = options[name] ?? base[name];
    requireAtLeast(name === 'attemptsMax' ? 1 : 0, policy[name], `retry.${name}`);
  }
  return policy;
}

export function requireAtLeast(least: number, value: number, name: string): void {
  if (!(typeof value === 'number' && value >= least))
    throw new RangeError(`${name} must be a number of at least ${least}`);
}
