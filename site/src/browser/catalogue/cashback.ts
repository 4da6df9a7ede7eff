// Formats cashback and ranks offers. Fixed amounts are in the operator's currency. If no currency is configured, the page states
// that the currency is unknown.

import { formatCashback, type RetailerOffer } from '@offerbook/client';

interface Amount {
  readonly text: string;
  /** True for a fixed amount if the operator has not configured a currency. */
  readonly lacksCurrency: boolean;
}

/** `5%`, `€7.50`, or `7.50` without a currency. */
export function amountOf(offer: RetailerOffer, currency: string | undefined): Amount {
  return {
    text: formatCashback(offer, 'en', currency),
    lacksCurrency: currency === undefined && offer.maximumFixedCommissionFee !== null,
  };
}

/** Returns the offer with the highest percentage or, if all amounts are fixed, the highest amount. */
export function bestOffer(offers: readonly RetailerOffer[]): RetailerOffer | undefined {
  return [...offers].sort(compareOffers)[0];
}

/** Sorts the better offer first. A percentage and an amount cannot be compared, so percentages come first. */
export function compareOffers(a: RetailerOffer, b: RetailerOffer): number {
  const [fixedA, fixedB] = [a.maximumFixedCommissionFee, b.maximumFixedCommissionFee];
  if (fixedA === null && fixedB === null) return b.cashbackPercentage - a.cashbackPercentage;
  return (fixedB ?? Infinity) - (fixedA ?? Infinity);
}

/** `Up to 8%` if other offers pay less, otherwise `8%`. */
export function headline(offers: readonly RetailerOffer[], currency: string | undefined): Amount | undefined {
  const best = bestOffer(offers);
  if (best === undefined) return undefined;
  const amount = amountOf(best, currency);
  const hasLess = offers.some((offer) => amountOf(offer, currency).text !== amount.text);
  return hasLess ? { ...amount, text: `Up to ${amount.text}` } : amount;
}
