// Selects cashback offers by retailer name, category and country. It knows offers by rank and retailers by
// number, and nothing of texts or pages. Its worst case is far from looking at every offer's text: whole
// sets of offers and of retailers are intersected first, and names are compared only for what is left.

import { Bitset, firstAccepted, firstCommon, type Range } from './bitset.ts';
import type { DealTable } from './deal-table.ts';
import { fold } from './fold.ts';
import type { NameIndex } from './name-index.ts';
import { asBitset, byForm, firstAtOrAfter, isInAll, type NumberSet } from './number-set.ts';

export interface OfferFilters {
  readonly name?: string | undefined;
  readonly category?: string | undefined;
  readonly country?: string | undefined;
}

/** The offers of a category or a country; when they are many, also the retailers that have any of them. */
export interface TermEntry {
  readonly offers: NumberSet;
  readonly retailers: Bitset | undefined;
}

/** By folded category, or by country code. */
export type TermIndex = ReadonlyMap<string, TermEntry>;

export class OfferIndex {
  readonly #table: DealTable;
  readonly #names: NameIndex;
  readonly #categories: TermIndex;
  readonly #countries: TermIndex;

  constructor(table: DealTable, names: NameIndex, categories: TermIndex, countries: TermIndex) {
    this.#table = table;
    this.#names = names;
    this.#categories = categories;
    this.#countries = countries;
  }

  /** The first offers at or after a rank, at most `limit`, that match all filters, ascending. */
  select({ name, category, country }: OfferFilters, begin: number, limit: number): number[] {
    const terms: TermEntry[] = [];
    for (const [index, term] of [
      [this.#categories, category === undefined ? undefined : fold(category)],
      [this.#countries, country],
    ] as const) {
      if (term === undefined) continue;
      const entry = index.get(term);
      if (entry === undefined) return [];
      terms.push(entry);
    }
    // A name of nothing but accents folds to the empty text, which every name contains.
    const foldedName = fold(name ?? '');
    const range = { begin, end: this.#table.listedCount };
    return foldedName === ''
      ? select(
          terms.map(({ offers }) => offers),
          range,
          limit,
        )
      : this.#selectByName(foldedName, terms, range, limit);
  }

  #selectByName(name: string, terms: readonly TermEntry[], range: Range, limit: number): number[] {
    const among = terms.flatMap(({ retailers }) => retailers ?? []);
    const candidates = this.#names.candidates(name, among);
    const sets = terms.map(({ offers }) => offers);
    if (candidates instanceof Bitset) return this.#walk(name, candidates, sets, range, limit);
    const offerCount = this.#countOffers(candidates);
    if (offerCount === 0) return [];
    // Of n offers, m of them the candidates', a walk meets enough after about limit · n / m steps, or ends. Collecting
    // takes m steps at most, and few of them for a first page.
    if (offerCount ** 2 > 4 * limit * this.#table.count)
      return this.#walk(name, candidates, sets, range, limit);
    return this.#collect(name, candidates, offerCount / this.#table.count, sets, range, limit);
  }

  /** Goes through the list until enough offers of the candidates are met. */
  #walk(
    name: string,
    candidates: NumberSet,
    sets: readonly NumberSet[],
    range: Range,
    limit: number,
  ): number[] {
    const { owners, retailerCount } = this.#table;
    const remaining = asBitset(candidates, retailerCount);
    return select(sets, range, limit, (offer) => {
      const retailer = owners[offer] as number;
      if (!remaining.has(retailer)) return false;
      if (this.#names.matches(retailer, name)) return true;
      remaining.delete(retailer);
      return false;
    });
  }

  /**
   * Gathers the offers of the candidates from the beginning of the range, as far as enough of them would be met if they
   * lay everywhere with the same density and were all wanted; and then from twice as much of it, until they are enough.
   */
  #collect(
    name: string,
    candidates: Uint32Array,
    density: number,
    sets: readonly NumberSet[],
    { begin, end }: Range,
    limit: number,
  ): number[] {
    const { owners } = this.#table;
    const isMatch = (offer: number) => this.#names.matches(owners[offer] as number, name);
    for (let length = limit / density; ; length *= 2) {
      const range = { begin, end: Math.min(begin + length, end) };
      const offers = this.#offersOf(candidates, sets, range);
      if (offers.length < limit && range.end < end) continue;
      const found = selectAmong(new Uint32Array(offers).sort(), [], range, limit, isMatch);
      if (found.length === limit || range.end === end) return found;
    }
  }

  /** The offers of some retailers that are in all of the sets, retailer by retailer. */
  #offersOf(retailers: Uint32Array, sets: readonly NumberSet[], { begin, end }: Range): number[] {
    const { firstSlots, ranks, listedCount } = this.#table;
    const offers: number[] = [];
    for (let index = 0; index < retailers.length; index++) {
      const retailer = retailers[index] as number;
      const slotEnd = firstSlots[retailer + 1] as number;
      for (let slot = firstSlots[retailer] as number; slot < slotEnd; slot++) {
        const offer = ranks[slot] as number;
        if (offer < begin || offer >= listedCount) continue;
        // Ranks rise from slot to slot of a retailer, but for those that are not listed.
        if (offer >= end) break;
        if (isInAll(sets, offer)) offers.push(offer);
      }
    }
    return offers;
  }

  #countOffers(retailers: Uint32Array): number {
    const { firstSlots } = this.#table;
    let count = 0;
    for (let index = 0; index < retailers.length; index++) {
      const retailer = retailers[index] as number;
      count += (firstSlots[retailer + 1] as number) - (firstSlots[retailer] as number);
    }
    return count;
  }
}

function select(
  sets: readonly NumberSet[],
  range: Range,
  limit: number,
  accept?: (offer: number) => boolean,
): number[] {
  const { arrays, bitsets } = byForm(sets);
  const [fewest, ...otherArrays] = arrays;
  if (fewest !== undefined) return selectAmong(fewest, [...bitsets, ...otherArrays], range, limit, accept);
  const [first, ...others] = bitsets;
  if (first === undefined) return firstAccepted(range, limit, accept);
  return firstCommon([first, others[0]], range, limit, accept);
}

function selectAmong(
  offers: Uint32Array,
  sets: readonly NumberSet[],
  { begin, end }: Range,
  limit: number,
  accept: (offer: number) => boolean = () => true,
): number[] {
  const found: number[] = [];
  for (let index = firstAtOrAfter(offers, begin); index < offers.length && found.length < limit; index++) {
    const offer = offers[index] as number;
    if (offer < end && isInAll(sets, offer) && accept(offer)) found.push(offer);
  }
  return found;
}
