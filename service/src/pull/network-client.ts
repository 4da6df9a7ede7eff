// Sends requests to one network with one credential: waits for the shared budget, adds the credentials, and repeats requests
// that may succeed later.

import type { NetworkAccess, PullRequest, Secrets } from '@offerbook/feeds/pull/network-access.ts';
import { unexpected } from '@offerbook/feeds/pull/unexpected.ts';
import { HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import type { Clock } from '../domain/clock.ts';
import type { RequestBudget, RequestStore } from '../domain/pull.ts';
import { Span } from '../tracing/tracer.ts';
import {
  errorOf,
  explainError,
  OUTCOMES,
  REPEATABLE,
  RequestFailed,
  type Result,
  readFailure,
  readText,
  SourceStopped,
} from './network-failures.ts';
import { type ByteBudget, RESPONSE_LIMITS, type ResponseLimits, ResponseWatch } from './response-watch.ts';

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
/** A shorter secret could occur in a response by chance. */
const SECRET_LENGTH_MIN = 8;

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
    const redact = (text: string) => this.redact(text);
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
      if (response.status !== 200) {
        const { access, clock } = this.#options;
        const how = { tooManyStatuses: access.tooManyStatuses, nowMs: clock(), redact };
        return { failure: await readFailure(response, watch.read(response.body), how) };
      }
      const secrets = mayRepeatSecrets
        ? []
        : this.#secretSpellings().filter(({ length }) => length >= SECRET_LENGTH_MIN);
      const body = watch.read(response.body, secrets, budget);
      return { value: await read(body, (name) => response.headers.get(name)) };
    } catch (error) {
      if (watch.slowness !== undefined)
        return { failure: { kind: 'slow', why: `the network is too slow: ${watch.slowness}` } };
      return { failure: explainError(error, redact) };
    }
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

/** The secret unchanged, and escaped for JSON, for a URL and for XML. */
function spellings(secret: string): string[] {
  if (secret === '') return [];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), Bun.escapeHTML(secret)];
}
