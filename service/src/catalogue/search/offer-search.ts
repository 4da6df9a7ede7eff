// Selects the cashback offers that match a query. It works on ranks and does not read offers or write pages.

import { fold } from '@offerbook/wire/fold.ts';
import type { DealData, SearchData, TermColumnData } from '../snapshot-data.ts';
import type { Range } from '../tables/ascending.ts';
import { Bitset } from '../tables/bitset.ts';
import { TextColumn } from '../tables/text-column.ts';
import { findOffers, findOffersOf, type OfferFilter } from './find-offers.ts';
import { OFFER_TERMS, TERM_NAMES, type TermName } from './offer-terms.ts';

export type OfferQuery = {
  /** Part of the retailer's name, ignoring case and accents. */
  readonly name?: string | undefined;
} & { readonly [Name in TermName]?: string | undefined };

/** Returns the first matching ranks in the range, ascending; undefined without a filter. `only` restricts the retailers. */
export type OfferSearch = (
  query: OfferQuery,
  range: Range,
  limit: number,
  only?: readonly number[],
) => number[] | undefined;

export function offerSearch(search: SearchData, offers: DealData): OfferSearch {
  const names = new TextColumn(search.names);
  const terms = TERM_NAMES.map((name) => ({ name, filter: termFilter(search.terms[name]) }));

  /** Returns the retailers to which the query restricts the list; undefined if it does not. */
  function retailersOf(query: OfferQuery, only: readonly number[] | undefined): Bitset | undefined {
    // A name that consists only of accents folds to the empty string, which every name contains.
    const name = fold(query.name ?? '');
    const named = name === '' ? undefined : names.containing(name);
    if (only === undefined) return named;
    const retailers = new Bitset(offers.ranks.begins.length - 1);
    for (const retailer of only) if (named?.has(retailer) !== false) retailers.add(retailer);
    return retailers;
  }

  return (query, range, limit, only) => {
    const retailers = retailersOf(query, only);
    const filters = terms.flatMap(({ name, filter }) => {
      const value = query[name];
      return value === undefined ? [] : [filter(OFFER_TERMS[name].normalise(value))];
    });
    if (retailers !== undefined) return findOffersOf(retailers, offers, filters, range, limit);
    return filters.length === 0 ? undefined : findOffers(filters, range, limit);
  };
}

/** Returns a function that builds the filter for one term, such as a country: it accepts the offers that have this term. */
function termFilter({ setByOffer, sets }: TermColumnData): (term: string) => OfferFilter {
  /** The numbers of the sets that contain each term. */
  const setsByTerm = new Map<string, number[]>();
  for (const [number, terms] of sets.entries())
    for (const term of terms) setsByTerm.getOrInsertComputed(term, () => []).push(number);
  return (term) => {
    const accepted = new Bitset(sets.length);
    const numbers = setsByTerm.get(term) ?? [];
    for (const number of numbers) accepted.add(number);
    return { column: setByOffer, accepted, share: numbers.length / sets.length };
  };
}
