// Builds the column of one exact-match filter, such as country.

import type { CashbackOffer } from '@offerbook/wire/catalogue.ts';
import { OFFER_TERMS, type TermName } from '../search/offer-terms.ts';
import type { TermColumnData } from '../snapshot-data.ts';
import { GrowingUint32Array, sharedUint32Array } from './shared-memory.ts';

export class TermColumnBuilder {
  readonly #name: TermName;
  /** The number of each set, by the values of an offer as JSON. */
  readonly #numbers = new Map<string, number>();
  readonly #sets: (readonly string[])[] = [];
  readonly #setBySlot = new GrowingUint32Array();

  constructor(name: TermName) {
    this.#name = name;
  }

  /** Offers must be added in slot order. */
  add(offer: CashbackOffer): void {
    const { valuesOf, normalise } = OFFER_TERMS[this.#name];
    const values = valuesOf(offer);
    const key = JSON.stringify(values);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#sets.push([...new Set(values.map(normalise))]) - 1;
      this.#numbers.set(key, number);
    }
    this.#setBySlot.push(number);
  }

  build(slots: Uint32Array): TermColumnData {
    const setBySlot = this.#setBySlot.values;
    return {
      setByOffer: sharedUint32Array(slots.map((slot) => setBySlot[slot] as number)),
      sets: this.#sets,
    };
  }
}
