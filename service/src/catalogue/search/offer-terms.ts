// The exact-match filters for cashback offers, one row each. Both the index builder and the search use this table. The
// filter by retailer name is not in it.

import type { CashbackOffer } from '@offerbook/wire/catalogue.ts';
import { fold } from './fold.ts';

interface OfferTerm {
  /** Returns the values of an offer; a query matches any one of them. */
  readonly valuesOf: (offer: CashbackOffer) => readonly string[];
  /** Normalises a value, from an offer or a query, for comparison. */
  readonly normalise: (value: string) => string;
}

export const OFFER_TERMS = {
  /** The whole category, ignoring case and accents. */
  category: { valuesOf: (offer) => [offer.category], normalise: fold },
  /** ISO 3166-1 alpha-2, in capitals. */
  country: { valuesOf: (offer) => offer.countries, normalise: (country) => country },
} as const satisfies Record<string, OfferTerm>;

export type TermName = keyof typeof OFFER_TERMS;
export const TERM_NAMES = Object.keys(OFFER_TERMS) as readonly TermName[];
