// OfferbookClient: one property or method per list of the API. The token is in a private field, so logging or inspecting a client
// never shows it.

import { type CallOptions, type CallSettings, callSettings } from './call.ts';
import { type Clock, systemClock } from './clock.ts';
import { type EtagCache, MemoryCache } from './etag-cache.ts';
import { type Follower, type FollowOptions, follow } from './follow.ts';
import { List, readChanges, readItem, readPage } from './list.ts';
import { type ActivationOptions, activationPath, activationQuery, printQuery } from './query.ts';
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
  type RetailerDomains,
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

/** One resource of the API, such as coupons. Call it to list the items; `get` returns one of them. */
export interface Resource<Item, Options> {
  (options?: Options & CallOptions): List<Item>;
  /** Returns the item with this id. Rejects with an ApiError with status 404 if the list does not contain it. */
  get(id: string, options?: CallOptions): Promise<Item>;
}

export interface RetailerResource<Item> extends Resource<Item, RetailersParameters> {
  /**
   * Returns the retailer whose site has this page; undefined if there is none, or if the URL does not start with http. Sends
   * only the hostname.
   */
  forSite(url: string | URL, options?: CallOptions): Promise<Item | undefined>;
}

/** Your organisation's transactions: call it to list all of them, or `ofUser` for those of one user. */
export interface TransactionResource<Time> {
  (options: TransactionsOptions & { expand: 'retailer' }): List<ExpandedTransaction<Time>>;
  (options?: TransactionsOptions): List<Transaction<Time>>;
  /** The transactions of one of your users. Throws a TypeError if passbackUid is empty. */
  ofUser(
    passbackUid: string,
    options: TransactionsOptions & { expand: 'retailer' },
  ): List<ExpandedTransaction<Time>>;
  ofUser(passbackUid: string, options?: TransactionsOptions): List<Transaction<Time>>;
  /** Returns the current version of the transaction with this id. Rejects with an ApiError with status 404 if there is none. */
  get(id: string, options: CallOptions & { expand: 'retailer' }): Promise<ExpandedTransaction<Time>>;
  get(id: string, options?: CallOptions): Promise<Transaction<Time>>;
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

  /** Retailers with at least one active deal, each with its active deals. Public token. */
  readonly retailers: RetailerResource<Retailer<Time<Dates>>>;
  /** Cashback offers that match all given filters. Public token. */
  readonly cashbackOffers: Resource<CashbackOffer, CashbackOffersParameters>;
  /** Coupons that are active now. Public token. */
  readonly coupons: Resource<Coupon<Time<Dates>>, CouponsParameters>;
  /** Promotions that are active now. Public token. */
  readonly promotions: Resource<Promotion<Time<Dates>>, PromotionsParameters>;
  /** Your organisation's transactions. Private token. To keep a copy up to date, use `followTransactions`. */
  readonly transactions: TransactionResource<Time<Dates>>;

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
    const retailers = this.#resource<Retailer<Time<Dates>>, RetailersParameters>('retailers');
    this.retailers = Object.assign(retailers, {
      forSite: async (url: string | URL, options?: CallOptions) => {
        const [, hostname] = /^https?:\/\/(?:[^/?#@]*@)?([^/?#:[]+)/i.exec(String(url)) ?? [];
        if (hostname === undefined) return undefined;
        return (await retailers({ ...options, hostname, limit: 1 })).data[0];
      },
    });
    this.cashbackOffers = this.#resource('cashbackOffers');
    this.coupons = this.#resource('coupons');
    this.promotions = this.#resource('promotions');
    const transactions = this.#resource<ExpandedTransaction<Time<Dates>>, TransactionsOptions>(
      'transactions',
    );
    this.transactions = Object.assign(transactions, {
      ofUser(passbackUid: string, parameters?: TransactionsOptions) {
        // Without this check, a missing id would list the transactions of all users.
        if (!passbackUid) throw new TypeError('passbackUid must not be empty');
        return transactions({ ...parameters, passbackUid });
      },
    });
  }

  /** Every retailer that has a domain, with its domains and best rate, on one page. Public token. */
  domains(options: CallOptions = {}): List<RetailerDomains> {
    return this.#list('domains', options);
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
      url: `${this.#baseUrl}${activationPath(options)}`,
      secretQuery: activationQuery(options),
    } as const;
    return request(call, ({ body }) => body as ActivatedDeal);
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

  #resource<Item extends { id: string }, Options>(operation: Operation): Resource<Item, Options> {
    const list = (options: Parameters & CallOptions = {}) => this.#list<Item>(operation, options);
    return Object.assign(list, {
      get: async (id: string, options: Parameters & CallOptions = {}) => {
        if (!id) throw new TypeError('id must not be empty');
        const { settings, parameters } = this.#open(operation, options);
        return this.#fetch(operation, parameters, settings, readItem<Item>, `${encodeURIComponent(id)}/`);
      },
    });
  }

  #list<Item extends { id: string }>(operation: Operation, options: Parameters & CallOptions): List<Item> {
    const { settings, parameters } = this.#open(operation, options);
    return new List(
      (cursor) => this.#fetch(operation, { ...parameters, cursor }, settings, readPage<Item>),
      parameters.cursor,
    );
  }

  /** Separates the parameters of an operation from the options of its call. Throws a TokenError for the wrong kind of token. */
  #open(
    operation: Operation,
    { signal, timeoutMs, retry, headers, onRetry, ...parameters }: Parameters & CallOptions,
  ) {
    if (this.#kind !== undefined) requireKind(this.#kind, OPERATIONS[operation].tokenKind, operation);
    const settings = callSettings({ signal, timeoutMs, retry, headers, onRetry }, this.#settings);
    return { settings, parameters };
  }

  #fetch<Page>(
    operation: Operation,
    parameters: Parameters,
    settings: CallSettings,
    read: (response: ParsedResponse, from: string | undefined) => Page,
    subPath = '',
  ): Promise<Page> {
    const { path, tokenKind } = OPERATIONS[operation];
    const token = async () => {
      if (typeof this.#token === 'string') return this.#token;
      const text = await this.#token();
      requireKind(parseTokenKind(text), tokenKind, operation);
      return text;
    };
    const url = `${this.#baseUrl}${path}${subPath}`;
    const query = printQuery(parameters);
    // Transactions must not be stored.
    const cache = tokenKind === 'public' && this.#transport.cache;
    // A passbackUid may be personal data.
    const target = parameters.passbackUid == null ? { url: url + query } : { url, secretQuery: query };
    const call = { ...this.#transport, ...settings, ...target, cache, token };
    return request(call, (response) => read(response, parameters.cursor));
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
