// Selects cashback offers by retailer name, category and country. It knows offers by rank and retailers by
// number, and nothing of texts or pages. Its worst case is far from looking at every offer's text: whole
// sets of offers and of retailers are intersected first, and names are compared only for what is left.

import { type Bitset, firstAccepted, firstCommon, type Range } from '../tables/bitset.ts';
import type { DealTable } from '../tables/deal-table.ts';
import { fold } from './fold.ts';
import type { NameIndex } from './name-index.ts';
import { asBitset, byForm, every, firstAtOrAfter, isInAll, type NumberSet } from './number-set.ts';

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

/** Whether a retailer's name contains the text that is searched for. */
const [UNKNOWN, MATCH, OTHER] = [0, 1, 2];

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
    const few = this.#withFewOffers(candidates, this.#collectedMax(sets, range, limit));
    return few === undefined
      ? this.#walk(name, candidates, sets, range, limit)
      : this.#collect(name, few, sets, range, limit);
  }

  /**
   * Up to how many offers of candidates it is less work to collect them than to walk through the list until enough of
   * them are met. Of n offers, m of them the candidates', the walk meets enough after about limit · n / m steps, or ends.
   * Collecting takes m steps at most, each a quarter as long; or twenty times as long, when each offer has to be looked
   * for in an array.
   */
  #collectedMax(sets: readonly NumberSet[], { begin, end }: Range, limit: number): number {
    const [rarest] = byForm(sets).arrays;
    const walkStepsMax = rarest?.length ?? end - begin;
    const stepsForOne = rarest === undefined ? 4 : 1 / 20;
    return Math.min(Math.sqrt(stepsForOne * limit * this.#table.count), stepsForOne * walkStepsMax);
  }

  /** The retailers that have offers, with how many they have; undefined when that is more than so many. */
  #withFewOffers(
    retailers: NumberSet,
    offersMax: number,
  ): { retailers: Uint32Array; offerCount: number } | undefined {
    const { firstSlots } = this.#table;
    const found: number[] = [];
    let offerCount = 0;
    const areFew = every(retailers, (retailer) => {
      const count = (firstSlots[retailer + 1] as number) - (firstSlots[retailer] as number);
      offerCount += count;
      if (count > 0) found.push(retailer);
      return offerCount <= offersMax;
    });
    return areFew ? { retailers: new Uint32Array(found), offerCount } : undefined;
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
    { retailers, offerCount }: { readonly retailers: Uint32Array; readonly offerCount: number },
    sets: readonly NumberSet[],
    { begin, end }: Range,
    limit: number,
  ): number[] {
    const verdicts = new Uint8Array(retailers.length);
    for (let length = (limit * this.#table.count) / offerCount; ; length *= 2) {
      const range = { begin, end: Math.min(begin + length, end) };
      const offers = this.#offersOf(name, retailers, verdicts, sets, range);
      // Where there are no offers at all, the length is no number.
      if (offers.length >= limit || !(range.end < end)) {
        return Array.from(new Uint32Array(offers).sort().subarray(0, limit));
      }
    }
  }

  /** The offers of those retailers whose name contains the text, as far as they are in all of the sets, in no order. */
  #offersOf(
    name: string,
    retailers: Uint32Array,
    verdicts: Uint8Array,
    sets: readonly NumberSet[],
    { begin, end }: Range,
  ): number[] {
    const { firstSlots, ranks, listedCount } = this.#table;
    const offers: number[] = [];
    for (let index = 0; index < retailers.length; index++) {
      if (verdicts[index] === OTHER) continue;
      const retailer = retailers[index] as number;
      const slotEnd = firstSlots[retailer + 1] as number;
      for (let slot = firstSlots[retailer] as number; slot < slotEnd; slot++) {
        const offer = ranks[slot] as number;
        if (offer < begin || offer >= listedCount) continue;
        // Ranks rise from slot to slot of a retailer, but for those that are not listed.
        if (offer >= end) break;
        if (!isInAll(sets, offer)) continue;
        if (verdicts[index] === UNKNOWN) {
          verdicts[index] = this.#names.matches(retailer, name) ? MATCH : OTHER;
        }
        if (verdicts[index] === OTHER) break;
        offers.push(offer);
      }
    }
    return offers;
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
