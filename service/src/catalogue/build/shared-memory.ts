// Packs numbers and strings into shared memory.

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
