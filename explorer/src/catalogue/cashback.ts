// What a cashback offer is worth, in words, and which of several is the one to show.

import type { Retailer } from '@offerbook/client';
import { sharedCurrency } from './currency.ts';

export type Offer = Retailer['cashbackOffers'][number];

const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 });

/** `5%`, `€7.50`; an amount whose currency cannot be told is a bare number. */
export function cashbackAmount(offer: Offer): string {
  const fixed = offer.maximumFixedCommissionFee;
  if (fixed === null) return PERCENT.format(offer.cashbackPercentage);
  const currency = sharedCurrency(offer.countries);
  const style: Intl.NumberFormatOptions =
    currency === undefined
      ? { minimumFractionDigits: 2 }
      : { style: 'currency', currency, currencyDisplay: 'narrowSymbol' };
  return new Intl.NumberFormat('en', { ...style, trailingZeroDisplay: 'stripIfInteger' }).format(fixed);
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

function isBetter(offer: Offer, than: Offer): boolean {
  const [fixed, otherFixed] = [offer.maximumFixedCommissionFee, than.maximumFixedCommissionFee];
  if (fixed === null || otherFixed === null) {
    if (fixed !== otherFixed) return fixed === null;
    return offer.cashbackPercentage > than.cashbackPercentage;
  }
  return fixed > otherFixed;
}

/** `Up to 8%` when there are offers of less, `8%` when there are not. */
export function headline(offers: readonly Offer[]): string | undefined {
  const best = bestOffer(offers);
  if (best === undefined) return undefined;
  const amount = cashbackAmount(best);
  return offers.some((offer) => cashbackAmount(offer) !== amount) ? `Up to ${amount}` : amount;
}
