// The settings of one call: what the call was given, and for the rest what the client was given. A setting that no
// program can mean is refused before anything is sent.

import type { OfferbookError } from './errors.ts';
import { RETRY_DEFAULTS, type RetryOptions, type RetryPolicy } from './retry-rules.ts';

/** What every call takes beside its parameters. What is not given is as the client was told. */
export interface CallOptions {
  /** Ends the call, and every later page of the same list, with an AbortedError. */
  signal?: AbortSignal | undefined;
  /** How long one attempt may take, body included. Default 10,000. */
  timeoutMs?: number | undefined;
  /** When to send a request again; what is not given keeps its default. */
  retry?: RetryOptions | undefined;
  /** Sent beside those of the client. `Authorization` is always that of the token. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Called before the pause that precedes another attempt; `error.attempts` tells how many there were. */
  onRetry?: ((error: OfferbookError, retryInMs: number) => void) | undefined;
}

export interface CallSettings {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly headers: Headers;
  readonly onRetry: CallOptions['onRetry'];
}

/** `base` is the client's; the client itself has none. */
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
