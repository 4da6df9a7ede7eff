// Sends requests to one network with one credential: waits for the shared budget, adds the credentials, and repeats requests
// that may succeed later.

import type { NetworkAccess, PullRequest, Secrets } from '@offerbook/feeds/pull/network-access.ts';
import { NetworkError, unexpected } from '@offerbook/feeds/pull/unexpected.ts';
import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { HOUR_MS, MINUTE_MS, parseRetryAfterMs } from '@offerbook/wire/time.ts';
import type { Clock } from '../domain/clock.ts';
import type { RequestBudget, RequestOutcome, RequestStore } from '../domain/pull.ts';
import { Span } from '../tracing/tracer.ts';
import {
  type ByteBudget,
  CredentialsRepeated,
  RESPONSE_LIMITS,
  type ResponseLimits,
  ResponseTooLarge,
  ResponseWatch,
} from './response-watch.ts';

/** The source cannot be used in this run: the network does not respond, or the credentials are wrong. */
export class SourceStopped extends Error {
  override readonly name = 'SourceStopped';
}

/** The network rejects this request, or has failed several times. Other requests may work. */
export class RequestFailed extends Error {
  override readonly name: string = 'RequestFailed';
}

/** The response is too large. A request for fewer rows may work. */
export class TooMuch extends RequestFailed {
  override readonly name = 'TooMuch';
}

export interface ClientOptions {
  /** Network and account, such as `awin:77777`. */
  readonly source: string;
  readonly access: NetworkAccess;
  readonly secrets: Secrets;
  readonly baseUrl?: string | undefined;
  readonly store: RequestStore;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  /** How often a request is sent before it counts as failed. Default: 4. */
  readonly tries?: number | undefined;
  /** Default: RESPONSE_LIMITS. */
  readonly limits?: ResponseLimits | undefined;
  /** The parent of the spans of all requests; undefined if tracing is off. */
  readonly span?: Span | undefined;
}

/** Reads a response's body. A BrokenFile counts as a failed request. */
export type BodyReader<T> = (
  body: AsyncIterable<Uint8Array>,
  header: (name: string) => string | null,
) => Promise<T>;

const TRIES = 4;
const WAITS_MAX = 10;
/** The longest period of a published rate. */
const WAIT_MAX_MS = HOUR_MS;
/** A network may refuse to issue a second access token while the first one is still valid, for a few minutes. */
const LOGIN_WAIT_MS = 5 * MINUTE_MS;
const BACKOFF_MS = [2_000, 10_000, 60_000];
/** The share of the published rate that a pull uses. */
const RATE_SHARE = 0.8;
const BURST_SHARE = 0.2;
/** A token that expires sooner than this is replaced. */
const TOKEN_SPARE_MS = 30_000;
const MESSAGE_BYTES_MAX = 2_000;
/** A shorter secret could occur in a response by chance. */
const SECRET_LENGTH_MIN = 8;

type Failure =
  | { readonly kind: 'too many'; readonly waitMs: number | undefined }
  /** Repeat the request. `slow` and `unreachable`: there was no complete response. */
  | { readonly kind: 'retry' | 'slow' | 'unreachable'; readonly why: string }
  | { readonly kind: 'reject' | 'too much' | 'stop' | 'expired'; readonly why: string };

type Result<T> = { readonly value: T } | { readonly failure: Failure };

/** Failures after which a request is repeated, with their weights. A slow request counts twice, because it takes a minute or more. */
const REPEATABLE: Readonly<Partial<Record<Failure['kind'], number>>> = { retry: 1, unreachable: 1, slow: 2 };

const OUTCOMES: Readonly<Record<Failure['kind'], RequestOutcome>> = {
  'too many': 'too many',
  retry: 'failed',
  slow: 'failed',
  unreachable: 'failed',
  'too much': 'failed',
  reject: 'refused',
  stop: 'refused',
  expired: 'refused',
};

export class NetworkClient {
  readonly #options: ClientOptions;
  readonly #credential: string;
  readonly #budget: RequestBudget;
  /** Values of the headers with credentials. */
  readonly #sent = new Set<string>();
  #slowness = 1;
  #stopped: SourceStopped | undefined;
  #token: { readonly value: string; readonly expiresAtMs: number } | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { rate } = options.access;
    // The burst and the steady rate together stay within the published rate in every period.
    this.#budget = {
      intervalMs: Math.ceil(rate.perMs / (rate.requests * RATE_SHARE)),
      burst: Math.max(1, Math.floor(rate.requests * BURST_SHARE)),
    };
    // Two sources with the same credential share a budget. The digest does not reveal the secret.
    const hasher = new Bun.CryptoHasher('sha256').update('offerbook pull ');
    for (const value of Object.values(options.secrets)) hasher.update(`${value} `);
    this.#credential = hasher.digest('hex').slice(0, 32);
  }

  /**
   * Throws SourceStopped or RequestFailed, whose messages contain no secret. After SourceStopped, sends no more requests and
   * always throws it.
   */
  async fetch<T>(request: PullRequest, read: BodyReader<T>, budget?: ByteBudget): Promise<T> {
    if (this.#stopped !== undefined) throw this.#stopped;
    try {
      return await this.#fetch(request, read, budget);
    } catch (error) {
      if (error instanceof SourceStopped) this.#stopped = error;
      throw error;
    }
  }

  #fetch<T>(request: PullRequest, read: BodyReader<T>, budget?: ByteBudget): Promise<T> {
    let isTokenNew = false;
    const attempt = async (): Promise<Result<T>> => {
      const headers = await this.#authorise();
      const authorised = { ...request, headers: { ...request.headers, ...headers } };
      const result = await this.#send(authorised, read, { budget, mayRepeatSecrets: false });
      if (!('failure' in result) || result.failure.kind !== 'expired') return result;
      if (this.#token === undefined || isTokenNew) return result;
      this.#token = undefined;
      isTokenNew = true;
      return attempt();
    };
    return this.#repeat(attempt);
  }

  /** Repeats an attempt as long as it may succeed later. `standardWaitMs` applies if the network does not say how long to wait. */
  async #repeat<T>(
    attempt: () => Promise<Result<T>>,
    { waitsMax = WAITS_MAX, standardWaitMs }: { waitsMax?: number; standardWaitMs?: number } = {},
  ): Promise<T> {
    const { tries = TRIES } = this.#options;
    let failures = 0;
    for (let waits = 0; ; ) {
      const result = await attempt();
      if ('value' in result) return result.value;
      const { failure } = result;
      if (failure.kind === 'too many') {
        if (++waits > waitsMax) throw new RequestFailed('the network keeps refusing requests as too many');
        await this.#wait(failure.waitMs ?? standardWaitMs);
      } else {
        failures += REPEATABLE[failure.kind] ?? tries;
        if (failures >= tries) throw errorOf(failure);
        await this.#backOff(failures);
      }
    }
  }

  async #backOff(failures: number): Promise<void> {
    const { sleep, random } = this.#options;
    await sleep((BACKOFF_MS[failures - 1] ?? MINUTE_MS) * (0.5 + random() / 2));
  }

  async #authorise(): Promise<Readonly<Record<string, string>>> {
    const { access, secrets, clock } = this.#options;
    const { login } = access;
    if (login === undefined) return access.authorise(secrets);
    if (this.#token === undefined || this.#token.expiresAtMs - TOKEN_SPARE_MS <= clock()) {
      this.#token = await this.#logIn(login);
    }
    return access.authorise({ accessToken: this.#token.value });
  }

  async #logIn({ request, read }: NonNullable<NetworkAccess['login']>) {
    const { secrets, clock, tries = TRIES } = this.#options;
    const readToken = async (body: AsyncIterable<Uint8Array>) => {
      const token = read(await readText(body));
      if (token === undefined) throw unexpected('the response', 'contains no access token');
      return token;
    };
    // The response contains an access token, which may be the one of an earlier login.
    const attempt = () => this.#send(request(secrets), readToken, { mayRepeatSecrets: true });
    const waiting = { waitsMax: tries - 1, standardWaitMs: LOGIN_WAIT_MS };
    const { token, lifetimeMs } = await this.#repeat(attempt, waiting).catch((error) => {
      if (!(error instanceof RequestFailed)) throw error;
      throw new SourceStopped(`the network does not issue an access token: ${error.message}`);
    });
    return { value: token, expiresAtMs: clock() + Math.max(lifetimeMs, 2 * TOKEN_SPARE_MS) };
  }

  /** Sends a request as soon as the budget allows it, and counts it. */
  async #send<T>(request: PullRequest, read: BodyReader<T>, how: SendOptions): Promise<Result<T>> {
    const { store, source, span: parent } = this.#options;
    await this.#waitForSlot();
    const authorisation = request.headers?.Authorization?.split(' ').at(-1);
    if (authorisation !== undefined) this.#sent.add(authorisation);
    const span = parent && new Span(parent.options, 'client', parent);
    const result = await this.#try(request, read, how, span?.attributes);
    const outcome = 'failure' in result ? OUTCOMES[result.failure.kind] : 'ok';
    if (span !== undefined) {
      // Neither the path nor the query: a network could put a secret into the link to its next page.
      const address = new URL(this.#address(request.url)).hostname;
      Object.assign(span.attributes, { 'http.request.method': request.method, 'server.address': address });
      if (outcome !== 'ok') span.attributes['error.type'] = outcome;
      span.end(`${request.method} ${address}`, outcome !== 'ok');
    }
    await store.countRequest(source, this.#credential, outcome);
    return result;
  }

  async #try<T>(
    request: PullRequest,
    read: BodyReader<T>,
    { budget, mayRepeatSecrets }: SendOptions,
    attributes: Record<string, string | number> = {},
  ): Promise<Result<T>> {
    using watch = new ResponseWatch(this.#options.limits ?? RESPONSE_LIMITS);
    try {
      const response = await fetch(this.#address(request.url), {
        method: request.method,
        headers: { 'User-Agent': 'offerbook', ...request.headers },
        body: request.body ?? null,
        // A redirect could send the credentials elsewhere.
        redirect: 'manual',
        signal: watch.signal,
      });
      attributes['http.response.status_code'] = response.status;
      if (response.status !== 200)
        return { failure: await this.#readFailure(response, watch.read(response.body)) };
      const secrets = mayRepeatSecrets
        ? []
        : this.#secretSpellings().filter(({ length }) => length >= SECRET_LENGTH_MIN);
      const body = watch.read(response.body, secrets, budget);
      return { value: await read(body, (name) => response.headers.get(name)) };
    } catch (error) {
      if (watch.slowness !== undefined)
        return { failure: { kind: 'slow', why: `the network is too slow: ${watch.slowness}` } };
      return { failure: this.#explain(error) };
    }
  }

  #explain(error: unknown): Failure {
    if (error instanceof ResponseTooLarge) return { kind: 'too much', why: error.message };
    if (error instanceof CredentialsRepeated) {
      const why =
        'the response contains our credentials, so nothing of it was stored; report this to the network';
      return { kind: 'stop', why };
    }
    if (error instanceof NetworkError) {
      return { kind: 'reject', why: this.redact(`the network rejected the request: ${error.message}`) };
    }
    if (error instanceof BrokenFile) {
      const { field, reason } = error.problem;
      return { kind: 'retry', why: this.redact(`${field} ${reason}`) };
    }
    const { name, code, message } = error as NodeJS.ErrnoException;
    // Bugs of ours must not look like failures of the network.
    if (['TypeError', 'RangeError', 'ReferenceError'].includes(name) && code === undefined) throw error;
    return { kind: 'unreachable', why: this.redact(`the network cannot be reached: ${message}`) };
  }

  async #readFailure(response: Response, body: AsyncIterable<Uint8Array>): Promise<Failure> {
    const { status, headers } = response;
    if (status === 429 || this.#options.access.tooManyStatuses?.includes(status) === true) {
      return { kind: 'too many', waitMs: readWait(headers, this.#options.clock()) };
    }
    const text = await readText(body).catch(() => '');
    const why = `the network answered with status ${status}${quoteMessage(text, (message) => this.redact(message))}`;
    if (status >= 500) return { kind: 'retry', why };
    if (status === 413) return { kind: 'too much', why };
    if (status === 401) return { kind: 'expired', why: `${why}; check the credentials` };
    if (status === 403) return { kind: 'reject', why: `${why}; check what the credentials allow` };
    return { kind: 'reject', why };
  }

  /** If the network does not specify a wait, waits for a minute and then sends requests at half the rate. */
  async #wait(waitMs: number | undefined): Promise<void> {
    const { clock, random, store } = this.#options;
    const nowMs = clock();
    if (waitMs === undefined) this.#slowness = Math.min(this.#slowness * 2, 8);
    const untilMs =
      waitMs === undefined ? nowMs + MINUTE_MS + random() * 5_000 : nowMs + Math.min(waitMs, WAIT_MAX_MS);
    await store.blockRequests(this.#credential, this.#slowed, Math.ceil(untilMs));
  }

  get #slowed(): RequestBudget {
    return {
      intervalMs: this.#budget.intervalMs * this.#slowness,
      burst: this.#slowness > 1 ? 1 : this.#budget.burst,
    };
  }

  async #waitForSlot(): Promise<void> {
    const { store, clock, sleep } = this.#options;
    const atMs = await store.reserveRequest(this.#credential, this.#slowed);
    const waitMs = atMs - clock();
    if (waitMs > 0) await sleep(waitMs);
  }

  #address(url: string): string {
    const { baseUrl } = this.#options;
    if (baseUrl === undefined) return url;
    const { pathname, search } = new URL(url);
    return `${baseUrl.replace(/\/$/, '')}${pathname}${search}`;
  }

  /** A network could repeat the credentials in its response. Call this before the text is shortened. */
  redact(text: string): string {
    return this.#secretSpellings().reduce((result, value) => result.replaceAll(value, '***'), text);
  }

  /** Longest first, because one secret may contain another. */
  #secretSpellings(): string[] {
    const secrets = [...Object.values(this.#options.secrets), this.#token?.value ?? '', ...this.#sent];
    return [...new Set(secrets.flatMap(spellings))].sort((a, b) => b.length - a.length);
  }
}

interface SendOptions {
  readonly budget?: ByteBudget | undefined;
  /** False if a response that contains our credentials must fail. */
  readonly mayRepeatSecrets: boolean;
}

function errorOf({ kind, why }: Exclude<Failure, { readonly kind: 'too many' }>): Error {
  if (kind === 'too much') return new TooMuch(why);
  return kind === 'retry' || kind === 'reject' ? new RequestFailed(why) : new SourceStopped(why);
}

/** The secret unchanged, and escaped for JSON, for a URL and for XML. */
function spellings(secret: string): string[] {
  if (secret === '') return [];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), Bun.escapeHTML(secret)];
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MESSAGE_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString();
}

const MESSAGE_FIELDS = ['message', 'Message', 'description', 'error_description', 'error'];

/** Quotes the message of an error response, and no other part of it. */
function quoteMessage(text: string, redact: (message: string) => string): string {
  try {
    const fields = JSON.parse(text) as Record<string, unknown>;
    const message = MESSAGE_FIELDS.map((name) => fields[name]).find((value) => typeof value === 'string');
    return typeof message === 'string' ? `: ${JSON.stringify(redact(message).slice(0, 200))}` : '';
  } catch {
    return '';
  }
}

/** Returns how long the network asks to wait; undefined if it does not specify a time. */
function readWait(headers: Headers, nowMs: number): number | undefined {
  for (const name of ['Retry-After', 'X-RateLimit-Retry-After', 'X-RateLimit-Reset']) {
    const waitMs = parseRetryAfterMs(headers.get(name), nowMs);
    if (waitMs !== undefined) return waitMs;
  }
  return undefined;
}
