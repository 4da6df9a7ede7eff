// OfferbookClient: one method per API operation. The token is in a private field, so logging or inspecting a client never
// shows it.

import { type ActivationOptions, activationPath, activationQuery } from './activation.ts';
import { type CallOptions, type CallSettings, callSettings } from './call.ts';
import { type Clock, systemClock } from './clock.ts';
import { type EtagCache, MemoryCache } from './etag-cache.ts';
import { type Follower, type FollowOptions, follow } from './follow.ts';
import { List } from './list.ts';
import { readChanges, readPage } from './page.ts';
import { printQuery } from './query.ts';
import { type Fetch, type ParsedResponse, request, type Transport } from './request.ts';
import { parseTokenKind, requireKind, type TokenKind } from './token.ts';
import {
  type ActivatedDeal,
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
  type TransactionRetailer,
  type TransactionsParameters,
} from './wire.ts';

/** Call options given here are the defaults for every call. */
export interface ClientOptions<Dates extends 'string' | 'Date' = 'string'>
  extends Omit<CallOptions, 'signal'> {
  /** URL of the service without `/v1`, such as `https://api.example`. */
  baseUrl: string;
  /**
   * Public (`ob_pub_…`) for the catalogue, private (`ob_prv_…`, servers only) for transactions. A function is called
   * before each attempt, so that you can rotate the token without a restart.
   */
  token: string | (() => string | Promise<string>);
  /** Return timestamps as strings (`2026-11-14T12:00:00`, UTC) or as Dates. Default `'string'`. */
  dates?: Dates | undefined;
  /** Cache for pages with an ETag; false turns caching off. Default: the last 100 pages in memory. */
  cache?: EtagCache | false | undefined;
  /** Default: the global `fetch`. */
  fetch?: Fetch | undefined;
  clock?: Clock | undefined;
  /** Returns a number from 0 to 1, for retry jitter. Default `Math.random`. */
  random?: (() => number) | undefined;
}

/** A transaction with its retailer, from `expand: 'retailer'`. Null if the retailer is unknown. */
export type ExpandedTransaction<Time = string> = Transaction<Time> & { retailer: TransactionRetailer | null };

/** Bounds are Dates or strings; strings are sent unchanged. */
export type TransactionsOptions = CallOptions & {
  [Name in keyof TransactionsParameters]: Name extends `updatedAt${string}`
    ? Date | TransactionsParameters[Name]
    : TransactionsParameters[Name];
};

/** Lists transactions. Call it for all users, or `ofUser` for one user. Private token. */
export interface TransactionLists<Time> {
  (options: TransactionsOptions & { expand: 'retailer' }): List<ExpandedTransaction<Time>>;
  (options?: TransactionsOptions): List<Transaction<Time>>;
  /** The transactions of one of your users. Throws a TypeError if passbackUid is empty. */
  ofUser(
    passbackUid: string,
    options: TransactionsOptions & { expand: 'retailer' },
  ): List<ExpandedTransaction<Time>>;
  ofUser(passbackUid: string, options?: TransactionsOptions): List<Transaction<Time>>;
}

type Time<Dates> = Dates extends 'Date' ? Date : string;
type Operation = keyof typeof OPERATIONS;

/** The parameters of all operations; each public method accepts only the parameters of its operation. */
type Parameters = Omit<
  RetailersParameters &
    CashbackOffersParameters &
    CouponsParameters &
    PromotionsParameters &
    TransactionsOptions,
  keyof CallOptions
>;

/**
 * @example
 * const client = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_pub_…' });
 * for await (const coupon of client.coupons()) console.log(coupon.code);
 */
export class OfferbookClient<Dates extends 'string' | 'Date' = 'string'> {
  readonly #baseUrl: string;
  readonly #token: ClientOptions['token'];
  /** Undefined when the token is a function: then each returned token is checked before use. */
  readonly #kind: TokenKind | undefined;
  readonly #settings: CallSettings;
  readonly #transport: Transport;

  /** Your organisation's transactions. Private token. To keep a copy up to date, use `followTransactions`. */
  readonly transactions: TransactionLists<Time<Dates>>;

  /**
   * Throws a TokenError for a malformed token or a private token in a browser, a TypeError for an invalid baseUrl, and a
   * RangeError for an out-of-range setting.
   */
  constructor(options: ClientOptions<Dates>) {
    this.#baseUrl = parseBaseUrl(options.baseUrl);
    this.#token = options.token;
    this.#kind = typeof options.token === 'function' ? undefined : parseTokenKind(options.token);
    this.#settings = callSettings(options);
    this.#transport = {
      dates: options.dates ?? 'string',
      cache: options.cache ?? new MemoryCache(),
      // Look up the global fetch at each call, and call it unbound: browsers reject fetch as a method of another object.
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
    };
    const list = (parameters: TransactionsOptions = {}) =>
      this.#list<ExpandedTransaction<Time<Dates>>>('transactions', parameters);
    this.transactions = Object.assign(list, {
      ofUser(passbackUid: string, parameters?: TransactionsOptions) {
        // Without this check, a missing id would list the transactions of all users.
        if (!passbackUid) throw new TypeError('passbackUid must not be empty');
        return list({ ...parameters, passbackUid });
      },
    });
  }

  /** Retailers with at least one active deal, each with its active deals. Public token. */
  retailers(options: RetailersParameters & CallOptions = {}): List<Retailer<Time<Dates>>> {
    return this.#list('retailers', options);
  }

  /** Cashback offers that match all given filters. Public token. */
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

  /** Returns a link that activates a deal for one of your users and redirects to the shop. Makes no request. */
  activationUrl(options: ActivationOptions): string {
    return `${this.#baseUrl}${activationPath(options)}${activationQuery(options)}`;
  }

  /**
   * Activates a deal for one of your users and returns the URL to send the user to. The service records the click when the
   * user opens that URL. Retries are safe: the service treats repeats within 10 s as the same activation, and all attempts
   * of a call end by then. `timeoutMs` is at most 4,000 unless set on this call.
   */
  async activate(options: ActivationOptions & CallOptions): Promise<ActivatedDeal> {
    const { timeoutMs = Math.min(this.#settings.timeoutMs, 4_000) } = options;
    const settings = callSettings({ ...options, timeoutMs }, this.#settings);
    const call = {
      ...this.#transport,
      ...settings,
      retry: { ...settings.retry, budgetMs: Math.min(settings.retry.budgetMs, 10_000) },
      cache: false,
      method: 'POST',
      secretQuery: activationQuery(options),
    } as const;
    return request(call, `${this.#baseUrl}${activationPath(options)}`, ({ body }) => body as ActivatedDeal);
  }

  /**
   * Yields every transaction change after the checkpoint, indefinitely. Private token. No change is missed, but some may
   * repeat: upsert by id. Waits out outages, but throws errors that waiting cannot fix, such as a revoked token.
   */
  followTransactions(options: FollowOptions = {}): Follower<Transaction<Time<Dates>>> {
    const { limit = 1000, once } = options;
    if (this.#kind !== undefined) requireKind(this.#kind, 'private', 'followTransactions');
    // The follower does its own waiting and reports each failure to onError.
    const retry = once === true ? options.retry : { attemptsMax: 1 };
    const settings = callSettings({ ...options, retry }, this.#settings);
    return follow(
      ({ updatedAtGreaterThan, cursor }) =>
        this.#fetch(
          'transactions',
          { updatedAtGreaterThan, limit, cursor },
          settings,
          readChanges<Transaction<Time<Dates>>>,
        ),
      options,
      this.#transport,
    );
  }

  #list<Item extends { id: string }>(
    operation: Operation,
    { signal, timeoutMs, retry, headers, onRetry, ...parameters }: Parameters & CallOptions,
  ): List<Item> {
    if (this.#kind !== undefined) requireKind(this.#kind, OPERATIONS[operation].tokenKind, operation);
    const settings = callSettings({ signal, timeoutMs, retry, headers, onRetry }, this.#settings);
    return new List(
      (cursor) => this.#fetch(operation, { ...parameters, cursor }, settings, readPage<Item>),
      parameters.cursor,
    );
  }

  #fetch<Page>(
    operation: Operation,
    parameters: Parameters,
    settings: CallSettings,
    read: (response: ParsedResponse, from: string | undefined) => Page,
  ): Promise<Page> {
    const { path, tokenKind } = OPERATIONS[operation];
    const token = async () => {
      if (typeof this.#token === 'string') return this.#token;
      const text = await this.#token();
      requireKind(parseTokenKind(text), tokenKind, operation);
      return text;
    };
    const url = `${this.#baseUrl}${path}`;
    const query = printQuery(parameters);
    const call = { ...this.#transport, ...settings, token };
    const readFrom = (response: ParsedResponse) => read(response, parameters.cursor);
    // A passbackUid may be personal data. Responses to it have no ETag, so they need no cache.
    return parameters.passbackUid == null
      ? request(call, url + query, readFrom)
      : request({ ...call, cache: false, secretQuery: query }, url, readFrom);
  }
}

/** The error does not repeat a malformed URL, which may contain a password or be a token. */
function parseBaseUrl(text: string): string {
  // Older runtimes lack URL.canParse and rely on the pattern alone.
  if (!/^https?:\/\/[^\s/?#@\\]+(\/[^\s?#]*)?$/i.test(text) || globalThis.URL?.canParse?.(text) === false)
    throw new TypeError(
      'baseUrl must be a URL such as https://api.example, without user name, password, query or fragment',
    );
  const baseUrl = text.replace(/\/+$/, '');
  if (baseUrl.endsWith('/v1'))
    throw new TypeError(`baseUrl must not end with /v1: the client adds it to "${text}"`);
  return baseUrl;
}
