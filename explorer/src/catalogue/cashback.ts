// What a cashback offer is worth, in words, and which of several is the one to show. Fixed amounts are in the currency
// that the operator has named; without it they are bare numbers, and are said to be.

import { formatCashback, type RetailerOffer } from '@offerbook/client';

export type Offer = RetailerOffer;

export interface Amount {
  readonly text: string;
  /** Whether it is a number of something that nobody has named. */
  readonly lacksCurrency: boolean;
}

/** How this page prints amounts. */
export type PrintAmount = (offer: Offer) => Amount;

/** `5%`, `€7.50`, or `7.50` without a currency. */
export function amountPrinter(currency: string | undefined): PrintAmount {
  return (offer) => ({
    text: formatCashback(offer, 'en', currency),
    lacksCurrency: currency === undefined && offer.maximumFixedCommissionFee !== null,
  });
}

/**
 * The highest percentage; without any, the highest fixed amount. Percentages go first because they can be
 * compared: amounts may be in any currency.
 */
export function bestOffer(offers: readonly Offer[]): Offer | undefined {
  return offers.reduce<Offer | undefined>(
    (best, offer) => (best === undefined || isBetter(offer, best) ? offer : best),
    undefined,
  );
}

/** Whether an offer pays more than another, as far as that can be told. */
export function isBetter(offer: Offer, than: Offer): boolean {
  const [fixed, otherFixed] = [offer.maximumFixedCommissionFee, than.maximumFixedCommissionFee];
  if (fixed === null || otherFixed === null) {
    if (fixed !== otherFixed) return fixed === null;
    return offer.cashbackPercentage > than.cashbackPercentage;
  }
  return fixed > otherFixed;
}

/** `Up to 8%` when there are offers of less, `8%` when there are not. */
export function headline(offers: readonly Offer[], printAmount: PrintAmount): Amount | undefined {
  const best = bestOffer(offers);
  if (best === undefined) return undefined;
  const amount = printAmount(best);
  const hasLess = offers.some((offer) => printAmount(offer).text !== amount.text);
  return hasLess ? { ...amount, text: `Up to ${amount.text}` } : amount;
}
