// Packs JSON documents into shared memory, one per retailer. A chunk whose bytes were already in the previous snapshot is not
// stored again: both snapshots share it, so a small change needs little memory.

import type { PackedDocuments } from '../snapshot-data.ts';
import { GrowingUint32Array, sharedUint32Array } from './shared-memory.ts';

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;

/**
 * A chunk ends after the document of a retailer whose id has zeros in these bits, which is one in 16. Chunks must not depend only
 * on the sizes of documents, or a change would move all documents after it to other chunks.
 */
const LAST_ID_MASK = 0xf;
/** A chunk shorter than `min` does not end yet; a chunk of at least `max` always ends. */
const CHUNK_BYTES = { min: 32 * 1024, max: 1024 * 1024 };

export class DocumentPacker {
  readonly #previous: ReadonlyMap<number | bigint, Uint8Array>;
  readonly #chunks: Uint8Array[] = [];
  readonly #places = new GrowingUint32Array();
  /** The chunk in progress. Not shared, because it may already be in the previous snapshot. */
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES.max);
  #used = 0;

  constructor(previous: PackedDocuments | undefined) {
    this.#previous = new Map(previous?.chunks.map((chunk) => [Bun.hash(chunk), chunk]));
  }

  /** Returns the document as UTF-8. The bytes are valid until the next call. */
  encode(document: string): Buffer {
    const bytesMax = this.#used + document.length * UTF8_BYTES_MAX;
    if (bytesMax > this.#chunk.length) this.#chunk = copyOf(this.#chunk, Buffer.allocUnsafeSlow(bytesMax));
    return this.#chunk.subarray(this.#used, this.#used + this.#chunk.write(document, this.#used));
  }

  /** Adds the document that was encoded last. `lastIdWord` is the last 32 bits of the retailer's id. */
  add({ length }: Buffer, lastIdWord: number): void {
    this.#places.pushAll([this.#chunks.length, this.#used, this.#used + length]);
    this.#used += length;
    const mayEnd = (lastIdWord & LAST_ID_MASK) === 0 && this.#used >= CHUNK_BYTES.min;
    if (mayEnd || this.#used >= CHUNK_BYTES.max) this.#endChunk();
  }

  build(): PackedDocuments {
    if (this.#used > 0) this.#endChunk();
    return { chunks: this.#chunks, places: sharedUint32Array(this.#places.values) };
  }

  #endChunk(): void {
    const bytes = this.#chunk.subarray(0, this.#used);
    const known = this.#previous.get(Bun.hash(bytes));
    const isKnown = known !== undefined && bytes.equals(known);
    this.#chunks.push(isKnown ? known : copyOf(bytes, new Uint8Array(new SharedArrayBuffer(bytes.length))));
    this.#used = 0;
  }
}

function copyOf<Bytes extends Uint8Array>(bytes: Uint8Array, target: Bytes): Bytes {
  target.set(bytes);
  return target;
}
