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

export class OfferSearch {
  readonly #offers: DealData;
  readonly #names: TextColumn;
  readonly #terms;

  constructor(search: SearchData, offers: DealData) {
    this.#offers = offers;
    this.#names = new TextColumn(search.names);
    this.#terms = TERM_NAMES.map((name) => ({ name, column: new TermColumn(search.terms[name]) }));
  }

  /** Returns the first matching ranks in the range, ascending; undefined without a filter. `only` restricts the retailers. */
  select(query: OfferQuery, range: Range, limit: number, only?: readonly number[]): number[] | undefined {
    const retailers = this.#retailers(query, only);
    const filters = this.#termFilters(query);
    if (retailers !== undefined) return findOffersOf(retailers, this.#offers, filters, range, limit);
    return filters.length === 0 ? undefined : findOffers(filters, range, limit);
  }

  /** Returns the retailers to which the query restricts the list; undefined if it does not. */
  #retailers(query: OfferQuery, only: readonly number[] | undefined): Bitset | undefined {
    // A name that consists only of accents folds to the empty string, which every name contains.
    const name = fold(query.name ?? '');
    const named = name === '' ? undefined : this.#names.containing(name);
    if (only === undefined) return named;
    const retailers = new Bitset(this.#offers.ranks.begins.length - 1);
    for (const retailer of only) if (named?.has(retailer) !== false) retailers.add(retailer);
    return retailers;
  }

  #termFilters(query: OfferQuery): OfferFilter[] {
    return this.#terms.flatMap(({ name, column }) => {
      const value = query[name];
      return value === undefined ? [] : [column.filter(OFFER_TERMS[name].normalise(value))];
    });
  }
}

/** One exact-match filter, such as country. */
class TermColumn {
  readonly #data: TermColumnData;
  /** The numbers of the sets that contain each term. */
  readonly #setsByTerm: ReadonlyMap<string, readonly number[]>;

  constructor(data: TermColumnData) {
    const setsByTerm = new Map<string, number[]>();
    for (const [number, terms] of data.sets.entries())
      for (const term of terms) setsByTerm.getOrInsertComputed(term, () => []).push(number);
    this.#data = data;
    this.#setsByTerm = setsByTerm;
  }

  /** Accepts the offers that have this term. */
  filter(term: string): OfferFilter {
    const { setByOffer, sets } = this.#data;
    const accepted = new Bitset(sets.length);
    const numbers = this.#setsByTerm.get(term) ?? [];
    for (const number of numbers) accepted.add(number);
    return { column: setByOffer, accepted, share: numbers.length / sets.length };
  }
}
