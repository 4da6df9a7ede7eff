// The shapes that the synthetic data has: those of the wire, by the names that this folder uses for them.

import type { Retailer, Transaction } from '@offerbook/client';

export type { Retailer };
export type CashbackOffer = Retailer['cashbackOffers'][number];
export type Coupon = Retailer['coupons'][number];
export type Promotion = Retailer['promotions'][number];
/** A sale before the service has stamped it. */
export type Sale = Omit<Transaction, 'updatedAt'>;

/** A moment as the wire prints it: UTC without an offset. All moments here are whole seconds. */
export function printSecond(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
