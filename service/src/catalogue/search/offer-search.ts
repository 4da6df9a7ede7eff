// Selects the cashback offers that match a query. It works on ranks and does not read offers or write pages.

import { fold } from '@offerbook/wire/fold.ts';
import type { SearchData } from '../snapshot-data.ts';
import type { Range } from '../tables/ascending.ts';
import type { DealTable } from '../tables/deal-table.ts';
import { NameIndex } from './name-index.ts';
import { everyOffer, firstPassing, type OfferFilter, offersByName, offersWithTerm } from './offer-filter.ts';
import { OFFER_TERMS, TERM_NAMES, type TermName } from './offer-terms.ts';
import { TermIndex } from './term-index.ts';

export type OfferQuery = {
  /** Part of the retailer's name, ignoring case and accents. */
  readonly name?: string | undefined;
} & { readonly [Name in TermName]?: string | undefined };

export class OfferSearch {
  readonly #offers: DealTable;
  readonly #names: NameIndex;
  readonly #terms;

  constructor(search: SearchData, offers: DealTable) {
    this.#offers = offers;
    this.#names = new NameIndex(search);
    this.#terms = TERM_NAMES.map((name) => {
      const data = search.terms[name];
      return { name, data, index: new TermIndex(data) };
    });
  }

  /** Returns the first `limit` ranks in the range whose offers match, in ascending order. */
  select(query: OfferQuery, range: Range, limit: number): number[] {
    return firstPassing(this.#filters(query), range, limit);
  }

  #filters(query: OfferQuery): [OfferFilter, ...OfferFilter[]] {
    const filters: [OfferFilter, ...OfferFilter[]] = [everyOffer(this.#offers.ids.length)];
    for (const { name, data, index } of this.#terms) {
      const value = query[name];
      if (value === undefined) continue;
      filters.push(offersWithTerm(index, data, OFFER_TERMS[name].normalise(value)));
    }
    // A name that consists only of accents folds to the empty string, which every name contains.
    const name = fold(query.name ?? '');
    if (name !== '') filters.push(offersByName(this.#names, this.#offers, name));
    return filters;
  }
}
