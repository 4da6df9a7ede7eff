// Retailers and transactions with default values, which a test overrides where they matter.

import type { CashbackOffer, Coupon, Promotion, Retailer } from '@offerbook/wire/catalogue.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';

/** A UUID that contains its number: easy to recognise in failures, and sorted like the numbers. */
export function id(number: number): Uuid {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}` as Uuid;
}

/** Number of an item for each component, as several tests name them. */
export const ITEM_NUMBERS: Readonly<Record<string, number>> = {
  Retailer: 1,
  CashbackOffer: 11,
  Coupon: 21,
  Promotion: 31,
  Transaction: 101,
};

export function timestamp(text: string): Timestamp {
  return text as Timestamp;
}

export function retailer(number: number, with_: Partial<Retailer> = {}): Retailer {
  return {
    id: id(number),
    name: `Retailer ${number}`,
    hostname: `www.r${number}.example`,
    url: `https://www.r${number}.example/`,
    logo: `https://www.r${number}.example/logo.svg`,
    cashbackOffers: [],
    coupons: [],
    promotions: [],
    ...with_,
  };
}

export function offer(number: number, with_: Partial<CashbackOffer> = {}): CashbackOffer {
  return {
    id: id(number),
    featured: false,
    countries: ['DE'],
    cashbackPercentage: 0.05,
    maximumFixedCommissionFee: null,
    description: `Offer ${number}`,
    category: 'Garden',
    termsAndExclusions: '',
    ...with_,
  };
}

export function coupon(number: number, with_: Partial<Coupon> = {}): Coupon {
  return {
    code: `CODE${number}`,
    id: id(number),
    description: `Coupon ${number}`,
    startDate: timestamp('2020-01-01T00:00:00'),
    endDate: timestamp('2100-01-01T00:00:00'),
    ...with_,
  };
}

export function promotion(number: number, with_: Partial<Promotion> = {}): Promotion {
  return {
    id: id(number),
    description: `Promotion ${number}`,
    startDate: timestamp('2020-01-01T00:00:00'),
    endDate: timestamp('2100-01-01T00:00:00'),
    deepLink: `https://www.example.com/p${number}`,
    ...with_,
  };
}

export function transaction(
  number: number,
  with_: Partial<Transaction> = {},
): Omit<Transaction, 'updatedAt'> {
  return {
    id: id(number),
    country: 'DE',
    clickedAt: null,
    soldAt: timestamp('2026-11-14T12:00:00'),
    currencyCode: 'EUR',
    orderValue: 79.9,
    cashback: 3.99,
    activatedAt: null,
    passbackUid: `user-${number}`,
    passbackData: null,
    status: 'PENDING',
    cashbackOfferId: null,
    couponId: null,
    promotionId: null,
    ...with_,
  };
}
