// A column of JSON documents in shared memory.

import { JSON_CHUNK_BYTES, type PackedJson } from '../snapshot-data.ts';

export interface ByteSink {
  copy(bytes: Buffer, begin: number, end: number): void;
}

export class JsonColumn {
  readonly #chunks: readonly Buffer[];
  readonly #begins: Uint32Array;

  constructor({ items, begins }: PackedJson) {
    this.#chunks = items.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    );
    this.#begins = begins;
  }

  isEmpty(index: number): boolean {
    return this.#begins[index] === this.#begins[index + 1];
  }

  text(index: number): string {
    const pieces: Buffer[] = [];
    this.write(index, { copy: (bytes, begin, end) => pieces.push(bytes.subarray(begin, end)) });
    return Buffer.concat(pieces).toString();
  }

  /** Returns all documents, without anything between them. */
  copyAll(): Uint8Array<ArrayBuffer> {
    const length = this.#begins.at(-1) ?? 0;
    const copy = new Uint8Array(length);
    for (const [index, chunk] of this.#chunks.entries()) {
      const begin = index * JSON_CHUNK_BYTES;
      copy.set(chunk.subarray(0, length - begin), begin);
    }
    return copy;
  }

  write(index: number, sink: ByteSink): void {
    const end = this.#begins[index + 1] as number;
    let begin = this.#begins[index] as number;
    while (begin < end) {
      const offset = begin % JSON_CHUNK_BYTES;
      const length = Math.min(end - begin, JSON_CHUNK_BYTES - offset);
      sink.copy(this.#chunks[Math.floor(begin / JSON_CHUNK_BYTES)] as Buffer, offset, offset + length);
      begin += length;
    }
  }
}
