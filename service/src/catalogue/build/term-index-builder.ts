// Builds inverted indexes from terms to retailers or offers.

import type { CashbackOffer } from '@offerbook/wire/catalogue.ts';
import { OFFER_TERMS, type TermName } from '../search/offer-terms.ts';
import type { OfferTermsData, TermIndexData } from '../snapshot-data.ts';
import { packNumbers, packStrings, sharedUint32Array } from './shared-memory.ts';

/** Members must be added in ascending order. Adding a term twice for the same member has no effect. */
export class TermIndexBuilder {
  readonly #members = new Map<string, number[]>();

  add(term: string, member: number): void {
    const members = this.#members.get(term);
    if (members === undefined) this.#members.set(term, [member]);
    else if (members.at(-1) !== member) members.push(member);
  }

  /** Sorted by UTF-16 code units. */
  terms(): string[] {
    return [...this.#members.keys()].sort();
  }

  build(): TermIndexData {
    const terms = this.terms();
    return {
      terms: packStrings(terms),
      members: packNumbers(terms.map((term) => this.#members.get(term) as number[])),
    };
  }
}

/** Offers must be added in slot order. Many offers have the same values, so each distinct list is stored once. */
export class OfferTermsBuilder {
  readonly #name: TermName;
  readonly #lists = new Map<string, { number: number; values: readonly string[] }>();
  readonly #listBySlot: number[] = [];

  constructor(name: TermName) {
    this.#name = name;
  }

  add(offer: CashbackOffer): void {
    const values = OFFER_TERMS[this.#name].valuesOf(offer);
    const key = JSON.stringify(values);
    const list = this.#lists.get(key) ?? { number: this.#lists.size, values };
    this.#lists.set(key, list);
    this.#listBySlot.push(list.number);
  }

  build(slots: Uint32Array): OfferTermsData {
    const { normalise } = OFFER_TERMS[this.#name];
    const lists = [...this.#lists.values()].map(({ values }) => values.map(normalise));
    const listByOffer = sharedUint32Array(slots.length);
    const index = new TermIndexBuilder();
    for (let rank = 0; rank < slots.length; rank++) {
      const list = this.#listBySlot[slots[rank] as number] as number;
      listByOffer[rank] = list;
      for (const term of lists[list] as string[]) index.add(term, rank);
    }
    const numbers = new Map(index.terms().map((term, number) => [term, number]));
    const termsByList = packNumbers(lists.map((terms) => terms.map((term) => numbers.get(term) as number)));
    return { ...index.build(), listByOffer, termsByList };
  }
}
