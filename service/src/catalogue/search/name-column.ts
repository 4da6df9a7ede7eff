// Finds the retailers whose folded name contains a string, by searching all names. With 30,000 retailers, this takes 0.05 ms if
// few names match and 2 ms if all do.

import type { PackedUtf8 } from '../snapshot-data.ts';
import { Bitset } from '../tables/bitset.ts';

export class NameColumn {
  /** All names, without anything between them. */
  readonly #names: Buffer;
  readonly #begins: Uint32Array;

  constructor({ items: { buffer }, begins }: PackedUtf8) {
    this.#names = Buffer.from(buffer);
    this.#begins = begins;
  }

  /** `text` must not be empty. */
  find(text: string): Bitset {
    const wanted = Buffer.from(text);
    const found = new Bitset(this.#begins.length - 1);
    let retailer = 0;
    for (let at = this.#names.indexOf(wanted); at >= 0; at = this.#names.indexOf(wanted, at)) {
      while ((this.#begins[retailer + 1] as number) <= at) retailer++;
      const end = this.#begins[retailer + 1] as number;
      if (at + wanted.length <= end) {
        found.add(retailer);
        at = end;
      } else at++; // The match extends into the next name.
    }
    return found;
  }
}
