// Many UUIDs, 16 bytes each instead of the hundred that a string takes, in an order that can be searched.
// Comparing the words of two UUIDs gives the order of their lower-case texts.

import type { Uuid } from '../../domain/uuid.ts';
import { GrowingUint32Array } from '../build/growing-uint32-array.ts';
import type { Pacer } from '../build/pacer.ts';

const WORDS = 4;
const DIGIT_ZERO = 0x30;
const LOWER_CASE_A = 0x61;

export class UuidTable {
  readonly #words: Uint32Array;

  /** Takes four words for each UUID. */
  constructor(words: Uint32Array) {
    this.#words = words;
  }

  get length(): number {
    return this.#words.length / WORDS;
  }

  at(index: number): Uuid {
    let hex = '';
    for (let word = 0; word < WORDS; word++) {
      hex += (this.#words[index * WORDS + word] as number).toString(16).padStart(8, '0');
    }
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
      '-',
    ) as Uuid;
  }

  /** The table whose first UUID is this table's `order[0]`, and so on. */
  async inOrder(order: Uint32Array, pacer: Pacer): Promise<UuidTable> {
    const words = new Uint32Array(order.length * WORDS);
    await pacer.repeat(order.length, (index) => {
      const from = (order[index] as number) * WORDS;
      for (let word = 0; word < WORDS; word++)
        words[index * WORDS + word] = this.#words[from + word] as number;
    });
    return new UuidTable(words);
  }

  compare(a: number, b: number): number {
    return compareWords(this.#words, a * WORDS, this.#words, b * WORDS);
  }

  /** In a table that is in order: the first index whose UUID is at or after the given one, or the length. */
  firstAtOrAfter(uuid: Uuid): number {
    const text = Buffer.from(uuid);
    const wanted = DIGITS.map((_, word) => uuidWord(text, 0, word));
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareWords(this.#words, middle * WORDS, wanted, 0) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export class UuidTableBuilder {
  readonly #words = new GrowingUint32Array();

  /** Adds the UUID whose text begins at a position of some ASCII text. */
  add(text: Uint8Array, begin: number): void {
    for (let word = 0; word < WORDS; word++) this.#words.push(uuidWord(text, begin, word));
  }

  build(): UuidTable {
    return new UuidTable(this.#words.toArray());
  }
}

/** Where the digits of each word stand in a UUID's text, between its hyphens. */
const DIGITS = [
  [0, 1, 2, 3, 4, 5, 6, 7],
  [9, 10, 11, 12, 14, 15, 16, 17],
  [19, 20, 21, 22, 24, 25, 26, 27],
  [28, 29, 30, 31, 32, 33, 34, 35],
] as const;

function uuidWord(text: Uint8Array, begin: number, word: number): number {
  let value = 0;
  for (const offset of DIGITS[word] ?? []) {
    const character = text[begin + offset] as number;
    value = value * 16 + (character < LOWER_CASE_A ? character - DIGIT_ZERO : character - LOWER_CASE_A + 10);
  }
  return value;
}

function compareWords(a: ArrayLike<number>, aBegin: number, b: ArrayLike<number>, bBegin: number): number {
  for (let word = 0; word < WORDS; word++) {
    const difference = (a[aBegin + word] as number) - (b[bBegin + word] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
