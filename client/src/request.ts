// One request: sent, timed, sent again by the retry rules, and read. Knows nothing of lists and pages; what
// comes out is what the reader makes of an Offerbook answer, or one of the errors.

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
import type { CachedAnswer, EtagCache } from './etag-cache.ts';
import { isTemporary, parseRetryAfterMs, retryDelayMs } from './retry-rules.ts';
import { reviveTimes } from './timestamp.ts';
import type { Problem } from './wire.ts';

/** As much of `fetch` as is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What a client is made of. */
export interface Transport {
  readonly dates: 'string' | 'Date';
  readonly cache: EtagCache | false;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface Call extends Transport, CallSettings {
  /** Asked before each attempt. What it throws ends the call. Left out where no token is taken. */
  readonly token?: () => string | Promise<string>;
  readonly method?: 'POST';
  /** Sent, and in no error: it may be personal. */
  readonly secretQuery?: string;
}

export interface Answer {
  readonly body: unknown;
  readonly headers: Headers;
}

export async function request<Result>(
  call: Call,
  url: string,
  read: (answer: Answer) => Result,
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
      return read(await attempt({ ...call, fetch, timeoutMs: Math.min(call.timeoutMs, leftMs) }, url));
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

/** Sleeps; an abort comes out as the error that a request would throw. */
export async function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
}

async function attempt(call: Call, url: string): Promise<Answer> {
  const { cache } = call;
  throwIfAborted(call.signal);
  const headers = new Headers(call.headers);
  headers.set('Accept', 'application/json');
  if (call.token) headers.set('Authorization', `Bearer ${await call.token()}`);
  const known = cache === false ? undefined : await cache.get(url);
  if (known !== undefined) headers.set('If-None-Match', known.etag);
  // Token and cache may have taken their time.
  throwIfAborted(call.signal);
  const { response, text } = await exchange(call, url, headers);
  const body = readBody(call, url, response, text, known);
  const etag = response.headers.get('ETag');
  if (cache !== false && etag !== null && response.status === 200) await cache.set(url, { etag, body: text });
  return { body, headers: response.headers };
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortedError(signal.reason);
}

/**
 * Headers and body within the time limit. The race, and not the signal alone, sets the limit: a fetch that does not
 * heed its signal must not hang the caller.
 */
async function exchange(
  call: Call,
  url: string,
  headers: Headers,
): Promise<{ response: Response; text: string }> {
  const { fetch, clock, timeoutMs, signal, method = 'GET', secretQuery = '' } = call;
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal?.addEventListener('abort', stop);

  async function send() {
    const response = await fetch(url + secretQuery, {
      method,
      headers,
      signal: controller.signal,
      // A redirect would lose the Authorization header on its way, and end in a puzzling 401.
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
    throw networkError(call, url, error);
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

function readBody(
  call: Call,
  url: string,
  response: Response,
  text: string,
  known: CachedAnswer | undefined,
): unknown {
  const { status, headers } = response;
  const type = headers.get('Content-Type') ?? 'no content type';
  const retryAfterMs = parseRetryAfterMs(headers.get('Retry-After'), call.clock.now());
  if (status === 304 && known !== undefined) return parse(call, url, known.body);
  if (status === 200 && /^application\/json\b/i.test(type)) return parse(call, url, text);
  if (status >= 400 && /^application\/problem\+json\b/i.test(type)) {
    const problem = parse(call, url, text) as Problem | null;
    if (typeof problem?.code === 'string') throw new ApiError({ ...problem, status }, retryAfterMs);
  }
  if (isTemporary(status)) throw new OutageError(url, status, retryAfterMs);
  throw new MalformedResponseError('not_offerbook', foreignWords(call, url, response, type, text), status);
}

/** The query of a redirect is left out, and with a secret query the body: both may repeat what was sent. */
function foreignWords(
  { secretQuery }: Call,
  url: string,
  { status, type, headers }: Response,
  contentType: string,
  text: string,
) {
  const [target] = headers.get('Location')?.split(/[?#%]/) ?? [];
  // A page is not told where a redirect leads.
  if (target || type === 'opaqueredirect') {
    return `${url} answered with a redirect${target ? ` to ${target}` : ''}, which would lose the token on the way. Set baseUrl to where the service really is; mind http and https.`;
  }
  const said = secretQuery ? '' : `, "${text.slice(0, 100)}"`;
  return `${url} did not answer like Offerbook: status ${status}, ${contentType}${said}. Check the address, and what stands between here and the service.`;
}

/** The service prints whole JSON: what cannot be read was damaged on its way, like a connection that broke. */
function parse(call: Call, url: string, text: string): unknown {
  try {
    return JSON.parse(text, call.dates === 'Date' ? reviveTimes : undefined);
  } catch (error) {
    throw networkError(call, url, error);
  }
}

/**
 * What is none of our errors yet is taken for one of the network. With a secret query, only the code is left of it:
 * messages and fields, such as Bun's `path`, may repeat the URL.
 */
function networkError({ secretQuery }: Call, url: string, error: unknown): OfferbookError {
  if (error instanceof OfferbookError) return error;
  const { name = 'no reason', code, cause } = (error ?? {}) as Partial<SystemError>;
  return new NetworkError(url, secretQuery ? new Error(cause?.code ?? code ?? name) : error);
}
