// Many short strings in one array of UTF-16 code units, compared in place.

import type { PackedStrings } from '../snapshot-data.ts';

export class TextColumn {
  readonly #codes: Uint16Array;
  readonly #begins: Uint32Array;

  constructor({ items, begins }: PackedStrings) {
    this.#codes = items;
    this.#begins = begins;
  }

  get length(): number {
    return this.#begins.length - 1;
  }

  /** Returns a negative number, 0 or a positive number. Orders by UTF-16 code units, as `<` does. */
  compare(index: number, text: string): number {
    const begin = this.#begins[index] as number;
    const length = (this.#begins[index + 1] as number) - begin;
    for (let offset = 0; offset < length && offset < text.length; offset++) {
      const difference = (this.#codes[begin + offset] as number) - text.charCodeAt(offset);
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }
}
