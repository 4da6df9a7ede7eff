// A set of small numbers that uses one bit per number, so a set of all deals in the catalogue is cheap to create.

import type { Ascending } from './ascending.ts';

const BITS = 32;

export class Bitset implements Ascending {
  readonly #words: Int32Array;

  /** Creates an empty set for numbers from 0 to size − 1. */
  constructor(size: number) {
    this.#words = new Int32Array(Math.ceil(size / BITS));
  }

  has(member: number): boolean {
    return ((this.#words[member >>> 5] as number) & (1 << (member & 31))) !== 0;
  }

  add(member: number): void {
    this.#words[member >>> 5] = (this.#words[member >>> 5] as number) | (1 << (member & 31));
  }

  count(): number {
    let members = 0;
    this.walk(0, () => {
      members++;
      return true;
    });
    return members;
  }

  walk(begin: number, visit: (member: number) => boolean): void {
    const first = begin >>> 5;
    for (let index = first; index < this.#words.length; index++) {
      let word = this.#words[index] as number;
      if (index === first) word &= -1 << (begin & 31);
      for (; word !== 0; word &= word - 1) {
        if (!visit(index * BITS + 31 - Math.clz32(word & -word))) return;
      }
    }
  }
}
