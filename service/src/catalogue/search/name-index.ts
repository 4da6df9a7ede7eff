// Finds the retailers whose folded name contains a string. The index is a suffix array: a list of all positions in all names,
// sorted by the next SORTED_CHARACTERS characters of the name. The positions at which a string occurs are adjacent in it.

import { firstIndex } from '../../domain/binary-search.ts';
import type { NameIndexData } from '../snapshot-data.ts';
import { Bitset } from '../tables/bitset.ts';

/** Nearly all queries are shorter. Sorting by all characters would take minutes for a long name that repeats itself. */
export const SORTED_CHARACTERS = 30;

export class NameIndex {
  readonly #data: NameIndexData;

  constructor(data: NameIndexData) {
    this.#data = data;
  }

  /** `text` must not be empty. */
  find(text: string): Bitset {
    const { names, retailers } = this.#data;
    const start = text.slice(0, SORTED_CHARACTERS);
    const isWhole = start.length === text.length;
    const begin = firstIndex(retailers.length, (suffix) => this.#compare(suffix, start) >= 0);
    const end = firstIndex(retailers.length, (suffix) => this.#compare(suffix, start) > 0);
    const found = new Bitset(names.begins.length - 1);
    for (let suffix = begin; suffix < end; suffix++) {
      const retailer = retailers[suffix] as number;
      if (isWhole || (!found.has(retailer) && this.#compare(suffix, text) === 0)) found.add(retailer);
    }
    return found;
  }

  /** Returns 0 if the suffix starts with the string; otherwise a negative or positive number, by UTF-16 code units. */
  #compare(suffix: number, text: string): number {
    const { names, positions, retailers } = this.#data;
    const begin = positions[suffix] as number;
    const end = names.begins[(retailers[suffix] as number) + 1] as number;
    for (let offset = 0; offset < text.length; offset++) {
      if (begin + offset === end) return -1;
      const difference = (names.items[begin + offset] as number) - text.charCodeAt(offset);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
