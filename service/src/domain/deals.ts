// What the lists of a retailer have in common. Apart from the schemas, so that a server, which checks no imports, starts
// without loading those.

import { type Timestamp, timestampMs } from './timestamp.ts';

/** The lists of a retailer; each is also an operation of its own. */
export const DEAL_LISTS = ['cashbackOffers', 'coupons', 'promotions'] as const;
export type DealList = (typeof DEAL_LISTS)[number];

export function forEachDealList<T>(make: (list: DealList) => T): Record<DealList, T> {
  return Object.fromEntries(DEAL_LISTS.map((list) => [list, make(list)])) as Record<DealList, T>;
}

/** From when and until when a coupon or promotion is shown: start included, end not. */
export function activePeriodMs(deal: { readonly startDate: Timestamp; readonly endDate: Timestamp }): {
  fromMs: number;
  untilMs: number;
} {
  return { fromMs: timestampMs(deal.startDate), untilMs: timestampMs(deal.endDate) };
}
