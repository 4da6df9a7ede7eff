// Builds the index of retailer names: sorts the suffixes of all names.

import type { NameIndexData, PackedStrings } from '../snapshot-data.ts';
import { GrowingUint32Array } from './growing-uint32-array.ts';
import { InvertedIndex } from './inverted-index.ts';
import { packStrings, sharedUint32Array } from './shared-memory.ts';

/** Suffixes are first grouped by this many characters, because that is faster than comparing them. */
const KEY_LENGTH = 3;
/** A key has one digit per character: 0 after the end of the name, or else the code unit + 1. */
const KEY_BASE = 0x1_0001;

export class NameIndexBuilder {
  readonly #names: string[] = [];
  /** By position in the concatenated names. */
  readonly #retailers = new GrowingUint32Array();
  readonly #positionsByKey = new InvertedIndex<number>();

  /** Adds the next retailer's folded name. */
  add(name: string): void {
    for (let begin = 0; begin < name.length; begin++) {
      this.#positionsByKey.add(keyAt(name, begin), this.#retailers.length);
      this.#retailers.push(this.#names.length);
    }
    this.#names.push(name);
  }

  build(): NameIndexData {
    const names = packStrings(this.#names);
    const { items: positions, begins } = this.#positionsByKey.build().members;
    const retailers = this.#retailers.values;
    const compare = suffixComparison(names, retailers);
    for (let key = 0; key < begins.length - 1; key++)
      positions.subarray(begins[key], begins[key + 1]).sort(compare);
    return {
      names,
      positions,
      retailers: sharedUint32Array(positions.map((position) => retailers[position] as number)),
    };
  }
}

/** Compares the suffixes at two positions. Their first characters must be equal. */
function suffixComparison({ items, begins }: PackedStrings, retailers: Uint32Array) {
  const lengths = retailers.map((retailer, position) => (begins[retailer + 1] as number) - position);
  return (a: number, b: number): number => {
    const aLength = lengths[a] as number;
    const bLength = lengths[b] as number;
    for (let offset = KEY_LENGTH; offset < aLength && offset < bLength; offset++) {
      const difference = (items[a + offset] as number) - (items[b + offset] as number);
      if (difference !== 0) return difference;
    }
    return aLength - bLength;
  };
}

/** Returns a suffix's first characters as a number. Keys sort as the characters do. */
function keyAt(name: string, begin: number): number {
  let key = 0;
  for (let index = begin; index < begin + KEY_LENGTH; index++)
    key = key * KEY_BASE + (index < name.length ? name.charCodeAt(index) + 1 : 0);
  return key;
}
