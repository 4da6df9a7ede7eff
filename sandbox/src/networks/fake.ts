// Code that all fake networks share: routes and responses, the rows of sales, windows and pages. Each network adds its paths, its
// limits and the shape of its documents.

import { DAY_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import type { NetworkName } from './accounts.ts';
import type { Fault } from './faults.ts';
import type { Programme } from './ledger.ts';
import type { NetworkSale } from './network-sale.ts';

export interface NetworkRequest {
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
  readonly nowMs: number;
  readonly fault: Fault | undefined;
  /** The publisher's account that the path names; the first one if it names none. */
  readonly account: string;
  /** The part of the path that the route's `*` stands for. */
  readonly segment: string;
  readonly options: FakeOptions;
  /** Access tokens, with the times at which they expire. */
  readonly tokens: Map<string, number>;
  /** Default: this network's. */
  programmes(network?: NetworkName): readonly Programme[];
  /** The rows that all of these date filters find at this time. Default: now. */
  listed(filters: Readonly<Record<string, Window>>, atMs?: number): ListedRow[];
}

/** Routes with the same object share a budget. */
export interface Rate {
  readonly requests: number;
  readonly perMs: number;
}

export interface FakeNetwork {
  readonly rate: Rate;
  /** Routes with a budget of their own. */
  readonly rates?: Readonly<Record<string, Rate>>;
  /** Keyed by method and path, such as `GET /publishers/{account}/programmes`; `*` stands for one segment. Can throw Refusal. */
  readonly routes: Readonly<Record<string, (request: NetworkRequest) => Response>>;
  isAuthorised(request: NetworkRequest): boolean;
  /** The rows about one sale at this time. */
  listSale(sale: NetworkSale, nowMs: number): ListedRow[];
  failure(status: number, message: string, request: NetworkRequest): Response;
  /** Status of the response to a request above the rate limit. Default: 429. */
  readonly tooManyStatus?: number;
  readonly rateHeaders?: (left: number, waitMs: number, rate: Rate) => Record<string, string>;
}

/** The network rejects the request. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A row about a sale, with the times that the network's date filters compare. */
export interface ListedRow {
  readonly times: Readonly<Record<string, number | undefined>>;
  /** Most rows are outside the window and need not be built. */
  row(): Row;
}

export type Row = Readonly<Record<string, unknown>>;

export interface FakeOptions {
  /** Maximum number of rows per page; for CJ, of records per response. Default: the networks' own limits. */
  readonly pageSizeMax?: number;
  /** Rakuten. Default: 5 minutes. */
  readonly tokenLifeMs?: number;
  /** True if Rakuten refuses a second token while the first one is valid. Default: false. */
  readonly isSecondTokenRefused?: boolean;
}

/** The rate headers of impact.com and Partnerize. */
export function rateHeaders(left: number, waitMs: number, { requests }: Rate): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(requests),
    'X-RateLimit-Remaining': String(left),
    'X-RateLimit-Reset': String(Math.ceil(waitMs / SECOND_MS)),
  };
}

export function xml(body: string, status = 200): Response {
  const headers = { 'Content-Type': 'application/xml' };
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`, { status, headers });
}

/** XML elements with text. */
export function elements(texts: Readonly<Record<string, string | number>>): string {
  return Object.entries(texts)
    .map(([name, text]) => `<${name}>${Bun.escapeHTML(text)}</${name}>`)
    .join('');
}

export function acceptsJson({ headers }: NetworkRequest): boolean {
  return headers.get('Accept')?.includes('application/json') === true;
}

export interface Window {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
}

/** Reads the window between two parameters, which touches at most `daysMax` calendar days in UTC. Throws Refusal. */
export function readWindow(
  parameters: { get(name: string): string | null | undefined },
  from: string,
  to: string,
  zone: '' | 'Z',
  daysMax = Number.POSITIVE_INFINITY,
): Window {
  const [fromMs = Number.NaN, toMs = Number.NaN] = [from, to].map((name) => {
    // `2026-11-14T12:00:00` or `2026-11-14 12:00:00`, with the zone that the network expects.
    const text = parameters.get(name) ?? '';
    const [, date, time, given] = /^([\d-]{10})[T ]([\d:]{8})(Z?)$/.exec(text) ?? [];
    return given === zone ? Date.parse(`${date}T${time}Z`) : Number.NaN;
  });
  if (!(fromMs < toMs)) throw new Refusal(400, `${from} and ${to} must be times`);
  const days = Math.floor((toMs - 1) / DAY_MS) - Math.floor(fromMs / DAY_MS) + 1;
  if (days > daysMax)
    throw new Refusal(400, `the period from ${from} to ${to} must not exceed ${daysMax} days`);
  return { fromMs, toMs };
}

/**
 * Cuts the page that a request names with two parameters. `sizeMax` is the network's maximum, `first` the number of the first page,
 * and `asked` contains the parameters. The list can change before a later page is read.
 */
export function readPage<T>(
  all: readonly T[],
  { url, fault, options }: NetworkRequest,
  [pageName, sizeName]: readonly [string, string],
  sizeMax: number,
  { first = 1, asked = url.searchParams }: { first?: 0 | 1; asked?: URLSearchParams } = {},
) {
  const page = Math.max(first, readCount(asked.get(pageName), first));
  const most = Math.min(options.pageSizeMax ?? sizeMax, sizeMax);
  const size = Math.max(1, readCount(asked.get(sizeName), most, most));
  const list = page > first ? driftedList(all, fault) : all;
  const start = (page - first) * size;
  const pages = Math.max(1, Math.ceil(list.length / size));
  const rows = list.slice(start, start + size);
  return { rows, page, size, pages, total: list.length, isLast: page - first + 1 >= pages };
}

/** The list when a later page of a walk is read. */
export function driftedList<T>(all: readonly T[], fault: Fault | undefined): readonly T[] {
  if (fault === 'drift') return all.slice(1);
  return fault === 'moved row' ? [...all.slice(1), ...all.slice(0, 1)] : all;
}

/** Reads a whole number from a query parameter; the default if it is missing or invalid. */
export function readCount(text: string | null, standard: number, max = Number.MAX_SAFE_INTEGER): number {
  return Math.min(/^\d{1,9}$/.test(text ?? '') ? Number(text) : standard, max);
}

/** Reads a JSON object from the body of a request. Throws Refusal. */
export function readJson(body: string): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(body) };
  } catch {
    throw new Refusal(400, 'the body must be a JSON object');
  }
}

/** The path and query of a request with some parameters replaced. */
export function linkTo({ pathname, searchParams }: URL, changes: Readonly<Record<string, string>>): string {
  return `${pathname}?${new URLSearchParams({ ...Object.fromEntries(searchParams), ...changes })}`;
}
