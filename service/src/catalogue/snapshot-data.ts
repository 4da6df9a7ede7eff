// The catalogue at one revision as plain data: typed arrays in shared memory. One thread builds it and posts it to the
// threads that serve it, without copying.

import type { DealList } from '@offerbook/wire/deals.ts';
import type { TermName } from './search/offer-terms.ts';

export interface SnapshotData {
  readonly revision: number;
  readonly retailers: RetailerData;
  readonly deals: Readonly<Record<DealList, DealData>>;
  readonly search: SearchData;
  readonly domains: DomainData;
}

/** Concatenated lists. List i extends from items[begins[i]] to items[begins[i + 1] - 1]. */
export interface Packed<Items> {
  readonly items: Items;
  readonly begins: Uint32Array;
}

/** Strings as UTF-8. */
export type PackedTexts = Packed<Uint8Array>;

/** Retailers are numbered in ascending id order. */
export interface RetailerData {
  /** Four 32-bit words per retailer. */
  readonly ids: Uint32Array;
  /** As stored, with all deals. */
  readonly documents: PackedDocuments;
  /** The JSON that ends each of the retailer's deals in list form: the retailer's fields, from a comma to the closing brace. */
  readonly tails: PackedDocuments;
}

/** JSON documents as UTF-8. Consecutive snapshots share the chunks that did not change. */
export interface PackedDocuments {
  /** Each contains some consecutive documents. */
  readonly chunks: readonly Uint8Array[];
  /** Three numbers per document: its chunk, and where it begins and ends in the chunk. */
  readonly places: Uint32Array;
}

/**
 * The deals of one list. A deal's slot is its position in retailer order, the order in which deals are embedded. Its rank is
 * its position in id order, the order in which deals are listed.
 */
export interface DealData {
  /** Four 32-bit words per deal, in order of rank. */
  readonly ids: Uint32Array;
  /** Two numbers per slot: where the deal begins and ends in its retailer's document. */
  readonly places: Uint32Array;
  /** The ranks of each retailer's deals. `begins` also contains each retailer's first slot. */
  readonly ranks: Packed<Uint32Array>;
  /** Each deal's slot, in order of rank. */
  readonly slots: Uint32Array;
  /** Each deal's retailer, in order of rank. */
  readonly owners: Uint32Array;
  /** Undefined if the list is empty or its deals are always active. */
  readonly periods: Periods | undefined;
}

/** The deals' periods, in order of rank. A deal is active from `fromMs` (included) until `untilMs` (excluded). */
export interface Periods {
  readonly fromMs: Float64Array;
  readonly untilMs: Float64Array;
}

/** The domains of the retailers' sites. */
export interface DomainData {
  /** Sorted by bytes. A domain of several retailers occurs several times. */
  readonly names: PackedTexts;
  /** The retailer of each domain, in the order of `names`. */
  readonly owners: Uint32Array;
  /**
   * Each retailer's item in the list of domains, a JSON object; empty if the retailer has no domain. The envelope's start or a
   * comma precedes the object, and the envelope's end follows the last one, so the whole column is the list's page.
   */
  readonly items: PackedDocuments;
}

/** Columns and indexes to search cashback offers. They identify offers by rank and retailers by number. */
export interface SearchData {
  /** Each retailer's folded name. */
  readonly names: PackedTexts;
  /** For each exact-match filter (such as country). */
  readonly terms: Readonly<Record<TermName, TermColumnData>>;
}

/** Each offer has a set of terms. Many offers have the same set, which is stored once. */
export interface TermColumnData {
  /** The number of each offer's set, in order of the offer's rank. */
  readonly setByOffer: Uint32Array;
  /** Copied to each thread: a catalogue has few distinct sets. */
  readonly sets: readonly (readonly string[])[];
}
