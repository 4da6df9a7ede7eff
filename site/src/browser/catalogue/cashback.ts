// Formats cashback. Fixed amounts are in the operator's currency. If no currency is configured, the page states
// that the currency is unknown.

import { formatCashback, type RetailerOffer } from '@offerbook/client';
import { bestOffer } from '@offerbook/wire/deals.ts';

/** `5%`, `€7.50`, or `7.50` without a currency. */
export function amountOf(offer: RetailerOffer, currency: string | undefined) {
  return {
    text: formatCashback(offer, 'en', currency),
    /** True for a fixed amount if the operator has not configured a currency. */
    lacksCurrency: currency === undefined && offer.maximumFixedCommissionFee !== null,
  };
}

/** The best amount of several offers. A percentage and a fixed amount cannot be compared, so both are named: `8% or €5`. */
export function headline(offers: readonly RetailerOffer[], currency: string | undefined) {
  const isFixed = (offer: RetailerOffer) => offer.maximumFixedCommissionFee !== null;
  const best = [bestOffer(offers.filter((offer) => !isFixed(offer))), bestOffer(offers.filter(isFixed))]
    .filter((offer) => offer !== undefined)
    .map((offer) => amountOf(offer, currency));
  if (best.length === 0) return undefined;
  const texts = new Set(best.map(({ text }) => text));
  return {
    text: [...texts].join(' or '),
    lacksCurrency: best.some(({ lacksCurrency }) => lacksCurrency),
    /** True if some offers pay less. */
    isUpTo: offers.some((offer) => !texts.has(amountOf(offer, currency).text)),
  };
}
