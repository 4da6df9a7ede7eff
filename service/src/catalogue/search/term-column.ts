// One exact-match filter of cashback offers, such as country.

import { firstIndex } from '../../domain/binary-search.ts';
import type { TermColumnData } from '../snapshot-data.ts';
import { Bitset } from '../tables/bitset.ts';
import type { OfferFilter } from './find-offers.ts';
import { TextColumn } from './text-column.ts';

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
    const number = firstIndex(this.#terms.length, (index) => this.#terms.compare(index, term) >= 0);
    if (number === this.#terms.length || this.#terms.compare(number, term) !== 0)
      return { column: setByOffer, accepted, share: 0 };
    const begin = begins[number] as number;
    const end = begins[number + 1] as number;
    for (let index = begin; index < end; index++) accepted.add(items[index] as number);
    return { column: setByOffer, accepted, share: (end - begin) / setCount };
  }
}
