// Builds the index of retailer names: sorts the suffixes of all names by their first SORTED_CHARACTERS characters.

import { SORTED_CHARACTERS } from '../search/name-index.ts';
import type { NameIndexData, PackedStrings } from '../snapshot-data.ts';
import { packStrings, sharedUint32Array } from './shared-memory.ts';

/** Number of characters in a key. A key has one digit per character: 0 after the end of the name, or else the code unit + 1. */
const KEY_LENGTH = 3;
const KEY_BASE = 0x1_0001;
/** Larger groups are divided by their next characters, because names have many equal parts, which are slow to compare. */
const COMPARED_MAX = 64;

/** Expects the folded names of all retailers. */
export function buildNameIndex(texts: readonly string[]): NameIndexData {
  const names = packStrings(texts);
  const retailerAt = new Uint32Array(names.items.length);
  for (let retailer = 0; retailer < texts.length; retailer++)
    retailerAt.fill(retailer, names.begins[retailer], names.begins[retailer + 1]);
  const positions = sharedUint32Array(retailerAt.map((_, position) => position));
  new SuffixSorter(names, retailerAt).sort(positions, 0);
  const retailers = sharedUint32Array(positions.map((position) => retailerAt[position] as number));
  return { names, positions, retailers };
}

class SuffixSorter {
  readonly #codes: Uint16Array;
  /** For each position, the number of characters from there to the end of the name. */
  readonly #lengths: Uint32Array;

  /** Reused for all groups, because a list per group would take 100 MB for 30,000 names. */
  readonly #moved: Uint32Array;

  constructor({ items, begins }: PackedStrings, retailerAt: Uint32Array) {
    this.#moved = new Uint32Array(retailerAt.length);
    this.#codes = items;
    this.#lengths = retailerAt.map((retailer, position) => (begins[retailer + 1] as number) - position);
  }

  /** Sorts positions whose suffixes have the same first `offset` characters. */
  sort(positions: Uint32Array, offset: number): void {
    if (offset >= SORTED_CHARACTERS) return;
    if (positions.length <= COMPARED_MAX) {
      positions.sort((a, b) => this.#compare(a, b, offset));
      return;
    }
    /** Counting sort. First holds the size of each key's group, then the index at which the group's next member is written. */
    const ends = new Map<number, number>();
    const keyOf = (index: number) => this.#keyAt(positions[index] as number, offset);
    for (let index = 0; index < positions.length; index++) {
      const key = keyOf(index);
      ends.set(key, (ends.get(key) ?? 0) + 1);
    }
    const keys = [...ends.keys()].sort((a, b) => a - b);
    let begin = 0;
    for (const key of keys) {
      const size = ends.get(key) as number;
      ends.set(key, begin);
      begin += size;
    }
    for (let index = 0; index < positions.length; index++) {
      const key = keyOf(index);
      const end = ends.get(key) as number;
      this.#moved[end] = positions[index] as number;
      ends.set(key, end + 1);
    }
    positions.set(this.#moved.subarray(0, positions.length));
    begin = 0;
    for (const key of keys) {
      const end = ends.get(key) as number;
      const isWhole = key % KEY_BASE === 0;
      if (!isWhole && end - begin > 1) this.sort(positions.subarray(begin, end), offset + KEY_LENGTH);
      begin = end;
    }
  }

  #keyAt(position: number, offset: number): number {
    const length = this.#lengths[position] as number;
    let key = 0;
    for (let index = offset; index < offset + KEY_LENGTH; index++)
      key = key * KEY_BASE + (index < length ? (this.#codes[position + index] as number) + 1 : 0);
    return key;
  }

  #compare(a: number, b: number, offset: number): number {
    const aLength = this.#lengths[a] as number;
    const bLength = this.#lengths[b] as number;
    const end = Math.min(aLength, bLength, SORTED_CHARACTERS);
    for (let index = offset; index < end; index++) {
      const difference = (this.#codes[a + index] as number) - (this.#codes[b + index] as number);
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  }
}
