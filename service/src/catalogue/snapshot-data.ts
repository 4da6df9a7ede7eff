// The catalogue at one revision as plain data: typed arrays in shared memory. One thread builds it and posts it to the
// threads that serve it, without copying.

import type { DealList } from '@offerbook/wire/deals.ts';
import type { TermName } from './search/offer-terms.ts';

export interface SnapshotData {
  readonly revision: number;
  readonly retailers: RetailerData;
  readonly deals: Readonly<Record<DealList, DealData>>;
  readonly search: SearchData;
}

/** Concatenated lists: list i is items[begins[i]] to items[begins[i + 1] - 1]. */
export interface Packed<Items> {
  readonly items: Items;
  readonly begins: Uint32Array;
}

/**
 * JSON as UTF-8, ready to send. The bytes are in chunks of equal size, so that packing never reallocates. A document may
 * span several chunks.
 */
export type PackedJson = Packed<readonly Uint8Array[]>;
export const JSON_CHUNK_BYTES = 1 << 20;

/** Strings for comparison, as UTF-16. */
export type PackedStrings = Packed<Uint16Array>;
export type PackedNumbers = Packed<Uint32Array>;

/** Retailers are numbered in ascending order of id. */
export interface RetailerData {
  /** Four words per retailer. */
  readonly ids: Uint32Array;
  /** The retailer's own fields: a JSON object without the closing brace. */
  readonly heads: PackedJson;
  /** The retailer's fields in the list form of its deals: JSON from the comma to the closing brace. */
  readonly tails: PackedJson;
}

/**
 * The deals of one list, in two orders: by retailer, as they are embedded (the slot), and by id, as they are listed (the
 * rank). If two retailers use the same deal id, only the first deal is listed: a walk over a repeated id would never end.
 * The others have the last ranks, beyond those of `ids`.
 */
export interface DealData {
  /** By rank, listed deals only: four words each. */
  readonly ids: Uint32Array;
  /** By slot: a comma followed by the JSON object. */
  readonly documents: PackedJson;
  /** By retailer: the ranks of its deals. `begins` is also the retailer's first slot. */
  readonly ranks: PackedNumbers;
  /** By rank: the deal's slot. */
  readonly slots: Uint32Array;
  /** By rank: the deal's retailer. */
  readonly owners: Uint32Array;
  /** Undefined if the deals of the list are always active, or if it is empty. */
  readonly periods: Periods | undefined;
}

/** By rank: a deal is active from `fromMs` (included) until `untilMs` (excluded). */
export interface Periods {
  readonly fromMs: Float64Array;
  readonly untilMs: Float64Array;
}

/** Search indexes for cashback offers. They refer to offers by rank and to retailers by number. */
export interface SearchData {
  /** By retailer: its folded name. */
  readonly names: PackedStrings;
  /** n-grams of one to three characters → the retailers whose folded name contains them. */
  readonly grams: TermIndexData;
  /** For each filter, such as country: term → offers. */
  readonly terms: Readonly<Record<TermName, OfferTermsData>>;
}

export interface TermIndexData {
  /** Ordered by UTF-16 code units. */
  readonly terms: PackedStrings;
  /** By term: the numbers of its members, ascending. */
  readonly members: PackedNumbers;
}

export interface OfferTermsData extends TermIndexData {
  /** By rank: the number of the offer's list of terms. Many offers share one list. */
  readonly listByOffer: Uint32Array;
  /** The numbers of the terms in each list. */
  readonly termsByList: PackedNumbers;
}
