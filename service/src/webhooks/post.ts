// Posts a message to an endpoint: one attempt. The host name is resolved once, all its addresses are checked, and the connection
// goes to one of the checked addresses, so a DNS server cannot change its answer in between. Redirects are not followed, and
// proxies from the environment are not used, because both would bypass the check.

import { lookup } from 'node:dns/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { parseRetryAfterMs } from '@offerbook/wire/time.ts';
import { type AddressRules, literalAddress } from './address-rules.ts';

export const ATTEMPT_MAX_MS = 15_000;
/** The response's body is read up to this size and time, and thrown away. */
const BODY_MAX_BYTES = 64 * 1024;
const BODY_MAX_MS = 1_000;
/** Interim responses have a 1xx status. A flood of them would keep this thread busy. */
const INTERIM_MAX = 10;

export interface Outcome {
  readonly isDelivered: boolean;
  /** The response's status, or the reason why there was none. */
  readonly result: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number;
}

export interface PostOptions {
  readonly rules: AddressRules;
  /** Returns all addresses of a name. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Certificate authority for tests. */
  readonly ca?: string | undefined;
  readonly timeoutMs?: number;
}

export interface PostedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Number of earlier failures. It selects the address, so that retries alternate between the addresses of a name. */
  readonly failures: number;
  readonly nowMs: number;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
};

/** Never rejects. */
export async function post(request: PostedRequest, options: PostOptions): Promise<Outcome> {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<Outcome>();
  const abort = new AbortController();
  const maxMs = options.timeoutMs ?? ATTEMPT_MAX_MS;
  const deadlineMs = performance.now() + maxMs;
  const timer = setTimeout(() => {
    giveUp(failed('timeout'));
    abort.abort();
  }, maxMs);
  try {
    return await Promise.race([late, attempt(request, options, deadlineMs, abort.signal)]);
  } finally {
    clearTimeout(timer);
  }
}

async function attempt(
  request: PostedRequest,
  options: PostOptions,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const url = new URL(request.url);
  const { rules, resolve = resolveName } = options;
  const literal = literalAddress(url);
  let addresses: readonly string[];
  try {
    addresses = literal === undefined ? await resolve(url.hostname) : [literal];
  } catch {
    return failed('name not found');
  }
  if (addresses.length === 0) return failed('name not found');
  const isAllowed = url.protocol === 'https:' ? rules.isAllowed : rules.isListed;
  if (!addresses.every(isAllowed)) return failed('forbidden address');
  // After a freeze, the answer to the lookup may be handled before the timer, and another node may be sending by then.
  if (performance.now() >= deadlineMs) return failed('timeout');
  // IPv4 first: not every server can reach IPv6 addresses.
  const sorted = [...addresses].sort((a, b) => Number(a.includes(':')) - Number(b.includes(':')));
  const address = sorted[request.failures % sorted.length] ?? '';
  return exchange(url, address, request, options, signal);
}

async function resolveName(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function exchange(
  url: URL,
  address: string,
  { headers, body, nowMs }: PostedRequest,
  { ca }: PostOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const isSecure = url.protocol === 'https:';
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const sent = (isSecure ? requestHttps : requestHttp)({
    host: address,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: {
      Host: url.host,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      'User-Agent': 'Offerbook',
      ...headers,
    },
    // The certificate is checked against the name. Connections are not reused, because another endpoint at this address may
    // have a different name.
    agent: false,
    ...(isSecure && literalAddress(url) === undefined ? { servername: url.hostname } : {}),
    ...(ca === undefined ? {} : { ca }),
  });
  signal.addEventListener('abort', () => sent.destroy());
  sent.on('error', (error: NodeJS.ErrnoException) => resolve(failed(reasonOf(error))));
  let interim = 0;
  sent.on('information', () => {
    if (++interim <= INTERIM_MAX) return;
    resolve(failed('too many interim responses'));
    sent.destroy();
  });
  sent.on('response', (response) => {
    const status = response.statusCode ?? 0;
    const retryAfter = response.headers['retry-after'];
    const finish = () => {
      clearTimeout(timer);
      response.destroy();
      resolve({
        isDelivered: status >= 200 && status < 300,
        result: String(status),
        status,
        retryAfterMs: parseRetryAfterMs(retryAfter, nowMs) ?? 0,
      });
    };
    const timer = setTimeout(finish, BODY_MAX_MS);
    let bytes = 0;
    response.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > BODY_MAX_BYTES) finish();
    });
    response.on('end', finish);
    response.on('error', finish);
    response.on('close', finish);
  });
  sent.end(body);
  return promise;
}

function reasonOf({ code = '' }: NodeJS.ErrnoException): string {
  if (/CERT|TLS|SSL|EPROTO/.test(code)) return 'TLS failed';
  return REASONS[code] ?? 'connection failed';
}

function failed(result: string): Outcome {
  return { isDelivered: false, result, status: undefined, retryAfterMs: 0 };
}
