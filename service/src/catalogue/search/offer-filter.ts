// Filters for cashback offers. Each filter estimates its cost, iterates over its offers in rank order, and tests individual
// offers.

import type { OfferTermsData, PackedNumbers } from '../snapshot-data.ts';
import { type Ascending, allBelow, ascendingArray, firstAccepted, type Range } from '../tables/ascending.ts';
import { Bitset } from '../tables/bitset.ts';
import type { DealTable } from '../tables/deal-table.ts';
import type { NameIndex } from './name-index.ts';
import type { TermIndex } from './term-index.ts';

export interface OfferFilter {
  /** Cost of iterating over `offers`. The unit is one step through a sorted list. */
  readonly work: number;
  /** Ranks of the offers that pass the filter. */
  offers(): Ascending;
  passes(offer: number): boolean;
}

/** Returns the first `limit` ranks in the range whose offers pass all filters, in ascending order. */
export function firstPassing(
  filters: readonly [OfferFilter, ...OfferFilter[]],
  range: Range,
  limit: number,
): number[] {
  const leading = filters.reduce((a, b) => (b.work < a.work ? b : a));
  return firstAccepted(leading.offers(), range, limit, (offer) => {
    for (const filter of filters) if (!filter.passes(offer)) return false;
    return true;
  });
}

export function everyOffer(count: number): OfferFilter {
  return { work: count, offers: () => allBelow(count), passes: () => true };
}

const NO_OFFER = everyOffer(0);

export function offersWithTerm(
  index: TermIndex,
  { listByOffer, termsByList }: OfferTermsData,
  text: string,
): OfferFilter {
  const term = index.find(text);
  if (term === undefined) return NO_OFFER;
  const members = index.members(term);
  return {
    work: members.length,
    offers: () => ascendingArray(members),
    passes: (offer) => hasItem(termsByList, listByOffer[offer] as number, term),
  };
}

function hasItem({ items, begins }: PackedNumbers, list: number, item: number): boolean {
  const end = begins[list + 1] as number;
  for (let index = begins[list] as number; index < end; index++) if (items[index] === item) return true;
  return false;
}

/** Cost factor: the offers of several retailers must be sorted before the first offer is known. */
const WORK_OF_SORTING = 16;

/** Accepts offers of retailers whose folded name contains the string. */
export function offersByName(names: NameIndex, table: DealTable, text: string): OfferFilter {
  const { owners, ranks } = table.data;
  const retailers = names.find(text);
  const found = new Bitset(ranks.begins.length - 1);
  let count = 0;
  for (let index = 0; index < retailers.length; index++) {
    const retailer = retailers[index] as number;
    found.add(retailer);
    count += (ranks.begins[retailer + 1] as number) - (ranks.begins[retailer] as number);
  }
  return {
    work: count * WORK_OF_SORTING,
    offers() {
      const offers = new Uint32Array(count);
      let end = 0;
      // Copies in a loop, because set() and subarray() are slow for the few offers that each retailer has.
      for (let index = 0; index < retailers.length; index++) {
        const retailer = retailers[index] as number;
        const ownEnd = ranks.begins[retailer + 1] as number;
        for (let at = ranks.begins[retailer] as number; at < ownEnd; at++)
          offers[end++] = ranks.items[at] as number;
      }
      return ascendingArray(offers.sort());
    },
    passes: (offer) => found.has(owners[offer] as number),
  };
}
