// The whole catalogue as of one revision, as data without behaviour: typed arrays in shared memory. One thread builds
// it and posts it to the threads that serve it, and nothing is copied on the way.

import type { DealList } from '../domain/deals.ts';
import type { TermName } from './search/offer-terms.ts';

export interface SnapshotData {
  readonly revision: number;
  readonly retailers: RetailerData;
  readonly deals: Readonly<Record<DealList, DealData>>;
  readonly search: SearchData;
}

/** Lists laid end to end: list i holds the items from begins[i] up to begins[i + 1], which is not included. */
export interface Packed<Items> {
  readonly items: Items;
  readonly begins: Uint32Array;
}

/**
 * Texts as they are sent: JSON as UTF-8. The bytes lie in chunks of the same size, so that packing never has to copy
 * them to a larger place. A text may begin in one chunk and end in another.
 */
export type PackedJson = Packed<readonly Uint8Array[]>;
export const JSON_CHUNK_BYTES = 1 << 20;

/** Texts to be compared, as UTF-16. */
export type PackedTexts = Packed<Uint16Array>;
export type PackedNumbers = Packed<Uint32Array>;

/** Retailers are numbered in the order of their ids. */
export interface RetailerData {
  /** Four words for each. */
  readonly ids: Uint32Array;
  /** The retailer's own fields: a JSON object without the closing brace. */
  readonly heads: PackedJson;
  /** What the list forms of its deals have after the deal's own fields, from the comma to the closing brace. */
  readonly tails: PackedJson;
}

/**
 * The deals of one list, in two orders: by retailer, as they are embedded (a deal's number there is its slot), and by
 * id, as they are listed (its rank). Should two retailers share a deal's id, only the first one's deal is listed. The
 * others have the last ranks, beyond those of `ids`: a walk that met an id twice would come back to it for ever.
 */
export interface DealData {
  /** Of the listed ranks, four words for each. */
  readonly ids: Uint32Array;
  /** By slot: a comma and the JSON object. */
  readonly texts: PackedJson;
  /** By retailer: the ranks of its slots. Where they begin is the retailer's first slot. */
  readonly ranks: PackedNumbers;
  /** By rank. */
  readonly slots: Uint32Array;
  readonly owners: Uint32Array;
  /** Undefined for a list whose deals are always active, and for one without deals. */
  readonly periods: Periods | undefined;
}

/** By rank: a deal is active from a moment until just before another. */
export interface Periods {
  readonly fromMs: Float64Array;
  readonly untilMs: Float64Array;
}

/** What cashback offers are searched with. It knows offers by rank and retailers by number. */
export interface SearchData {
  /** By retailer: its name, folded. */
  readonly names: PackedTexts;
  /** Every run of one to three characters of a folded name, with the retailers that have it in their names. */
  readonly grams: TermIndexData;
  /** Each term, such as a country, with the offers that have it. */
  readonly terms: Readonly<Record<TermName, OfferTermsData>>;
}

export interface TermIndexData {
  /** In the order of their UTF-16 codes. */
  readonly terms: PackedTexts;
  /** By term: the numbers of those that have it, ascending. */
  readonly members: PackedNumbers;
}

export interface OfferTermsData extends TermIndexData {
  /** By rank of an offer: the number of its list of terms. Many offers have the same. */
  readonly listByOffer: Uint32Array;
  /** The numbers of the terms in each list. */
  readonly termsByList: PackedNumbers;
}
