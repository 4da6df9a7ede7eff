// Interfaces for fetching a network's sales and its catalogue: which requests to send, and how to continue after each response;
// and the functions that all networks share. Implementations are pure: they neither send requests nor read the clock.

import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import type { Fields } from '../fields.ts';
import type { PageInfo } from '../formats/feed-row.ts';

/** A request without credentials, which are added to its headers. */
export interface PullRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Secret values by name, such as `token`. */
export type Secrets = Readonly<Record<string, string>>;

export interface AccessToken {
  readonly token: string;
  readonly lifetimeMs: number;
}

export interface NetworkAccess {
  /** The rate that the network publishes for one credential, or a cautious assumption. */
  readonly rate: { readonly requests: number; readonly perMs: number };
  /** Statuses that mean "too many requests", besides 429. */
  readonly tooManyStatuses?: readonly number[];
  /** The headers with the credentials. If the network has a login, `secrets` contains only the access token. */
  authorise(secrets: Secrets): Readonly<Record<string, string>>;
  readonly login?: {
    request(secrets: Secrets): PullRequest;
    /** Returns undefined if the response is not the expected document. */
    read(body: string): AccessToken | undefined;
  };
}

/** What a network sends besides the documents that its feeds describe. */
export interface PageRules {
  /** True if the response is one row instead of a list. */
  readonly isOneRow?: boolean;
  /** True if the body means "no rows" although it is not the usual document. */
  isNothing?(body: string): boolean;
  /** True if a response with status 200 is an error that repeating the request cannot fix. */
  readonly errorsAreFinal?: boolean;
}

export interface PulledPage {
  readonly rowCount: number;
  /** The fields of the response outside its rows; undefined if the response is a bare list. */
  readonly response: Fields | undefined;
  readonly info: PageInfo;
  readonly header: (name: string) => string | null;
}

/** A period on the network's clock. */
export interface PullWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** One of the network's date filters. All filters together return every new and every changed sale. */
export interface PullStream {
  readonly name: string;
  /** The widest window to request: the network's limit minus one day. */
  readonly windowMs: number;
  /** How long before the end of the last complete window the next window starts. */
  readonly overlapMs: number;
  /** How far back a window may start. */
  readonly historyMs: number;
  /** Minimum time for which the network keeps its data. Default: historyMs. */
  readonly keptMs?: number;
}

export interface SalePull extends NetworkAccess, PageRules {
  readonly streams: readonly PullStream[];
  /** A filter by the time of sale, to check that the streams list every change; undefined if the network has none. */
  readonly reread?: PullStream;
  request(stream: string, window: PullWindow, position: string | undefined): PullRequest;
  /** Returns the position of the next page; undefined after the last page. */
  next(page: PulledPage, position: string | undefined): string | undefined;
  /** For networks whose sales have several rows: which parts of a row later pulls need. */
  readonly parts?: {
    readonly fields: readonly string[];
    /** The field with the sub-id, which is not in `fields`. */
    readonly subIdField: string;
    /** Sales of this age are converted again, because their status depends on their age. */
    readonly dueAfterMs?: number | undefined;
  };
}

/**
 * Retailers and deals that are missing from a complete catalogue are withdrawn, so a response that does not indicate whether more
 * pages follow is an error, never the last page.
 */
export interface CataloguePull {
  /** Lists that cover the whole account. Together, they contain all its retailers. */
  readonly lists: readonly CatalogueList[];
  /** Returns the lists that cover only one retailer. Undefined if the network has no such lists. */
  listsOf?(advertiserId: string): readonly CatalogueList[];
}

export interface CatalogueList extends PageRules {
  /** The feed that converts its rows: a key of the network's `catalogue`. */
  readonly feed: string;
  /** Set if all rows must belong to this advertiser. */
  readonly advertiserId?: string;
  request(position: string | undefined): PullRequest;
  /** Returns the position of the next page; undefined after the last page. */
  next(page: CataloguePage, position: string | undefined): string | undefined;
}

export interface CataloguePage extends PulledPage {
  /** Rows of this page and all pages before it. */
  readonly rowsRead: number;
}

export const ACCEPT_JSON = { Accept: 'application/json' };
export const ACCEPT_XML = { Accept: 'application/xml' };

export function get(
  url: string,
  query: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = ACCEPT_JSON,
): PullRequest {
  const text = new URLSearchParams(query).toString();
  return { method: 'GET', url: text === '' ? url : `${url}?${text}`, headers };
}

export function postJson(url: string, body: unknown): PullRequest {
  const headers = { ...ACCEPT_JSON, 'Content-Type': 'application/json' };
  return { method: 'POST', url, headers, body: JSON.stringify(body) };
}

export function basicAuthorisation(user: string, password: string): Readonly<Record<string, string>> {
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

export function bearerAuthorisation(token: string): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${token}` };
}

/** A response that is not what the network documents. Repeating the request may help. */
export function unexpected(field = 'the response', reason = 'is not the expected document'): BrokenFile {
  return new BrokenFile({ line: 1 }, { field, reason });
}

/** The network rejects the request. Repeating it cannot help. The message is the network's. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}

/** `2026-11-14 12:00:00`, in UTC. */
export function printSpacedSecond(ms: number): string {
  return printSecond(ms).replace('T', ' ');
}

const OVERLAP_MS = DAY_MS;
const YEAR_MS = 365 * DAY_MS;

/** Builds a stream. By default, windows overlap by one day and start at most three years ago. */
export function stream(name: string, windowDays: number, rules: Partial<PullStream> = {}): PullStream {
  return {
    name,
    windowMs: windowDays * DAY_MS,
    overlapMs: OVERLAP_MS,
    historyMs: 3 * YEAR_MS - DAY_MS,
    ...rules,
  };
}

/** A list that is one response. */
export const onePage = { next: () => undefined };

/** A list with numbered pages. The position is the page number. Some networks count from 0, others from 1. */
export const numberedPages: Pick<CatalogueList, 'next'> = {
  next: ({ info, rowCount, rowsRead }, position) => {
    const { page, hasMore, count = rowCount, total } = info;
    const isExpected = position === undefined ? page === 0 || page === 1 : page === Number(position);
    if (page === undefined || !isExpected) throw unexpected('the response', `is not page ${position ?? 1}`);
    if (count !== rowCount) throw unexpected('the response', `has ${rowCount} rows instead of ${count}`);
    if (hasMore === undefined && total === undefined)
      throw unexpected('the response', 'does not indicate whether more pages follow');
    const isAnnounced = hasMore ?? rowsRead < (total ?? 0);
    if (rowCount > 0) return isAnnounced ? String(page + 1) : undefined;
    // The last page with rows may link to another, empty page.
    if (isAnnounced && rowsRead < (total ?? rowsRead + 1))
      throw unexpected('the response', 'has no rows, although more rows follow');
    return undefined;
  },
};
