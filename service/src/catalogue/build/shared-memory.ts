// Packs numbers, strings and JSON into shared memory.

import {
  JSON_CHUNK_BYTES,
  type PackedJson,
  type PackedNumbers,
  type PackedStrings,
  type PackedUtf8,
} from '../snapshot-data.ts';

const BYTES_MAX = 2 ** 32 - 1;
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
export const UTF8_BYTES_MAX = 3;

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

export function packStrings(texts: readonly string[]): PackedStrings {
  const begins = beginsOf(texts);
  const bytes = (begins[texts.length] as number) * Uint16Array.BYTES_PER_ELEMENT;
  const items = new Uint16Array(new SharedArrayBuffer(bytes));
  let end = 0;
  for (const text of texts) {
    for (let index = 0; index < text.length; index++) items[end++] = text.charCodeAt(index);
  }
  return { items, begins };
}

export function packUtf8(texts: readonly string[]): PackedUtf8 {
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

/** Packs JSON one document at a time, so the documents are never all in memory as strings. */
export class JsonPacker {
  readonly #chunks: Buffer[] = [];
  readonly #begins: number[] = [0];
  #length = 0;

  add(text: string): void {
    const offset = this.#length % JSON_CHUNK_BYTES;
    const chunk = offset === 0 ? undefined : this.#chunks.at(-1);
    // Fast path: encode directly into the chunk if the document is certain to fit.
    if (chunk !== undefined && offset + text.length * UTF8_BYTES_MAX <= JSON_CHUNK_BYTES)
      this.#length += chunk.write(text, offset);
    else this.#addBytes(Buffer.from(text));
    this.#begins.push(this.#length);
  }

  /** Fills the last chunk, then continues in new chunks. */
  #addBytes(bytes: Buffer): void {
    for (let done = 0; done < bytes.length; ) {
      const offset = this.#length % JSON_CHUNK_BYTES;
      if (offset === 0) this.#chunks.push(Buffer.from(new SharedArrayBuffer(JSON_CHUNK_BYTES)));
      const part = bytes.subarray(done, done + JSON_CHUNK_BYTES - offset);
      this.#chunks.at(-1)?.set(part, offset);
      done += part.length;
      this.#length += part.length;
    }
  }

  build(): PackedJson {
    if (this.#length > BYTES_MAX)
      throw new Error('the catalogue is too large to serve: one list exceeds 4 GB');
    return { items: this.#chunks, begins: sharedUint32Array(this.#begins) };
  }
}
