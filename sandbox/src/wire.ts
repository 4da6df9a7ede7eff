// Wire types of the synthetic data, taken from the client library.

import type { Retailer, Transaction } from '@offerbook/client';

export type { Retailer };
export type CashbackOffer = Retailer['cashbackOffers'][number];
export type Coupon = Retailer['coupons'][number];
export type Promotion = Retailer['promotions'][number];
/** A row for the import, which sets updatedAt. A sale that is read back has no retailer. */
export type Sale = Omit<Transaction, 'updatedAt' | 'retailer'> & { retailerId?: string };
