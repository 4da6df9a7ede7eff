// Formats cashback. Fixed amounts are in the operator's currency. If no currency is configured, the page states
// that the currency is unknown.

import { formatCashback, type RetailerOffer } from '@offerbook/client';
import { bestOffer } from '@offerbook/wire/best-offer.ts';

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

/** `Up to 8%` if other offers pay less, otherwise `8%`. */
export function headline(offers: readonly RetailerOffer[], currency: string | undefined): Amount | undefined {
  const best = bestOffer(offers);
  if (best === undefined) return undefined;
  const amount = amountOf(best, currency);
  const hasLess = offers.some((offer) => amountOf(offer, currency).text !== amount.text);
  return hasLess ? { ...amount, text: `Up to ${amount.text}` } : amount;
}
