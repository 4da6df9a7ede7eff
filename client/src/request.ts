// Sends one request with a timeout, retries and ETag revalidation, and passes the response to a reader. Every failure is an
// OfferbookError.

import type { CallSettings } from './call.ts';
import type { Clock } from './clock.ts';
import {
  AbortedError,
  ApiError,
  MalformedResponseError,
  NetworkError,
  OfferbookError,
  OutageError,
  type SystemError,
  TimeoutError,
} from './errors.ts';
import type { CachedResponse, EtagCache } from './etag-cache.ts';
import { isTemporary, parseRetryAfterMs, retryDelayMs } from './retry-rules.ts';
import { reviveTimes } from './timestamp.ts';
import type { Problem } from './wire.ts';

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Settings and dependencies that all calls of a client share. */
export interface Transport {
  readonly dates: 'string' | 'Date';
  readonly cache: EtagCache | false;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface Call extends Transport, CallSettings {
  readonly url: string;
  /** Called before each attempt; an exception ends the call. Omitted for operations without a token. */
  readonly token?: () => string | Promise<string>;
  readonly method?: 'POST';
  /** Appended to the URL but kept out of every error: it may contain personal data. */
  readonly secretQuery?: string;
}

export interface ParsedResponse {
  readonly body: unknown;
  readonly headers: Headers;
}

export async function request<Result>(
  call: Call,
  read: (response: ParsedResponse) => Result,
): Promise<Result> {
  const { clock, retry } = call;
  const startedAtMs = clock.monotonicMs();
  let attempts = 0;
  let delayMs = 0;
  const fetch: Fetch = (...given) => {
    attempts++;
    return call.fetch(...given);
  };
  while (true) {
    try {
      if (attempts > 0) await pause(clock, delayMs, call.signal);
      const leftMs = retry.budgetMs - (clock.monotonicMs() - startedAtMs);
      return read(await attempt({ ...call, fetch, timeoutMs: Math.min(call.timeoutMs, leftMs) }));
    } catch (error) {
      if (!(error instanceof OfferbookError)) throw error;
      error.attempts = attempts;
      const elapsedMs = clock.monotonicMs() - startedAtMs;
      const nextDelayMs = retryDelayMs({ error, attempts, elapsedMs }, retry, call.random());
      if (nextDelayMs === undefined) throw error;
      delayMs = nextDelayMs;
      call.onRetry?.(error, delayMs);
    }
  }
}

/** Sleeps. Throws an AbortedError if the signal is aborted, like a request. */
export async function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
}

async function attempt(call: Call): Promise<ParsedResponse> {
  const { url, cache } = call;
  throwIfAborted(call.signal);
  const headers = new Headers(call.headers);
  headers.set('Accept', 'application/json');
  if (call.token) headers.set('Authorization', `Bearer ${await call.token()}`);
  const known = cache === false ? undefined : await cache.get(url);
  if (known !== undefined) headers.set('If-None-Match', known.etag);
  // The signal may have been aborted while waiting for the token and the cache.
  throwIfAborted(call.signal);
  const { response, text } = await exchange(call, headers);
  const body = readBody(call, response, text, known);
  const etag = response.headers.get('ETag');
  if (cache !== false && etag !== null && response.status === 200) await cache.set(url, { etag, body: text });
  return { body, headers: response.headers };
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortedError(signal.reason);
}

/**
 * Fetches headers and body within the time limit. A race enforces the limit in addition to the signal, because a fetch that
 * ignores its signal must not block the caller.
 */
async function exchange(call: Call, headers: Headers): Promise<{ response: Response; text: string }> {
  const { url, fetch, clock, timeoutMs, signal, method = 'GET', secretQuery = '' } = call;
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal?.addEventListener('abort', stop);

  async function send() {
    const response = await fetch(url + secretQuery, {
      method,
      headers,
      signal: controller.signal,
      // Following a redirect would drop the Authorization header and end in a confusing 401.
      redirect: 'manual',
      credentials: 'omit',
    });
    return { response, text: await response.text() };
  }

  async function timeOut(): Promise<never> {
    await clock.sleep(timeoutMs, controller.signal);
    throw new TimeoutError(url, timeoutMs);
  }

  try {
    return await Promise.race([send(), timeOut()]);
  } catch (error) {
    throwIfAborted(signal);
    throw networkError(call, error);
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

function readBody(call: Call, response: Response, text: string, known: CachedResponse | undefined): unknown {
  const { status, headers } = response;
  const type = headers.get('Content-Type') ?? 'no content type';
  const retryAfterMs = parseRetryAfterMs(headers.get('Retry-After'), call.clock.now());
  if (status === 304 && known !== undefined) return parse(call, known.body);
  if (status === 200 && /^application\/json\b/i.test(type)) return parse(call, text);
  if (status >= 400 && /^application\/problem\+json\b/i.test(type)) {
    const problem = parse(call, text) as Problem | null;
    if (typeof problem?.code === 'string') throw new ApiError({ ...problem, status }, retryAfterMs);
  }
  if (isTemporary(status)) throw new OutageError(call.url, status, retryAfterMs);
  throw new MalformedResponseError(
    'not_offerbook',
    describeForeignResponse(call, response, type, text),
    status,
  );
}

/**
 * Omits the query of a redirect URL. If the request's query is secret, also omits the body. The redirect URL and the body could
 * echo the request.
 */
function describeForeignResponse(
  { url, secretQuery }: Call,
  { status, type, headers }: Response,
  contentType: string,
  text: string,
) {
  const [target] = headers.get('Location')?.split(/[?#%]/) ?? [];
  // Browsers hide the target of a redirect.
  if (target || type === 'opaqueredirect') {
    return `${url} redirects${target ? ` to ${target}` : ''}, and following it would lose the token. Set baseUrl to the service's final URL; check http or https.`;
  }
  const excerpt = secretQuery ? '' : `, "${text.slice(0, 100)}"`;
  return `${url} did not respond like Offerbook: status ${status}, ${contentType}${excerpt}. Check the address and any proxy in between.`;
}

/** The service always sends valid JSON, so anything else was damaged in transit: treat it as a network error. */
function parse(call: Call, text: string): unknown {
  try {
    return JSON.parse(text, call.dates === 'Date' ? reviveTimes : undefined);
  } catch (error) {
    throw networkError(call, error);
  }
}

/**
 * Wraps any other error as a NetworkError. If the request's query is secret, keeps only the error code, because messages
 * and fields such as Bun's `path` can contain the URL.
 */
function networkError({ url, secretQuery }: Call, error: unknown): OfferbookError {
  if (error instanceof OfferbookError) return error;
  const { name = 'no reason', code, cause } = (error ?? {}) as Partial<SystemError>;
  return new NetworkError(url, secretQuery ? new Error(cause?.code ?? code ?? name) : error);
}
