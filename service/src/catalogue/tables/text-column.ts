// Many short strings in one array of UTF-8.

import type { PackedTexts } from '../snapshot-data.ts';
import { firstIndex, type Range } from './ascending.ts';
import { Bitset } from './bitset.ts';

export class TextColumn {
  /** All strings, concatenated without separators. */
  readonly #bytes: Buffer;
  readonly #begins: Uint32Array;

  constructor({ items: { buffer }, begins }: PackedTexts) {
    this.#bytes = Buffer.from(buffer);
    this.#begins = begins;
  }

  get length(): number {
    return this.#begins.length - 1;
  }

  /** Returns the range of the strings that equal the text. Requires a column sorted by bytes. */
  rangeOf(text: string): Range {
    const wanted = Buffer.from(text);
    const compare = (index: number) =>
      this.#bytes.compare(wanted, 0, wanted.length, this.#begins[index], this.#begins[index + 1]);
    const begin = firstIndex(this.length, (index) => compare(index) >= 0);
    let end = begin;
    while (end < this.length && compare(end) === 0) end++;
    return { begin, end };
  }

  /** Returns the strings that contain the text, which must not be empty. With 30,000 names, this takes 0.05 to 2 ms. */
  containing(text: string): Bitset {
    const wanted = Buffer.from(text);
    const found = new Bitset(this.length);
    let index = 0;
    for (let at = this.#bytes.indexOf(wanted); at >= 0; at = this.#bytes.indexOf(wanted, at)) {
      while ((this.#begins[index + 1] as number) <= at) index++;
      const end = this.#begins[index + 1] as number;
      // A match can extend into the next string.
      if (at + wanted.length <= end) found.add(index);
      at = end;
    }
    return found;
  }
}
