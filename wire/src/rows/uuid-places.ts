// Maps millions of ids to their positions in the file. An id takes 24 bytes in flat arrays and 8 to 16 in the index, much
// less than in a Map of strings.

import { type Uuid, uuidWords } from '../uuid.ts';
import type { RowPosition } from './raw-row.ts';

const WORDS = 6; // four for the id, then line and item
const BLOCK_IDS = 1 << 12;

export class UuidPlaces {
  /** Grows block by block, which avoids copying and reserves little memory. */
  readonly #blocks: Uint32Array[] = [];
  #count = 0;
  /** Hash table with open addressing. Contains the number of the id plus one, or 0 for an empty slot. */
  #index = new Uint32Array(1 << 10);
  /** Random, because with fixed multipliers an attacker could choose ids that collide and make an import take hours. */
  readonly #multipliers = Array.from({ length: 4 }, () => Math.floor(Math.random() * 2 ** 32) | 1);

  get(id: Uuid): RowPosition | undefined {
    const number = this.#index[this.#slot(uuidWords(id))] ?? 0;
    return number === 0 ? undefined : this.#place(number - 1);
  }

  has(id: Uuid): boolean {
    return this.#index[this.#slot(uuidWords(id))] !== 0;
  }

  /** Stores the position of a new id. For a known id, keeps and returns the first position. */
  add(id: Uuid, place: RowPosition): RowPosition | undefined {
    const words = uuidWords(id);
    const slot = this.#slot(words);
    const number = this.#index[slot] ?? 0;
    if (number !== 0) return this.#place(number - 1);
    if (this.#count % BLOCK_IDS === 0) this.#blocks.push(new Uint32Array(BLOCK_IDS * WORDS));
    const { block, offset } = this.#entry(this.#count);
    for (let i = 0; i < words.length; i++) block[offset + i] = words[i] ?? 0;
    block[offset + 4] = place.line;
    block[offset + 5] = place.item ?? 0;
    this.#count++;
    this.#index[slot] = this.#count;
    if (this.#count * 2 > this.#index.length) this.#growIndex();
    return undefined;
  }

  #place(number: number): RowPosition {
    const { block, offset } = this.#entry(number);
    return { line: block[offset + 4] ?? 0, item: block[offset + 5] || undefined };
  }

  #entry(number: number): { block: Uint32Array; offset: number } {
    const block = this.#blocks[Math.floor(number / BLOCK_IDS)];
    if (block === undefined) throw new Error(`there is no id number ${number}`);
    return { block, offset: (number % BLOCK_IDS) * WORDS };
  }

  /** Returns the slot of the id, or the empty slot where it belongs. */
  #slot(words: ArrayLike<number>): number {
    const mask = this.#index.length - 1;
    let slot = hash(words, this.#multipliers) & mask;
    for (let number = this.#index[slot] ?? 0; number !== 0; number = this.#index[slot] ?? 0) {
      const { block, offset } = this.#entry(number - 1);
      if (
        block[offset] === words[0] &&
        block[offset + 1] === words[1] &&
        block[offset + 2] === words[2] &&
        block[offset + 3] === words[3]
      ) {
        break;
      }
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #growIndex(): void {
    this.#index = new Uint32Array(this.#index.length * 2);
    for (let number = 0; number < this.#count; number++) {
      const { block, offset } = this.#entry(number);
      const words = [0, 1, 2, 3].map((i) => block[offset + i] ?? 0);
      this.#index[this.#slot(words)] = number + 1;
    }
  }
}

/** Hashes every word, because sequential ids differ in only some of their words. */
function hash(words: ArrayLike<number>, multipliers: readonly number[]): number {
  let h = 0;
  for (let i = 0; i < words.length; i++) {
    h = Math.imul(h ^ (words[i] ?? 0), multipliers[i] ?? 1);
    h ^= h >>> 15;
  }
  return h;
}
