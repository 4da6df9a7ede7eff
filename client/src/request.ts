// One request: sent, timed, sent again by the retry rules, and read. Knows nothing of lists and pages; what
// comes out is the JSON of an Offerbook answer, or one of the errors.

import type { Clock } from './clock.ts';
import {
  AbortedError,
  ApiError,
  MalformedResponseError,
  NetworkError,
  OfferbookError,
  TimeoutError,
} from './errors.ts';
import type { CachedAnswer, EtagCache } from './etag-cache.ts';
import { parseRetryAfterMs, type RetryPolicy, retryDelayMs } from './retry-rules.ts';
import { reviveTimes } from './timestamp.ts';
import type { Problem } from './wire.ts';

/** As much of `fetch` as is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What a client is made of. */
export interface Transport {
  readonly token: string;
  readonly dates: 'string' | 'Date';
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly cache: EtagCache | false;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface Answer {
  readonly body: unknown;
  readonly headers: Headers;
}

export async function request(transport: Transport, url: string, signal?: AbortSignal): Promise<Answer> {
  const { clock, retry } = transport;
  const startedAtMs = clock.now();
  for (let attempts = 1; ; attempts++) {
    const leftMs = retry.budgetMs - (clock.now() - startedAtMs);
    try {
      return await attempt(transport, url, Math.min(transport.timeoutMs, leftMs), signal);
    } catch (error) {
      if (error instanceof OfferbookError) error.attempts = attempts;
      const failure = { error, attempts, elapsedMs: clock.now() - startedAtMs };
      const delayMs = retryDelayMs(failure, retry, transport.random());
      if (delayMs === undefined) throw error;
      await pause(clock, delayMs, signal);
    }
  }
}

/** Sleeps; an abort comes out as the error that a request would throw. */
export async function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    throw signal?.aborted ? new AbortedError(signal.reason) : error;
  }
}

async function attempt(
  transport: Transport,
  url: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  if (signal?.aborted) throw new AbortedError(signal.reason);
  const { cache } = transport;
  const known = cache === false ? undefined : await cache.get(url);
  const { response, text } = await exchange(transport, url, known?.etag, timeoutMs, signal);
  const body = read(transport, url, response, text, known);
  const etag = response.headers.get('ETag');
  if (cache !== false && etag !== null && response.status === 200) await cache.set(url, { etag, body: text });
  return { body, headers: response.headers };
}

/**
 * Headers and body within the time limit. The race, and not the signal alone, sets the limit: a fetch that does not
 * heed its signal must not hang the caller.
 */
async function exchange(
  transport: Transport,
  url: string,
  etag: string | undefined,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<{ response: Response; text: string }> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal?.addEventListener('abort', stop);

  async function send() {
    const headers: Record<string, string> = {
      Accept: 'application/json',
      Authorization: `Bearer ${transport.token}`,
    };
    if (etag !== undefined) headers['If-None-Match'] = etag;
    const response = await transport.fetch(url, {
      headers,
      signal: controller.signal,
      // A redirect would lose the Authorization header on its way, and end in a puzzling 401.
      redirect: 'manual',
      credentials: 'omit',
    });
    return { response, text: await response.text() };
  }

  async function timeOut(): Promise<never> {
    await transport.clock.sleep(timeoutMs, controller.signal);
    throw new TimeoutError(url, timeoutMs);
  }

  try {
    return await Promise.race([send(), timeOut()]);
  } catch (error) {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    throw error instanceof TimeoutError ? error : new NetworkError(url, error);
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

function read(
  transport: Transport,
  url: string,
  response: Response,
  text: string,
  known: CachedAnswer | undefined,
): unknown {
  const { status, headers } = response;
  const type = headers.get('Content-Type') ?? 'no content type';
  const retryAfterMs = parseRetryAfterMs(headers.get('Retry-After'), transport.clock.now());
  if (status === 304 && known !== undefined) return parse(transport, url, known.body);
  if (status === 200 && /^application\/json\b/i.test(type)) return parse(transport, url, text);
  if (status >= 400 && /^application\/problem\+json\b/i.test(type)) {
    const problem = parse(transport, url, text) as Problem | null;
    if (typeof problem?.code === 'string') throw new ApiError(problem, retryAfterMs);
  }
  const location = headers.get('Location');
  throw new MalformedResponseError(
    'not_offerbook',
    `${url} did not answer like Offerbook: status ${status}, ${type}, ${
      location === null ? `"${text.slice(0, 100)}"` : `redirect to ${location}`
    }. Check the address, and what stands between here and the service.`,
    status,
    retryAfterMs,
  );
}

/** The service prints whole JSON: what cannot be read was damaged on its way, like a connection that broke. */
function parse(transport: Transport, url: string, text: string): unknown {
  try {
    return JSON.parse(text, transport.dates === 'Date' ? reviveTimes : undefined);
  } catch (error) {
    throw error instanceof OfferbookError ? error : new NetworkError(url, error);
  }
}
