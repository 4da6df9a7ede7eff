// Gathers what offers can be filtered by while documents are read, and makes the index of it once the ranks
// of the offers are known.

import { fold } from '../search/fold.ts';
import { NameIndex } from '../search/name-index.ts';
import { NumberSetBuilder } from '../search/number-set.ts';
import { OfferIndex, type TermEntry, type TermIndex } from '../search/offer-index.ts';
import { Bitset } from '../tables/bitset.ts';
import type { DealTable } from '../tables/deal-table.ts';
import { GrowingUint32Array } from './growing-uint32-array.ts';
import type { Pacer } from './pacer.ts';

export class OfferIndexBuilder {
  readonly #names: string[] = [];
  readonly #categories = new TermColumn((category: string) => [fold(category)]);
  readonly #countries = new TermColumn((countries: string[]) => countries);

  addRetailer(name: string): void {
    this.#names.push(fold(name));
  }

  /** Takes category and countries as JSON. Offers come in the order of their slots. */
  addOffer(category: string, countries: string): void {
    this.#categories.add(category);
    this.#countries.add(countries);
  }

  async build(table: DealTable, pacer: Pacer): Promise<OfferIndex> {
    return new OfferIndex(
      table,
      await NameIndex.build(this.#names, pacer),
      await this.#categories.index(table, this.#names.length, pacer),
      await this.#countries.index(table, this.#names.length, pacer),
    );
  }
}

/** A field of every offer, as JSON. Its values repeat, so that an offer only keeps the number of its value. */
class TermColumn<Value> {
  readonly #termsOf: (value: Value) => readonly string[];
  readonly #valueNumbers = new Map<string, number>();
  readonly #valueBySlot = new GrowingUint32Array();

  constructor(termsOf: (value: Value) => readonly string[]) {
    this.#termsOf = termsOf;
  }

  add(value: string): void {
    let number = this.#valueNumbers.get(value);
    if (number === undefined) {
      number = this.#valueNumbers.size;
      this.#valueNumbers.set(value, number);
    }
    this.#valueBySlot.push(number);
  }

  async index(table: DealTable, retailerCount: number, pacer: Pacer): Promise<TermIndex> {
    const { terms, termsByValue } = await this.#terms(table.count, pacer);
    const valueBySlot = this.#valueBySlot.toArray();
    const forEachTerm = (visit: (term: TermBuilder, rank: number) => void) =>
      pacer.repeat(table.listedCount, (rank) => {
        const value = valueBySlot[table.slots[rank] as number] as number;
        for (const term of termsByValue[value] as TermBuilder[]) visit(term, rank);
      });

    await forEachTerm((term, rank) => term.addOffer(rank));
    await pacer.forEach(terms.values(), (term) => term.endOffers(retailerCount));
    await forEachTerm((term, rank) => term.addRetailer(table.owners[rank] as number));

    const entries = new Map<string, TermEntry>();
    await pacer.forEach(terms, ([name, term]) => entries.set(name, term.entry));
    return entries;
  }

  async #terms(offerCount: number, pacer: Pacer) {
    const terms = new Map<string, TermBuilder>();
    const termsByValue: TermBuilder[][] = [];
    await pacer.forEach(this.#valueNumbers.keys(), (value) => {
      const termsOfValue = this.#termsOf(JSON.parse(value)).map((name) => {
        const term = terms.get(name) ?? new TermBuilder(offerCount);
        terms.set(name, term);
        return term;
      });
      termsByValue.push(termsOfValue);
    });
    return { terms, termsByValue };
  }
}

class TermBuilder {
  readonly #offers: NumberSetBuilder;
  #entry: TermEntry = { offers: new Uint32Array(), retailers: undefined };

  constructor(offerCount: number) {
    this.#offers = new NumberSetBuilder(offerCount);
  }

  get entry(): TermEntry {
    return this.#entry;
  }

  addOffer(rank: number): void {
    this.#offers.add(rank);
  }

  endOffers(retailerCount: number): void {
    const offers = this.#offers.build();
    this.#entry = { offers, retailers: offers instanceof Bitset ? new Bitset(retailerCount) : undefined };
  }

  addRetailer(retailer: number): void {
    this.#entry.retailers?.add(retailer);
  }
}
