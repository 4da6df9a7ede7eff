// The exact-match filters for cashback offers. Both the index builder and the search use this table. The filter by retailer
// name is not in this table, because it is not an exact match.

import type { CashbackOffer } from '@offerbook/wire/catalogue.ts';
import { fold } from '@offerbook/wire/fold.ts';

interface OfferTerm {
  /** Returns the offer's values for this filter. The value in the query must equal one of them. */
  readonly valuesOf: (offer: CashbackOffer) => readonly string[];
  /** Applied to the values of offers and queries before they are compared. */
  readonly normalise: (value: string) => string;
}

export const OFFER_TERMS = {
  /** The whole category, ignoring case and accents. */
  category: { valuesOf: (offer) => [offer.category], normalise: fold },
  /** ISO 3166-1 alpha-2, in upper case. */
  country: { valuesOf: (offer) => offer.countries, normalise: (country) => country },
} as const satisfies Record<string, OfferTerm>;

export type TermName = keyof typeof OFFER_TERMS;
export const TERM_NAMES = Object.keys(OFFER_TERMS) as readonly TermName[];
