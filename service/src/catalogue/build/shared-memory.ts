// Collects numbers and strings, and packs them into shared memory.

import type { PackedTexts } from '../snapshot-data.ts';

export function sharedUint32Array(source: number | ArrayLike<number>): Uint32Array {
  const length = typeof source === 'number' ? source : source.length;
  const shared = new Uint32Array(new SharedArrayBuffer(length * Uint32Array.BYTES_PER_ELEMENT));
  if (typeof source !== 'number') shared.set(source);
  return shared;
}

export function sharedFloat64Array(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}

export function packTexts(texts: readonly string[]): PackedTexts {
  const bytes = Buffer.from(texts.join(''));
  const items = new Uint8Array(new SharedArrayBuffer(bytes.length));
  items.set(bytes);
  const begins = sharedUint32Array(texts.length + 1);
  let end = 0;
  for (const [index, text] of texts.entries()) begins[index + 1] = end += Buffer.byteLength(text);
  return { items, begins };
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
