// One exact-match filter of cashback offers, such as country.

import type { TermColumnData } from '../snapshot-data.ts';
import { Bitset } from '../tables/bitset.ts';
import { TextColumn } from '../tables/text-column.ts';
import type { OfferFilter } from './find-offers.ts';

export class TermColumn {
  readonly #data: TermColumnData;
  readonly #terms: TextColumn;

  constructor(data: TermColumnData) {
    this.#data = data;
    this.#terms = new TextColumn(data.terms);
  }

  /** Accepts the offers that have this term. */
  filter(term: string): OfferFilter {
    const { setByOffer, setsByTerm, setCount } = this.#data;
    const { items, begins } = setsByTerm;
    const accepted = new Bitset(setCount);
    // Terms are unique, so the range has one term or none.
    const found = this.#terms.rangeOf(term);
    const [begin, end] = [begins[found.begin] as number, begins[found.end] as number];
    for (let index = begin; index < end; index++) accepted.add(items[index] as number);
    return { column: setByOffer, accepted, share: (end - begin) / setCount };
  }
}
