// The three deal lists of a retailer. Separate from the schemas, so that servers, which do not validate imports, need not
// load them.

import { type Timestamp, timestampMs } from './timestamp.ts';

/** The deal lists embedded in a retailer; each is also an API operation. */
export const DEAL_LISTS = ['cashbackOffers', 'coupons', 'promotions'] as const;
export type DealList = (typeof DEAL_LISTS)[number];

export function forEachDealList<T>(make: (list: DealList) => T): Record<DealList, T> {
  return Object.fromEntries(DEAL_LISTS.map((list) => [list, make(list)])) as Record<DealList, T>;
}

/** Returns when a coupon or promotion is active: from fromMs (included) until untilMs (excluded). */
export function activePeriodMs(deal: { readonly startDate: Timestamp; readonly endDate: Timestamp }): {
  fromMs: number;
  untilMs: number;
} {
  return { fromMs: timestampMs(deal.startDate), untilMs: timestampMs(deal.endDate) };
}

interface Rate {
  readonly cashbackPercentage: number;
  readonly maximumFixedCommissionFee: number | null;
}

/** Returns the offer with the highest percentage or, if all amounts are fixed, the highest amount. */
export function bestOffer<Offer extends Rate>(offers: readonly Offer[]): Offer | undefined {
  let best: Offer | undefined;
  for (const offer of offers) if (best === undefined || compareOffers(offer, best) < 0) best = offer;
  return best;
}

/** Sorts the better offer first. A percentage and an amount cannot be compared, so percentages come first. */
export function compareOffers(a: Rate, b: Rate): number {
  const [fixedA, fixedB] = [a.maximumFixedCommissionFee, b.maximumFixedCommissionFee];
  if (fixedA === null && fixedB === null) return b.cashbackPercentage - a.cashbackPercentage;
  return (fixedB ?? Infinity) - (fixedA ?? Infinity);
}
