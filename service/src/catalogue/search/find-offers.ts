// Finds the first offers in rank order that pass all filters: among all offers, or among the offers of some retailers.

import type { DealData } from '../snapshot-data.ts';
import type { Range } from '../tables/ascending.ts';
import type { Bitset } from '../tables/bitset.ts';

/** Accepts an offer if its value in the column is one of the accepted values. */
export interface OfferFilter {
  /** By rank. */
  readonly column: Uint32Array;
  readonly accepted: Bitset;
  /** Estimates the fraction of offers that pass. Filters with a small share are tested first. */
  readonly share: number;
}

const BLOCK = 512;
/** Scanning is synchronous, so all requests can share one block. */
const block = new Uint32Array(BLOCK);
/** Looking up one retailer's offers takes about as long as scanning this many offers in order. */
const SCANNED_PER_RETAILER = 128;

/** Scans the range, one block of offers at a time, until `limit` offers are found. */
export function findOffers(filters: readonly OfferFilter[], { begin, end }: Range, limit: number): number[] {
  const found: number[] = [];
  const [first, ...others] = filters.toSorted((a, b) => a.share - b.share);
  if (first === undefined || first.share === 0) return found;
  for (let at = begin; at < end && found.length < limit; at += BLOCK) {
    let count = acceptedBetween(first, at, Math.min(at + BLOCK, end));
    for (const filter of others) count = keepAccepted(filter, count);
    for (let index = 0; index < count && found.length < limit; index++) found.push(block[index] as number);
  }
  return found;
}

/**
 * Finds offers of these retailers. First scans all offers, for about as long as looking up the retailers' offers would take,
 * and then looks up the rest. A search therefore takes at most about twice as long as the faster of the two ways.
 */
export function findOffersOf(
  retailers: Bitset,
  { owners, ranks }: DealData,
  filters: readonly OfferFilter[],
  { begin, end }: Range,
  limit: number,
): number[] {
  const count = retailers.count();
  const scanned = Math.min(begin + SCANNED_PER_RETAILER * count, end);
  const byRetailer = { column: owners, accepted: retailers, share: count / (ranks.begins.length - 1) };
  const found = findOffers([byRetailer, ...filters], { begin, end: scanned }, limit);
  if (found.length === limit || scanned === end) return found;
  const others: number[] = [];
  retailers.walk(0, (retailer) => {
    const ownEnd = ranks.begins[retailer + 1] as number;
    for (let index = ranks.begins[retailer] as number; index < ownEnd; index++) {
      const offer = ranks.items[index] as number;
      if (offer >= scanned && passes(filters, offer)) others.push(offer);
    }
    return true;
  });
  // A typed array sorts numbers without a comparison function.
  const sorted = Uint32Array.from(others).sort();
  return [...found, ...sorted.subarray(0, limit - found.length)];
}

function passes(filters: readonly OfferFilter[], offer: number): boolean {
  for (const { column, accepted } of filters) if (!accepted.has(column[offer] as number)) return false;
  return true;
}

/** Fills the block with the accepted offers of a range. Returns their number. */
function acceptedBetween({ column, accepted }: OfferFilter, begin: number, end: number): number {
  let count = 0;
  for (let offer = begin; offer < end; offer++) {
    block[count] = offer;
    count += accepted.bit(column[offer] as number);
  }
  return count;
}

/** Moves the accepted offers to the front of the block, in their order. Returns their number. */
function keepAccepted({ column, accepted }: OfferFilter, length: number): number {
  let count = 0;
  for (let index = 0; index < length; index++) {
    const offer = block[index] as number;
    block[count] = offer;
    count += accepted.bit(column[offer] as number);
  }
  return count;
}
