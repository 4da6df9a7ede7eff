// Many UUIDs in one array. A UUID takes 16 bytes, much less than a string.

import { type Uuid, uuidWords } from '@offerbook/wire/uuid.ts';
import { firstIndex } from './ascending.ts';

export const UUID_WORDS = 4;

export class UuidTable {
  readonly #words: Uint32Array;

  /** Expects four 32-bit words per UUID. */
  constructor(words: Uint32Array) {
    this.#words = words;
  }

  get length(): number {
    return this.#words.length / UUID_WORDS;
  }

  at(index: number): Uuid {
    let hex = '';
    for (let word = 0; word < UUID_WORDS; word++) {
      hex += (this.#words[index * UUID_WORDS + word] as number).toString(16).padStart(8, '0');
    }
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
      '-',
    ) as Uuid;
  }

  compare(a: number, b: number): number {
    return this.#compareTo(a, this.#words, b * UUID_WORDS);
  }

  /** Returns the first index whose UUID is not below this one, or the length. Requires a sorted table. */
  firstAtOrAfter(uuid: Uuid): number {
    const wanted = uuidWords(uuid);
    return firstIndex(this.length, (index) => this.#compareTo(index, wanted, 0) >= 0);
  }

  /** Returns the index of a UUID. Requires a sorted table. */
  find(uuid: Uuid): number | undefined {
    const index = this.firstAtOrAfter(uuid);
    return index < this.length && this.#compareTo(index, uuidWords(uuid), 0) === 0 ? index : undefined;
  }

  #compareTo(index: number, other: ArrayLike<number>, otherBegin: number): number {
    const begin = index * UUID_WORDS;
    for (let word = 0; word < UUID_WORDS; word++) {
      const difference = (this.#words[begin + word] as number) - (other[otherBegin + word] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
