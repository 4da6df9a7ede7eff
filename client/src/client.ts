// The client: one method for each operation. It puts the parts together and holds the token where no log or
// inspection shows it.

import { type Clock, systemClock } from './clock.ts';
import { type EtagCache, MemoryCache } from './etag-cache.ts';
import { type Follower, type FollowOptions, follow } from './follow.ts';
import { List } from './list.ts';
import { type Page, readPage } from './page.ts';
import { printQuery } from './query.ts';
import { type Fetch, request, type Transport } from './request.ts';
import { type RetryOptions, type RetryPolicy, retryPolicy } from './retry-rules.ts';
import { parseTokenKind, requireKind, type TokenKind } from './token.ts';
import {
  type CashbackOffer,
  type CashbackOffersParameters,
  type Coupon,
  type CouponsParameters,
  OPERATIONS,
  type Promotion,
  type PromotionsParameters,
  type Retailer,
  type RetailersParameters,
  type Transaction,
  type TransactionsParameters,
} from './wire.ts';

export interface ClientOptions<Dates extends 'string' | 'Date' = 'string'> {
  /** Where the service is, such as `https://api.example`, without `/v1`. */
  baseUrl: string;
  /** Public (`ob_pub_…`) for the catalogue, private (`ob_prv_…`, servers only) for transactions. */
  token: string;
  /** What timestamps come out as: the wire's text (`2026-11-14T12:00:00`, UTC), or Date. Default `'string'`. */
  dates?: Dates | undefined;
  /** How long one attempt may take, body included. Default 10,000. */
  timeoutMs?: number | undefined;
  /** When to send a request again; what is not given keeps its default. */
  retry?: RetryOptions | undefined;
  /** Where unchanged pages are kept; false for nowhere. Default: the last 100 in memory. */
  cache?: EtagCache | false | undefined;
  /** Default: the global `fetch`. */
  fetch?: Fetch | undefined;
  clock?: Clock | undefined;
  /** From 0 to 1; spreads retries. Default `Math.random`. */
  random?: (() => number) | undefined;
}

/** What every list takes beside its parameters. */
export interface CallOptions {
  /** Ends the call, and every later page of the same list, with an AbortedError. */
  signal?: AbortSignal | undefined;
}

/** Bounds as Date or text; a text is sent as it is. */
export type TransactionsOptions = CallOptions & {
  [Name in keyof TransactionsParameters]: Name extends `updatedAt${string}`
    ? Date | TransactionsParameters[Name]
    : TransactionsParameters[Name];
};

type Time<Dates> = Dates extends 'Date' ? Date : string;
type Operation = keyof typeof OPERATIONS;

/** What any operation takes. The methods see to it that each gets its own. */
type Parameters = Omit<
  RetailersParameters &
    CashbackOffersParameters &
    CouponsParameters &
    PromotionsParameters &
    TransactionsOptions,
  'signal'
>;

/**
 * @example
 * const client = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_pub_…' });
 * for await (const coupon of client.coupons()) console.log(coupon.code);
 */
export class OfferbookClient<Dates extends 'string' | 'Date' = 'string'> {
  readonly #baseUrl: string;
  readonly #kind: TokenKind;
  readonly #transport: Transport;

  /**
   * Throws a TokenError for a token that cannot be one, and for a private token in a browser; a TypeError for a baseUrl
   * that is no URL.
   */
  constructor(options: ClientOptions<Dates>) {
    if (!/^https?:\/\/[^?#]+$/i.test(options.baseUrl)) {
      throw new TypeError(`baseUrl must be a URL such as https://api.example, not "${options.baseUrl}"`);
    }
    this.#baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#kind = parseTokenKind(options.token);
    this.#transport = {
      token: options.token,
      dates: options.dates ?? 'string',
      timeoutMs: options.timeoutMs ?? 10_000,
      retry: retryPolicy(options.retry),
      cache: options.cache ?? new MemoryCache(),
      // Looked up at each call, and called on no object: browsers insist on the latter.
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
    };
  }

  /** Retailers with at least one active deal, each with its active deals. Public token. */
  retailers(options: RetailersParameters & CallOptions = {}): List<Retailer<Time<Dates>>> {
    return this.#list('retailers', options);
  }

  /** Cashback offers; all filters that are given must match. Public token. */
  cashbackOffers(options: CashbackOffersParameters & CallOptions = {}): List<CashbackOffer> {
    return this.#list('cashbackOffers', options);
  }

  /** Coupons that are active now. Public token. */
  coupons(options: CouponsParameters & CallOptions = {}): List<Coupon<Time<Dates>>> {
    return this.#list('coupons', options);
  }

  /** Promotions that are active now. Public token. */
  promotions(options: PromotionsParameters & CallOptions = {}): List<Promotion<Time<Dates>>> {
    return this.#list('promotions', options);
  }

  /** Your organisation's transactions. Private token. To keep a copy up to date, use `followTransactions`. */
  transactions(options: TransactionsOptions = {}): List<Transaction<Time<Dates>>> {
    return this.#list('transactions', options);
  }

  /**
   * Every change of a transaction, from the checkpoint on and without end. Private token. No change is missed; some
   * come more than once, so upsert by id. Outages are waited out; a refusal, such as of a revoked token, is thrown.
   */
  followTransactions(options: FollowOptions = {}): Follower<Transaction<Time<Dates>>> {
    const { limit = 1000, signal, once } = options;
    // The follower waits out failures itself, and tells the caller of each.
    const retry = once === true ? {} : { attemptsMax: 1 };
    requireKind(this.#kind, 'private', 'followTransactions');
    return follow(
      (checkpoint, cursor) =>
        this.#fetchPage('transactions', { updatedAtGreaterThan: checkpoint, limit, cursor }, signal, retry),
      options,
      this.#transport,
    );
  }

  #list<Item extends { id: string }>(
    operation: Operation,
    { signal, ...parameters }: Parameters & CallOptions,
  ): List<Item> {
    requireKind(this.#kind, OPERATIONS[operation].tokenKind, operation);
    return new List(
      (cursor) => this.#fetchPage(operation, { ...parameters, cursor }, signal),
      parameters.cursor,
    );
  }

  async #fetchPage<Item extends { id: string }>(
    operation: Operation,
    parameters: Parameters,
    signal: AbortSignal | undefined,
    retry: Partial<RetryPolicy> = {},
  ): Promise<Page<Item>> {
    const url = `${this.#baseUrl}${OPERATIONS[operation].path}${printQuery(parameters)}`;
    const transport = { ...this.#transport, retry: { ...this.#transport.retry, ...retry } };
    return readPage(await request(transport, url, signal), parameters.cursor);
  }
}
