// The filters of cashback offers. Each knows how many offers it lets through, can go through them in order, and can
// tell of any offer whether it is one of them.

import type { OfferTermsData, PackedNumbers } from '../snapshot-data.ts';
import { type Ascending, allBelow, ascendingArray, firstAccepted, type Range } from '../tables/ascending.ts';
import { Bitset } from '../tables/bitset.ts';
import type { DealTable } from '../tables/deal-table.ts';
import type { NameIndex } from './name-index.ts';
import type { TermIndex } from './term-index.ts';

export interface OfferFilter {
  /** How much work it is to go through all of `offers`, against passing over one number of a list. */
  readonly work: number;
  /** The offers that pass, by rank. */
  offers(): Ascending;
  passes(offer: number): boolean;
}

/**
 * The first offers of a range of ranks, at most `limit`, that pass all filters, ascending. The filter whose offers are the
 * least work leads: they are gone through in order, and each is held against all filters.
 */
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

/** Lets all offers through. */
export function everyOffer(count: number): OfferFilter {
  return { work: count, offers: () => allBelow(count), passes: () => true };
}

/** Lets no offer through. */
const NO_OFFER = everyOffer(0);

/** The offers that have a term. */
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

/** The offers of several retailers have to be sorted before the first one is known. */
const WORK_OF_SORTING = 16;

/** The offers of the retailers whose folded name contains a text. */
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
      // One by one: to copy the few of each retailer together would take a fifth of the search's time.
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
