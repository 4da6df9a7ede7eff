// The package's main entry point, for every runtime. Code that needs a file system is in node.ts.

export type { CallOptions } from './call.ts';
export { formatCashback } from './cashback.ts';
export {
  type ClientOptions,
  type ExpandedTransaction,
  OfferbookClient,
  type Resource,
  type RetailerResource,
  type TransactionResource,
  type TransactionsOptions,
} from './client.ts';
export type { Clock } from './clock.ts';
export {
  AbortedError,
  ApiError,
  CheckpointError,
  type ErrorCode,
  MalformedResponseError,
  NetworkError,
  OfferbookError,
  OutageError,
  TimeoutError,
  TokenError,
} from './errors.ts';
export { type CachedResponse, type EtagCache, MemoryCache } from './etag-cache.ts';
export type { CheckpointStore, Follower, FollowOptions } from './follow.ts';
export type { List, Page } from './list.ts';
export type { ActivationOptions } from './query.ts';
export type { Fetch } from './request.ts';
export type { RetryOptions, RetryPolicy } from './retry-rules.ts';
export { parseTimestamp } from './timestamp.ts';
export type {
  ActivatedDeal,
  CashbackOffer,
  CashbackOffersParameters,
  Coupon,
  CouponsParameters,
  ParameterError,
  Problem,
  Promotion,
  PromotionsParameters,
  Retailer,
  RetailerCoupon,
  RetailerDomains,
  RetailerOffer,
  RetailerPromotion,
  RetailersParameters,
  Transaction,
  TransactionRetailer,
  TransactionsParameters,
} from './wire.ts';
