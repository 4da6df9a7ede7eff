// One request on its way through the stages, with what they find out about it.

import type { AccessToken } from '../domain/access-token.ts';
import type { Span } from '../tracing/tracer.ts';
import type { RateLimitState } from './access/rate-limit.ts';

export interface Exchange {
  readonly request: Request;
  /** Scheme and host under which the caller reached the service; empty, so that links are relative, when that is not sane. */
  readonly origin: string;
  readonly path: string;
  /** The query string without its question mark. */
  readonly search: string;
  readonly requestId: string;
  /** The address that limits count against. */
  readonly address: string;
  readonly startedAtMs: number;
  /** Whether its connection is closed with the answer. */
  readonly isLast: boolean;
  /** Undefined unless this request is traced. */
  readonly span: Span | undefined;
  /** What is logged as the route: a path of ours, never what a stranger typed. */
  route: string;
  parameters: PathParameters;
  /** Whether pages from anywhere may read the answer. */
  openToBrowsers: boolean;
  /** Whether people have followed a link to here, so that errors are pages for those who want pages. */
  isLink: boolean;
  token: AccessToken | undefined;
  rateLimit: RateLimitState | undefined;
}

/** What stands in the path for the parts of the route's path that are in braces, as it was sent. */
export type PathParameters = Readonly<Record<string, string>>;

/** Request ids are logged. Every token has an underscore, so none is taken for an id. */
const SANE_REQUEST_ID = /^[A-Za-z0-9.:/+=@-]{1,128}$/;
/** Characters of a host and port; whether they make one is for URL.canParse to say. */
const ORIGIN_CHARACTERS = /^https?:\/\/[A-Za-z0-9._:[\]-]+$/;

interface Circumstances {
  readonly address?: string;
  readonly startedAtMs?: number;
  readonly isLast?: boolean;
  readonly span?: Span | undefined;
  /** What links start with, whatever the request says. */
  readonly publicUrl?: string | undefined;
  /** The scheme of links, when a proxy knows better than the socket. */
  readonly scheme?: 'http' | 'https' | undefined;
}

export function openExchange(
  request: Request,
  { address = '', publicUrl, scheme, startedAtMs = 0, isLast = false, span }: Circumstances = {},
): Exchange {
  const url = request.url;
  // Where the runtime made no sense of host and target, the URL is the target alone.
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
    isLast,
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

/** Nearly all requests name the same host. */
let lastSaneOrigin = '';

/** Anybody can write anything into the Host header, and what is no host must not come back in a link. */
function saneOrigin(origin: string): string {
  if (origin === lastSaneOrigin) return origin;
  if (!ORIGIN_CHARACTERS.test(origin) || !URL.canParse(origin)) return '';
  lastSaneOrigin = origin;
  return origin;
}

/** The Link header with the whole URL of the next page: the same request with another cursor. */
export function nextLink(exchange: Exchange, cursor: string): string {
  return `<${exchange.origin}${exchange.path}?${nextSearch(exchange.search, cursor)}>; rel="next"`;
}

function nextSearch(search: string, cursor: string): string {
  // Most requests are for the first page, and URLSearchParams takes a tenth of the time that is ours to spend.
  if (search === '') return `cursor=${cursor}`;
  const parameters = new URLSearchParams(search);
  parameters.set('cursor', cursor);
  return parameters.toString();
}
