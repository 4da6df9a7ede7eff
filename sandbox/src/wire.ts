// Wire types of the synthetic data, taken from the client library.

import type { Retailer, Transaction } from '@offerbook/client';

export type { Retailer };
export type CashbackOffer = Retailer['cashbackOffers'][number];
export type Coupon = Retailer['coupons'][number];
export type Promotion = Retailer['promotions'][number];
/** A transaction before the import stamps it with updatedAt. */
export type Sale = Omit<Transaction, 'updatedAt'>;

/** Prints a time in the wire format: UTC, whole seconds, no offset. */
export function printSecond(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
