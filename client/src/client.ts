// The client: one method for each operation. It puts the parts together and holds the token where no log or
// inspection shows it.

import { type ActivationOptions, activationPath, activationQuery } from './activation.ts';
import { type CallOptions, type CallSettings, callSettings } from './call.ts';
import { type Clock, systemClock } from './clock.ts';
import { type EtagCache, MemoryCache } from './etag-cache.ts';
import { type Follower, type FollowOptions, follow } from './follow.ts';
import { List } from './list.ts';
import { readChanges, readPage } from './page.ts';
import { printQuery } from './query.ts';
import { type Answer, type Fetch, request, type Transport } from './request.ts';
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
  type TransactionsParameters,
} from './wire.ts';

/** The settings that a call can have of its own are here the defaults of all calls. */
export interface ClientOptions<Dates extends 'string' | 'Date' = 'string'>
  extends Omit<CallOptions, 'signal'> {
  /** Where the service is, such as `https://api.example`, without `/v1`. */
  baseUrl: string;
  /**
   * Public (`ob_pub_…`) for the catalogue, private (`ob_prv_…`, servers only) for transactions. A function is asked
   * before each attempt, so that a token can be rotated without a restart.
   */
  token: string | (() => string | Promise<string>);
  /** What timestamps come out as: the wire's text (`2026-11-14T12:00:00`, UTC), or Date. Default `'string'`. */
  dates?: Dates | undefined;
  /** Where unchanged pages are kept; false for nowhere. Default: the last 100 in memory. */
  cache?: EtagCache | false | undefined;
  /** Default: the global `fetch`. */
  fetch?: Fetch | undefined;
  clock?: Clock | undefined;
  /** From 0 to 1; spreads retries. Default `Math.random`. */
  random?: (() => number) | undefined;
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
  /** Undefined when the token is a function: then each token is looked at when it comes. */
  readonly #kind: TokenKind | undefined;
  readonly #settings: CallSettings;
  readonly #transport: Transport;

  /**
   * Throws a TokenError for a token that cannot be one, and for a private token in a browser. Throws a TypeError for
   * a baseUrl that is no URL, and a RangeError for a setting that cannot be meant.
   */
  constructor(options: ClientOptions<Dates>) {
    this.#baseUrl = parseBaseUrl(options.baseUrl);
    this.#token = options.token;
    this.#kind = typeof options.token === 'function' ? undefined : parseTokenKind(options.token);
    this.#settings = callSettings(options);
    this.#transport = {
      dates: options.dates ?? 'string',
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

  /** A link that activates a deal for one of your users, and leads to the shop. Makes no request; any token will do. */
  activationUrl(options: ActivationOptions): string {
    return `${this.#baseUrl}${activationPath(options)}${activationQuery(options)}`;
  }

  /**
   * Activates a deal for one of your users, and returns where to send the user. The click is noted when that link is
   * followed. To be sent again is safe: within ten seconds it is the same activation, and all attempts of a call are
   * over by then. `timeoutMs` is 4,000 at the most unless the call itself is given another.
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
   * Every change of a transaction, from the checkpoint on and without end. Private token. No change is missed; some
   * come more than once, so upsert by id. Outages are waited out; a refusal, such as of a revoked token, is thrown.
   */
  followTransactions(options: FollowOptions = {}): Follower<Transaction<Time<Dates>>> {
    const { limit = 1000, once } = options;
    if (this.#kind !== undefined) requireKind(this.#kind, 'private', 'followTransactions');
    // The follower waits out failures itself, and tells the caller of each.
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
    read: (answer: Answer, from: string | undefined) => Page,
  ): Promise<Page> {
    const { path, tokenKind } = OPERATIONS[operation];
    const token = async () => {
      if (typeof this.#token === 'string') return this.#token;
      const text = await this.#token();
      requireKind(parseTokenKind(text), tokenKind, operation);
      return text;
    };
    const url = `${this.#baseUrl}${path}${printQuery(parameters)}`;
    return request({ ...this.#transport, ...settings, token }, url, (answer) =>
      read(answer, parameters.cursor),
    );
  }
}

/** What is refused is not repeated: it may have a password in it, or be a token. */
function parseBaseUrl(text: string): string {
  // Older runtimes cannot tell more than the pattern does.
  if (!/^https?:\/\/[^\s/?#@\\]+(\/[^\s?#]*)?$/i.test(text) || globalThis.URL?.canParse?.(text) === false)
    throw new TypeError(
      'baseUrl must be a URL such as https://api.example, without user name, password, query and fragment',
    );
  const baseUrl = text.replace(/\/+$/, '');
  if (baseUrl.endsWith('/v1'))
    throw new TypeError(`baseUrl must not end with /v1: the client adds that to "${text}"`);
  return baseUrl;
}
