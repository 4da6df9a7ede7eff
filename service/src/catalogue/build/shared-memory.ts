// Collects numbers and strings, and packs them into shared memory.

import type { PackedNumbers, PackedTexts } from '../snapshot-data.ts';

export function sharedUint32Array(source: number | ArrayLike<number>): Uint32Array {
  const length = typeof source === 'number' ? source : source.length;
  const shared = new Uint32Array(new SharedArrayBuffer(length * Uint32Array.BYTES_PER_ELEMENT));
  if (typeof source !== 'number') shared.set(source);
  return shared;
}

export function sharedFloat64Array(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}

export function packNumbers(lists: readonly ArrayLike<number>[]): PackedNumbers {
  const begins = beginsOf(lists);
  const items = sharedUint32Array(begins[lists.length] as number);
  for (const [index, list] of lists.entries()) items.set(list, begins[index]);
  return { items, begins };
}

export function packTexts(texts: readonly string[]): PackedTexts {
  const bytes = Buffer.from(texts.join(''));
  const items = new Uint8Array(new SharedArrayBuffer(bytes.length));
  items.set(bytes);
  return { items, begins: beginsOf(texts.map((text) => ({ length: Buffer.byteLength(text) }))) };
}

function beginsOf(lists: readonly { readonly length: number }[]): Uint32Array {
  const begins = sharedUint32Array(lists.length + 1);
  let end = 0;
  for (const [index, { length }] of lists.entries()) begins[index + 1] = end += length;
  return begins;
}

const INITIAL_LENGTH = 1024;

/** A typed array that grows. It takes less memory than an array of numbers, and leaves less garbage. */
export class GrowingUint32Array {
  #values = new Uint32Array(INITIAL_LENGTH);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    this.#reserve(1);
    this.#values[this.#length++] = value;
  }

  pushAll(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    // A loop, because set() is slow for a few values.
    for (let index = 0; index < values.length; index++)
      this.#values[this.#length++] = values[index] as number;
  }

  /** The values so far; valid until the next push. */
  get values(): Uint32Array {
    return this.#values.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const length = this.#length + more;
    if (length <= this.#values.length) return;
    const larger = new Uint32Array(2 * length);
    larger.set(this.#values);
    this.#values = larger;
  }
}
