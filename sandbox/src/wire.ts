// Wire types of the synthetic data, taken from the client library.

import type { Retailer, Transaction } from '@offerbook/client';

export type { Retailer };
export type CashbackOffer = Retailer['cashbackOffers'][number];
export type Coupon = Retailer['coupons'][number];
export type Promotion = Retailer['promotions'][number];
/** A transaction without updatedAt, which the import sets. */
export type Sale = Omit<Transaction, 'updatedAt'>;

/** Prints a time in the wire format: UTC, milliseconds, no offset. */
export function printMoment(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23);
}

/** The same in whole seconds. */
export function printSecond(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
