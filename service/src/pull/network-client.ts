// Sends requests to one network with one credential: waits for the shared budget, adds the credentials, and repeats requests
// that may succeed later.

import {
  type CataloguePull,
  type NetworkAccess,
  type PullRequest,
  type SalePull,
  type Secrets,
  unexpected,
} from '@offerbook/feeds/pull/network-pull.ts';
import type { Overlay } from '@offerbook/feeds/source/overlay.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import type { CouponCodes } from '@offerbook/feeds/transactions/coupon-codes.ts';
import { HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import type { Clock } from '../domain/clock.ts';
import type { RequestBudget, RequestOutcome, RequestStore } from '../domain/pull.ts';
import { Span } from '../tracing/tracer.ts';
import { explainError, RequestFailed, readFailure, readText } from './network-failures.ts';
import { type ByteBudget, RESPONSE_LIMITS, type ResponseLimits, watchResponse } from './response-watch.ts';

/** One account at a network, as the operator's files describe it. */
export interface PullableSource {
  readonly source: Source;
  readonly overlay: Overlay;
  readonly pull: SalePull;
  /** Undefined if the source file lacks a setting for it. */
  readonly catalogue: CataloguePull | undefined;
  readonly secrets: Secrets;
  readonly coupons: CouponCodes | undefined;
}

export interface RequestContext {
  readonly stores: { readonly pulls: RequestStore };
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

export function sourceName({ network, account }: Source): string {
  return `${network}:${account}`;
}

export function networkClient(pullable: PullableSource, context: RequestContext) {
  const { source, pull, secrets } = pullable;
  const { clock, sleep, random, tries = TRIES, limits = RESPONSE_LIMITS } = context;
  const { pulls } = context.stores;
  const credential = credentialOf(secrets);
  /** Values of the headers with credentials. */
  const sent = new Set<string>();
  let slowness = 1;
  let stopped: RequestFailed | undefined;
  let token: { readonly value: string; readonly expiresAtMs: number } | undefined;

  /** Throws RequestFailed. After a final failure, sends no more requests and always throws it. */
  async function fetchAuthorised<T>(
    request: PullRequest,
    read: BodyReader<T>,
    budget?: ByteBudget,
  ): Promise<T> {
    if (stopped !== undefined) throw stopped;
    const attempt = async () => {
      const headers = await authorise();
      const authorised = { ...request, headers: { ...request.headers, ...headers } };
      return send(authorised, read, { budget, mayRepeatSecrets: false });
    };
    try {
      return await repeat(() => withRenewedToken(attempt));
    } catch (error) {
      if (error instanceof RequestFailed && error.rules.isFinal) stopped = error;
      throw error;
    }
  }

  /** If the access token has expired, repeats the attempt once with a new one. */
  async function withRenewedToken<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      const isExpired = error instanceof RequestFailed && error.kind === 'expired';
      if (!isExpired || token === undefined) throw error;
      token = undefined;
      return attempt();
    }
  }

  /** Repeats an attempt as long as it may succeed later. `standardWaitMs` applies if the network does not say how long to wait. */
  async function repeat<T>(
    attempt: () => Promise<T>,
    { waitsMax = WAITS_MAX, standardWaitMs }: { waitsMax?: number; standardWaitMs?: number } = {},
  ): Promise<T> {
    let failures = 0;
    for (let waits = 0; ; ) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error;
        if (error.kind === 'too many') {
          if (++waits > waitsMax) throw error;
          await block(error.waitMs ?? standardWaitMs);
        } else {
          failures += error.rules.weight ?? tries;
          if (failures >= tries) throw error;
          await sleep((BACKOFF_MS[failures - 1] ?? MINUTE_MS) * (0.5 + random() / 2));
        }
      }
    }
  }

  async function authorise(): Promise<Readonly<Record<string, string>>> {
    if (pull.login === undefined) return pull.authorise(secrets);
    if (token === undefined || token.expiresAtMs - TOKEN_SPARE_MS <= clock()) token = await logIn(pull.login);
    return pull.authorise({ accessToken: token.value });
  }

  async function logIn({ request, read }: NonNullable<NetworkAccess['login']>) {
    const readToken = async (body: AsyncIterable<Uint8Array>) => {
      const found = read(await readText(body));
      if (found === undefined) throw unexpected('the response', 'contains no access token');
      return found;
    };
    // The response contains an access token, which may be the one of an earlier login.
    const attempt = () => send(request(secrets), readToken, { mayRepeatSecrets: true });
    const waiting = { waitsMax: tries - 1, standardWaitMs: LOGIN_WAIT_MS };
    const { token: value, lifetimeMs } = await repeat(attempt, waiting).catch((error) => {
      if (!(error instanceof RequestFailed) || error.rules.isFinal) throw error;
      throw new RequestFailed('stop', `the network does not issue an access token: ${error.message}`);
    });
    return { value, expiresAtMs: clock() + Math.max(lifetimeMs, 2 * TOKEN_SPARE_MS) };
  }

  /** Sends a request as soon as the budget allows it, and counts it. */
  async function send<T>(request: PullRequest, read: BodyReader<T>, how: SendOptions): Promise<T> {
    const waitMs = (await pulls.reserveRequest(credential, budgetNow())) - clock();
    if (waitMs > 0) await sleep(waitMs);
    const authorisation = request.headers?.Authorization?.split(' ').at(-1);
    if (authorisation !== undefined) sent.add(authorisation);
    const span = context.span && new Span(context.span.options, 'client', context.span);
    let outcome: RequestOutcome = 'failed';
    try {
      const result = await exchange(request, read, how, span?.attributes);
      outcome = 'ok';
      return result;
    } catch (error) {
      if (error instanceof RequestFailed) outcome = error.rules.outcome;
      throw error;
    } finally {
      if (span !== undefined) {
        // Neither the path nor the query: a network could put a secret into the link to its next page.
        const address = new URL(addressOf(request)).hostname;
        Object.assign(span.attributes, { 'http.request.method': request.method, 'server.address': address });
        if (outcome !== 'ok') span.attributes['error.type'] = outcome;
        span.end(`${request.method} ${address}`, outcome !== 'ok');
      }
      await pulls.countRequest(sourceName(source), credential, outcome);
    }
  }

  async function exchange<T>(
    request: PullRequest,
    read: BodyReader<T>,
    { budget, mayRepeatSecrets }: SendOptions,
    attributes: Record<string, string | number> = {},
  ): Promise<T> {
    using watch = watchResponse(limits);
    try {
      const response = await fetch(addressOf(request), {
        method: request.method,
        headers: { 'User-Agent': 'offerbook', ...request.headers },
        body: request.body ?? null,
        // A redirect could send the credentials elsewhere.
        redirect: 'manual',
        signal: watch.signal,
      });
      attributes['http.response.status_code'] = response.status;
      if (response.status !== 200) {
        const how = { tooManyStatuses: pull.tooManyStatuses, nowMs: clock(), redact };
        throw await readFailure(response, watch.read(response.body), how);
      }
      const forbidden = mayRepeatSecrets
        ? []
        : secretSpellings().filter(({ length }) => length >= SECRET_LENGTH_MIN);
      const body = watch.read(response.body, forbidden, budget);
      return await read(body, (name) => response.headers.get(name));
    } catch (error) {
      if (error instanceof RequestFailed) throw error;
      if (watch.slowness !== undefined)
        throw new RequestFailed('slow', `the network is too slow: ${watch.slowness}`);
      throw explainError(error, redact);
    }
  }

  /** If the network does not specify a wait, waits for a minute and then sends requests at half the rate. */
  async function block(waitMs: number | undefined): Promise<void> {
    const nowMs = clock();
    if (waitMs === undefined) slowness = Math.min(slowness * 2, 8);
    const untilMs =
      waitMs === undefined ? nowMs + MINUTE_MS + random() * 5_000 : nowMs + Math.min(waitMs, WAIT_MAX_MS);
    await pulls.blockRequests(credential, budgetNow(), Math.ceil(untilMs));
  }

  /** The burst and the steady rate together stay within the published rate in every period. */
  function budgetNow(): RequestBudget {
    const { requests, perMs } = pull.rate;
    return {
      intervalMs: Math.ceil(perMs / (requests * RATE_SHARE)) * slowness,
      burst: slowness > 1 ? 1 : Math.max(1, Math.floor(requests * BURST_SHARE)),
    };
  }

  function addressOf({ url }: PullRequest): string {
    if (!('baseUrl' in source) || source.baseUrl === undefined) return url;
    const { pathname, search } = new URL(url);
    return `${source.baseUrl.replace(/\/$/, '')}${pathname}${search}`;
  }

  /** A network could repeat the credentials in its response. Call this before the text is shortened. */
  function redact(text: string): string {
    return secretSpellings().reduce((result, value) => result.replaceAll(value, '***'), text);
  }

  /** Longest first, because one secret may contain another. */
  function secretSpellings(): string[] {
    const all = [...Object.values(secrets), token?.value ?? '', ...sent];
    return [...new Set(all.flatMap(spellings))].sort((a, b) => b.length - a.length);
  }

  return { fetch: fetchAuthorised, redact };
}

/** Two sources with the same credential share a budget. The digest does not reveal the secret. */
function credentialOf(secrets: Secrets): string {
  const hasher = new Bun.CryptoHasher('sha256').update('offerbook pull ');
  for (const value of Object.values(secrets)) hasher.update(`${value} `);
  return hasher.digest('hex').slice(0, 32);
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
