// Wire types of the synthetic data, taken from the client library.

import type { Retailer, Transaction } from '@offerbook/client';
import { SECOND_MS } from '@offerbook/wire/time.ts';

export type { Retailer };
export type CashbackOffer = Retailer['cashbackOffers'][number];
export type Coupon = Retailer['coupons'][number];
export type Promotion = Retailer['promotions'][number];
/** A row for the import, which sets updatedAt. A sale that is read back has no retailer. */
export type Sale = Omit<Transaction, 'updatedAt' | 'retailer'> & { retailerId?: string };

export function wholeSecond(ms: number): number {
  return ms - (ms % SECOND_MS);
}

/** Formats a UTC time in the wire format, with milliseconds. */
export function printMoment(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23);
}

/** Formats a UTC time in the wire format, in whole seconds. */
export function printSecond(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
