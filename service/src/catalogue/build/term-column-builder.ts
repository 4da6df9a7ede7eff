// Builds the column of one exact-match filter, such as country.

import type { CashbackOffer } from '@offerbook/wire/catalogue.ts';
import { OFFER_TERMS, type TermName } from '../search/offer-terms.ts';
import type { TermColumnData } from '../snapshot-data.ts';
import { GrowingUint32Array, sharedUint32Array } from './shared-memory.ts';

export function termColumnBuilder(name: TermName) {
  const { valuesOf, normalise } = OFFER_TERMS[name];
  /** The number of each set, by the values of an offer as JSON. */
  const numbers = new Map<string, number>();
  const sets: (readonly string[])[] = [];
  const setBySlot = new GrowingUint32Array();
  return {
    /** Offers must be added in slot order. */
    add(offer: CashbackOffer): void {
      const values = valuesOf(offer);
      const addSet = () => sets.push([...new Set(values.map(normalise))]) - 1;
      setBySlot.push(numbers.getOrInsertComputed(JSON.stringify(values), addSet));
    },
    build(slots: Uint32Array): TermColumnData {
      const { values } = setBySlot;
      return { setByOffer: sharedUint32Array(slots.map((slot) => values[slot] as number)), sets };
    },
  };
}
