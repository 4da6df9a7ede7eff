// What the package offers.

export { type CallOptions, type ClientOptions, OfferbookClient, type TransactionsOptions } from './client.ts';
export type { Clock } from './clock.ts';
export {
  AbortedError,
  ApiError,
  type ErrorCode,
  MalformedResponseError,
  NetworkError,
  OfferbookError,
  TimeoutError,
  TokenError,
} from './errors.ts';
export { type CachedAnswer, type EtagCache, MemoryCache } from './etag-cache.ts';
export type { CheckpointStore, Follower, FollowOptions } from './follow.ts';
export type { List } from './list.ts';
export type { Page } from './page.ts';
export type { Fetch } from './request.ts';
export type { RetryPolicy } from './retry-rules.ts';
export type { CashbackOffer, Coupon, Problem, Promotion, Retailer, Transaction } from './wire.ts';
