// Builds the column of one exact-match filter, such as country.

import type { CashbackOffer } from '@offerbook/wire/catalogue.ts';
import { OFFER_TERMS, type TermName } from '../search/offer-terms.ts';
import type { TermColumnData } from '../snapshot-data.ts';
import { GrowingUint32Array, packNumbers, packTexts, sharedUint32Array } from './shared-memory.ts';

export class TermColumnBuilder {
  readonly #name: TermName;
  /** By the values of offers, as JSON. */
  readonly #sets = new Map<string, number>();
  readonly #setBySlot = new GrowingUint32Array();
  readonly #setsByTerm = new Map<string, number[]>();

  constructor(name: TermName) {
    this.#name = name;
  }

  /** Offers must be added in slot order. */
  add(offer: CashbackOffer): void {
    const { valuesOf, normalise } = OFFER_TERMS[this.#name];
    const values = valuesOf(offer);
    const key = JSON.stringify(values);
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = this.#sets.size;
      this.#sets.set(key, set);
      for (const term of new Set(values.map(normalise))) {
        const sets = this.#setsByTerm.get(term);
        if (sets === undefined) this.#setsByTerm.set(term, [set]);
        else sets.push(set);
      }
    }
    this.#setBySlot.push(set);
  }

  build(slots: Uint32Array): TermColumnData {
    const setBySlot = this.#setBySlot.values;
    const terms = [...this.#setsByTerm]
      .map(([term, sets]) => ({ term, sets, bytes: Buffer.from(term) }))
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    return {
      setByOffer: sharedUint32Array(slots.map((slot) => setBySlot[slot] as number)),
      setCount: this.#sets.size,
      terms: packTexts(terms.map(({ term }) => term)),
      setsByTerm: packNumbers(terms.map(({ sets }) => sets)),
    };
  }
}
