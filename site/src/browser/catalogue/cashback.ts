// Formats cashback and picks the offer to show. Fixed amounts are in the operator's currency; if none is configured, the
// page states that the currency is unknown.

import { formatCashback, type RetailerOffer } from '@offerbook/client';

export type Offer = RetailerOffer;

export interface Amount {
  readonly text: string;
  /** True for a fixed amount if the operator has not configured a currency. */
  readonly lacksCurrency: boolean;
}

/** Formats an offer's amount. */
export type PrintAmount = (offer: Offer) => Amount;

/** `5%`, `€7.50`, or `7.50` without a currency. */
export function amountPrinter(currency: string | undefined): PrintAmount {
  return (offer) => ({
    text: formatCashback(offer, 'en', currency),
    lacksCurrency: currency === undefined && offer.maximumFixedCommissionFee !== null,
  });
}

/**
 * Returns the offer with the highest percentage or, if there is none, the one with the highest fixed amount. A percentage and
 * an amount cannot be compared, so percentages come first.
 */
export function bestOffer(offers: readonly Offer[]): Offer | undefined {
  return offers.reduce<Offer | undefined>(
    (best, offer) => (best === undefined || isBetter(offer, best) ? offer : best),
    undefined,
  );
}

/** True if an offer ranks above another. */
export function isBetter(offer: Offer, than: Offer): boolean {
  const [fixed, otherFixed] = [offer.maximumFixedCommissionFee, than.maximumFixedCommissionFee];
  if (fixed === null || otherFixed === null) {
    if (fixed !== otherFixed) return fixed === null;
    return offer.cashbackPercentage > than.cashbackPercentage;
  }
  return fixed > otherFixed;
}

/** `Up to 8%` if other offers pay less, otherwise `8%`. */
export function headline(offers: readonly Offer[], printAmount: PrintAmount): Amount | undefined {
  const best = bestOffer(offers);
  if (best === undefined) return undefined;
  const amount = printAmount(best);
  const hasLess = offers.some((offer) => printAmount(offer).text !== amount.text);
  return hasLess ? { ...amount, text: `Up to ${amount.text}` } : amount;
}
