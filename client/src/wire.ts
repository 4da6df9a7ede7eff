// Generated from the service's OpenAPI document; do not edit. After changing the wire format:
//   npm run generate --workspace @offerbook/client

/** Path and token kind of each list. */
export const OPERATIONS = {
  retailers: { path: '/v1/retailers/', tokenKind: 'public' },
  cashbackOffers: { path: '/v1/cashback-offers/', tokenKind: 'public' },
  coupons: { path: '/v1/coupons/', tokenKind: 'public' },
  promotions: { path: '/v1/promotions/', tokenKind: 'public' },
  domains: { path: '/v1/domains/', tokenKind: 'public' },
  transactions: { path: '/v1/transactions/', tokenKind: 'private' },
} as const;

/** Names of all timestamp fields. */
export const TIMESTAMP_FIELDS: readonly string[] = [
  'activatedAt',
  'clickedAt',
  'endDate',
  'soldAt',
  'startDate',
  'updatedAt',
];

export interface Retailer<Time = string> {
  /** Retailer identifier */
  id: string;
  /** Retailer name */
  name: string;
  /** Hostname of the retailer's website */
  hostname: string;
  /** URL of the retailer's website, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  url: string;
  /** URL of the retailer's logo, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  logo: string;
  /** The retailer's cashback offers */
  cashbackOffers: Array<RetailerOffer>;
  /** The retailer's active coupons */
  coupons: Array<RetailerCoupon<Time>>;
  /** The retailer's active promotions */
  promotions: Array<RetailerPromotion<Time>>;
}

export interface RetailerOffer {
  /** Offer identifier */
  id: string;
  /** True when the service features the offer as an outstanding deal */
  featured: boolean;
  /** Countries where the offer is available, ISO 3166-1 alpha-2 */
  countries: Array<string>;
  /** Cashback as a fraction of the order value: 0.05 is five percent */
  cashbackPercentage: number;
  /** The offer's fixed cashback; `null` when the retailer offers a percentage */
  maximumFixedCommissionFee: number | null;
  /** Description of the offer */
  description: string;
  /** Category of the offer */
  category: string;
  /** Terms and exclusions of the offer */
  termsAndExclusions: string;
}

export interface RetailerCoupon<Time = string> {
  /** The coupon code value */
  code: string;
  /** Coupon identifier */
  id: string;
  /** Description */
  description: string;
  /** When the coupon becomes active (UTC) */
  startDate: Time;
  /** When the coupon expires (UTC) */
  endDate: Time;
}

export interface RetailerPromotion<Time = string> {
  /** Promotion identifier */
  id: string;
  /** Description */
  description: string;
  /** When the promotion becomes active (UTC) */
  startDate: Time;
  /** When the promotion expires (UTC) */
  endDate: Time;
  /** Deep link URL for the promotion, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  deepLink: string;
}

export interface CashbackOffer extends RetailerOffer {
  /** Retailer identifier */
  retailerId: string;
  /** URL of the retailer's logo, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  logo: string;
  /** URL of the retailer's website, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  url: string;
  /** Retailer name */
  name: string;
}

export interface Coupon<Time = string> extends RetailerCoupon<Time> {
  /** Retailer identifier */
  retailerId: string;
  /** URL of the retailer's logo, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  logo: string;
  /** URL of the retailer's website, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  url: string;
  /** Retailer name */
  name: string;
}

export interface Promotion<Time = string> extends RetailerPromotion<Time> {
  /** Retailer identifier */
  retailerId: string;
  /** URL of the retailer's logo, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  logo: string;
  /** URL of the retailer's website, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  url: string;
  /** Retailer name */
  name: string;
}

export interface RetailerDomains {
  /** Retailer identifier */
  id: string;
  /** Retailer name */
  name: string;
  /** Domains of the retailer's site, each with all of its subdomains: that of its hostname without www., and others. In lower-case ASCII */
  domains: Array<string>;
  /** Cashback of the retailer's best offer, as a fraction of the order value; `null` if it has no cashback offer */
  cashbackPercentage: number | null;
  /** Fixed cashback of the retailer's best offer; `null` when it pays a percentage */
  maximumFixedCommissionFee: number | null;
}

export interface Transaction<Time = string> {
  /** Transaction identifier */
  id: string;
  /** Country where the transaction was made, ISO 3166-1 alpha-2 */
  country: string;
  /** When the user clicked the link (UTC) */
  clickedAt: Time | null;
  /** When the user made the purchase (UTC) */
  soldAt: Time;
  /** When the transaction was last updated (UTC) */
  updatedAt: Time;
  /** Currency of the transaction, ISO 4217 */
  currencyCode: string;
  /** Total value of the order, in `currencyCode` */
  orderValue: number;
  /** Cashback amount of the transaction, in `currencyCode` */
  cashback: number;
  /** When the deal was activated (UTC) */
  activatedAt: Time | null;
  /** The unique identifier that was supplied at retailer activation */
  passbackUid: string | null;
  /** The data value that was supplied at retailer activation */
  passbackData: string | null;
  /** Status of the transaction. No status is final: `CONFIRMED` can still become `DECLINED` after a late return, and `DECLINED` can become `CONFIRMED`, but neither becomes `PENDING` again. Before you pay users, read /docs/polling#the-life-of-a-status */
  status: 'PENDING' | 'CONFIRMED' | 'DECLINED';
  /** The offer's id when the transaction resulted from a cashback offer activation */
  cashbackOfferId: string | null;
  /** The coupon's id when the transaction resulted from a coupon activation */
  couponId: string | null;
  /** The promotion's id when the transaction resulted from a promotion activation */
  promotionId: string | null;
  /** The retailer, only with `expand=retailer`; `null` if it is unknown or no longer in the catalogue. Not part of the snapshot: its changes do not change `updatedAt` */
  retailer?: TransactionRetailer | null;
}

export interface TransactionRetailer {
  /** Retailer identifier */
  id: string;
  /** Retailer name */
  name: string;
  /** Hostname of the retailer's website */
  hostname: string;
  /** URL of the retailer's logo, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as | */
  logo: string;
}

export interface TransactionsChanged<Time = string> {
  /** Kind of event */
  type: 'transactions.changed';
  /** When the page was read (UTC) */
  timestamp: Time;
  /** The page */
  data: TransactionChanges<Time>;
}

export interface TransactionChanges<Time = string> {
  /** Changed transactions in their current state, in order of `updatedAt`; at most 100, and empty if the operator tests the endpoint */
  transactions: Array<Transaction<Time>>;
  /** Earlier pages contained every change stamped at or before this time. Null on the first page of a webhook that starts, or is replayed, with the first transaction */
  after: Time | null;
  /** With this page, you have received every change stamped at or before this time. Null if the operator tests the endpoint */
  completeThrough: Time | null;
}

export interface ActivatedDeal {
  /** Link to send the user to */
  url: string;
}

export interface Problem {
  /** URL of a page that explains the error */
  type: string;
  /** Summary of the error; the same for every error with this code */
  title: string;
  /** HTTP status */
  status: number;
  /** Description of this error */
  detail: string;
  /** Path of the request */
  instance: string;
  /** Stable error code for programs */
  code:
    | 'missing_token'
    | 'invalid_token'
    | 'wrong_token_kind'
    | 'private_token_in_browser'
    | 'invalid_parameter'
    | 'not_found'
    | 'several_hosts'
    | 'deal_not_found'
    | 'transaction_not_found'
    | 'deal_gone'
    | 'method_not_allowed'
    | 'uri_too_long'
    | 'rate_limited'
    | 'internal'
    | 'unavailable';
  /** Id of the request in the service's log */
  requestId: string;
  /** All invalid parameters */
  errors?: Array<ParameterError>;
}

export interface ParameterError {
  /** Name of the parameter */
  parameter: string;
  /** What is wrong with the parameter */
  detail: string;
}

export interface RetailersParameters {
  /** Cursor returned with the previous page. Omit it to get the first page. */
  cursor?: string | undefined;
  /** Maximum number of items per page. A page may contain fewer, because it also ends at 4 MiB; only a page without a cursor is the last. */
  limit?: number | undefined;
  /** Returns only items of the retailer whose site has this hostname: the retailer with the longest domain that is the hostname or one of its parent domains. Ignores case, a trailing dot and a port; Unicode names are converted (IDNA). Send `location.hostname` from a browser. */
  hostname?: string | undefined;
}

export interface CashbackOffersParameters extends RetailersParameters {
  /** Returns only offers whose retailer's name contains this string, ignoring case and accents. */
  name?: string | undefined;
  /** Returns only offers in this category, ignoring case and accents. */
  category?: string | undefined;
  /** Returns only offers available in this country (ISO 3166-1 alpha-2, upper or lower case). */
  country?: string | undefined;
  /** Returns only deals of this retailer. */
  retailerId?: string | undefined;
}

export interface CouponsParameters extends RetailersParameters {
  /** Returns only deals of this retailer. */
  retailerId?: string | undefined;
}

export interface PromotionsParameters extends CouponsParameters {}

export interface TransactionsParameters {
  /** Cursor returned with the previous page. Omit it to get the first page. */
  cursor?: string | undefined;
  /** Maximum number of items per page. A page may contain fewer, because it also ends at 4 MiB; only a page without a cursor is the last. */
  limit?: number | undefined;
  /** Returns only transactions updated after this date-time. Any ISO 8601 form that includes a day: basic or extended format; calendar, ordinal or week date; with or without a time. UTC unless it has an offset. */
  updatedAtGreaterThan?: string | undefined;
  /** Returns only transactions updated before this date-time. Any ISO 8601 form that includes a day: basic or extended format; calendar, ordinal or week date; with or without a time. UTC unless it has an offset. */
  updatedAtLessThan?: string | undefined;
  /** Returns only transactions of this user. Case-sensitive. Combines with the other parameters. */
  passbackUid?: string | undefined;
  /** Adds the retailer of each transaction, as far as it is known. */
  expand?: 'retailer' | undefined;
}
