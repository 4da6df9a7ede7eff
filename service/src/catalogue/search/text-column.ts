// Many short texts in one row of UTF-16 codes, to be compared where they lie.

import type { PackedTexts } from '../snapshot-data.ts';

export class TextColumn {
  readonly #codes: Uint16Array;
  readonly #begins: Uint32Array;

  constructor({ items, begins }: PackedTexts) {
    this.#codes = items;
    this.#begins = begins;
  }

  get length(): number {
    return this.#begins.length - 1;
  }

  /** Negative, 0 or positive, in the order of UTF-16 codes, which is the order of `<` on strings. */
  compare(index: number, text: string): number {
    const begin = this.#begins[index] as number;
    const length = (this.#begins[index + 1] as number) - begin;
    for (let place = 0; place < length && place < text.length; place++) {
      const difference = (this.#codes[begin + place] as number) - text.charCodeAt(place);
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }

  /** The text must not be empty. */
  contains(index: number, text: string): boolean {
    const codes = this.#codes;
    const first = text.charCodeAt(0);
    const last = (this.#begins[index + 1] as number) - text.length;
    for (let begin = this.#begins[index] as number; begin <= last; begin++) {
      if (codes[begin] !== first) continue;
      let place = 1;
      while (place < text.length && codes[begin + place] === text.charCodeAt(place)) place++;
      if (place === text.length) return true;
    }
    return false;
  }
}
