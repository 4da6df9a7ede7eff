// A request, and what the stages in app.ts have learned about it.

import type { AccessToken } from '../domain/access-token.ts';
import type { Span } from '../tracing/tracer.ts';
import type { RateLimitState } from './access/rate-limit.ts';

export interface Exchange {
  readonly request: Request;
  /** Scheme and host that the client used; empty if invalid, which makes links relative. */
  readonly origin: string;
  readonly path: string;
  /** The query string without its question mark. */
  readonly search: string;
  readonly requestId: string;
  /** Client address, for rate limits. */
  readonly address: string;
  readonly startedAtMs: number;
  /** Undefined if the request is not traced. */
  readonly span: Span | undefined;
  /** Path of the matching route, for logs and metrics. Never client input. */
  route: string;
  parameters: PathParameters;
  /** True if pages from any origin can read the response. */
  openToBrowsers: boolean;
  /** True for links that people click: errors render as HTML if the client accepts HTML. */
  isLink: boolean;
  token: AccessToken | undefined;
  rateLimit: RateLimitState | undefined;
}

/** Values of the path segments in braces, still percent-encoded. */
export type PathParameters = Readonly<Record<string, string>>;

/** Request ids are logged. Every token contains an underscore, so a token sent as an id is never logged. */
const SANE_REQUEST_ID = /^[A-Za-z0-9.:/+=@-]{1,128}$/;
/** Characters allowed in a host and port. URL.canParse checks the rest. */
const ORIGIN_CHARACTERS = /^https?:\/\/[A-Za-z0-9._:[\]-]+$/;

interface ExchangeOptions {
  readonly address?: string;
  readonly startedAtMs?: number;
  readonly span?: Span | undefined;
  /** Overrides the origin of links. */
  readonly publicUrl?: string | undefined;
  /** Scheme of links, if a trusted proxy reports it. */
  readonly scheme?: 'http' | 'https' | undefined;
}

export function openExchange(
  request: Request,
  { address = '', publicUrl, scheme, startedAtMs = 0, span }: ExchangeOptions = {},
): Exchange {
  const url = request.url;
  // If Bun cannot parse the host and the target as a URL, request.url is only the target.
  const pathStart = url.startsWith('/') ? 0 : Math.max(0, url.indexOf('/', url.indexOf('//') + 2));
  const queryStart = url.indexOf('?', pathStart);
  const given = request.headers.get('Request-Id');
  return {
    request,
    origin: publicUrl ?? saneOrigin(withScheme(scheme, url.slice(0, pathStart))),
    path: queryStart < 0 ? url.slice(pathStart) : url.slice(pathStart, queryStart),
    search: queryStart < 0 ? '' : url.slice(queryStart + 1),
    requestId: given !== null && SANE_REQUEST_ID.test(given) ? given : Bun.randomUUIDv7(),
    address,
    startedAtMs,
    span,
    route: 'unknown',
    parameters: {},
    openToBrowsers: true,
    isLink: false,
    token: undefined,
    rateLimit: undefined,
  };
}

function withScheme(scheme: string | undefined, origin: string): string {
  return scheme === undefined || origin === '' ? origin : scheme + origin.slice(origin.indexOf(':'));
}

/** Cached, because nearly all requests have the same host. */
let lastSaneOrigin = '';

/** Returns '' for an invalid host, because links must not contain a forged Host header. */
function saneOrigin(origin: string): string {
  if (origin === lastSaneOrigin) return origin;
  if (!ORIGIN_CHARACTERS.test(origin) || !URL.canParse(origin)) return '';
  lastSaneOrigin = origin;
  return origin;
}

/** Returns the Link header for the next page: this request's URL with a different query string. */
export function linkToNext({ origin, path }: Pick<Exchange, 'origin' | 'path'>, search: string): string {
  return `<${origin}${path}?${search}>; rel="next"`;
}

/** Returns a query string with a different cursor. */
export function nextSearch(search: string, cursor: string): string {
  // Fast path for requests without a query: URLSearchParams is slow.
  if (search === '') return `cursor=${cursor}`;
  const parameters = new URLSearchParams(search);
  parameters.set('cursor', cursor);
  return parameters.toString();
}
