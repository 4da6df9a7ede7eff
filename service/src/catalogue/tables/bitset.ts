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

  /** Returns 1 for a member, 0 for other numbers. Adding these needs no branch, which the processor could mispredict. */
  bit(member: number): number {
    return ((this.#words[member >>> 5] as number) >>> (member & 31)) & 1;
  }

  add(member: number): void {
    this.#words[member >>> 5] = (this.#words[member >>> 5] as number) | (1 << (member & 31));
  }

  count(): number {
    const words = this.#words;
    let members = 0;
    for (let index = 0; index < words.length; index++) {
      for (let word = words[index] as number; word !== 0; word &= word - 1) members++;
    }
    return members;
  }

  walk(begin: number, visit: (member: number) => boolean): void {
    const words = this.#words;
    const { length } = words;
    let index = begin >>> 5;
    if (index >= length) return;
    let word = (words[index] as number) & (-1 << (begin & 31));
    while (true) {
      for (; word !== 0; word &= word - 1) {
        if (!visit(index * BITS + 31 - Math.clz32(word & -word))) return;
      }
      // Most words of a sparse set are empty, so they are skipped in a loop of their own.
      do index++;
      while (index < length && words[index] === 0);
      if (index === length) return;
      word = words[index] as number;
    }
  }
}
