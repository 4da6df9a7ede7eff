// A column of JSON documents in shared memory.

import type { PackedDocuments } from '../snapshot-data.ts';
import type { PageWriter } from './page-writer.ts';

const PLACE_NUMBERS = 3;

export class DocumentColumn {
  readonly #chunks: readonly Buffer[];
  readonly #places: Uint32Array;

  constructor({ chunks, places }: PackedDocuments) {
    this.#chunks = chunks.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    );
    this.#places = places;
  }

  /** Copies a document, or the part of it from `begin` to `end`. */
  write(index: number, sink: Pick<PageWriter, 'copy'>, begin = 0, end?: number): void {
    const place = index * PLACE_NUMBERS;
    const first = this.#places[place + 1] as number;
    const last = end === undefined ? (this.#places[place + 2] as number) : first + end;
    sink.copy(this.#chunks[this.#places[place] as number] as Buffer, first + begin, last);
  }

  /** Returns what write() copies, as a string. */
  text(index: number, begin?: number, end?: number): string {
    let text = '';
    const copy = (bytes: Buffer, from: number, to: number) => {
      text = bytes.toString('utf8', from, to);
    };
    this.write(index, { copy }, begin, end);
    return text;
  }

  /** Returns all documents, without anything between them. */
  copyAll(): Uint8Array<ArrayBuffer> {
    return Buffer.concat(this.#chunks);
  }
}
