// Selects cashback offers by retailer name, category and country. It knows offers by rank and retailers by
// number, and nothing of texts or pages. Its worst case is far from looking at every offer's text: whole
// sets of offers and of retailers are intersected first, and names are compared only for what is left.

import { type Bitset, firstAccepted, firstCommon, type Range } from './bitset.ts';
import type { DealTable } from './deal-table.ts';
import { fold } from './fold.ts';
import type { NameIndex } from './name-index.ts';
import { byForm, firstAtOrAfter, isInAll, type NumberSet, numberSet } from './number-set.ts';

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
    const { owners } = this.#table;
    const candidates = this.#names.candidates(name);
    for (const { retailers } of terms) if (retailers !== undefined) candidates.intersect(retailers);
    const sets = terms.map(({ offers }) => offers);
    const offers = this.#collectOffers(candidates, stepsToWalk(sets, range), limit);
    if (offers !== undefined) sets.push(offers);
    return select(sets, range, limit, (offer) => {
      const retailer = owners[offer] as number;
      if (!candidates.has(retailer)) return false;
      if (this.#names.matches(retailer, name)) return true;
      candidates.delete(retailer);
      return false;
    });
  }

  /**
   * All offers of the candidates, or undefined when it is less work to walk through the list until enough of
   * them are met. Of n offers, m of them the candidates', the walk meets enough after about limit · n / m
   * steps, or ends; collecting takes m steps, each of them about four times as long.
   */
  #collectOffers(candidates: Bitset, walkStepsMax: number, limit: number): NumberSet | undefined {
    const { firstSlots, ranks, count } = this.#table;
    const offersMax = Math.min(Math.sqrt(limit * count) / 2, walkStepsMax / 4);
    let offerCount = 0;
    const few = candidates.every((retailer) => {
      offerCount += (firstSlots[retailer + 1] as number) - (firstSlots[retailer] as number);
      return offerCount <= offersMax;
    });
    if (!few) return undefined;
    const offers = new Uint32Array(offerCount);
    let index = 0;
    candidates.forEach((retailer) => {
      const end = firstSlots[retailer + 1] as number;
      for (let slot = firstSlots[retailer] as number; slot < end; slot++)
        offers[index++] = ranks[slot] as number;
    });
    return numberSet(offers, count);
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
  return firstCommon([first, others[0], others[1]], range, limit, accept);
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

function stepsToWalk(sets: readonly NumberSet[], { begin, end }: Range): number {
  return byForm(sets).arrays[0]?.length ?? end - begin;
}
