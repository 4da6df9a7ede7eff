// What cashback offers can be filtered by, besides the name of their retailer: a row for each filter. The builder takes
// the terms of every offer from here, and the search the term that a query asks for.

import type { CashbackOffer } from '../../domain/catalogue.ts';
import { fold } from './fold.ts';

interface OfferTerm {
  /** The values of an offer, each of which a query may ask for. */
  readonly valuesOf: (offer: CashbackOffer) => readonly string[];
  /** Brings a value of an offer or of a query into the form in which the two are compared. */
  readonly normalise: (value: string) => string;
}

export const OFFER_TERMS = {
  /** The whole category, ignoring case and accents. */
  category: { valuesOf: (offer) => [offer.category], normalise: fold },
  /** Two capital letters. */
  country: { valuesOf: (offer) => offer.countries, normalise: (country) => country },
} as const satisfies Record<string, OfferTerm>;

export type TermName = keyof typeof OFFER_TERMS;
export const TERM_NAMES = Object.keys(OFFER_TERMS) as readonly TermName[];
