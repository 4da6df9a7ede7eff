// The retailers: their ids and stored documents, from which pages are copied.

import type { RetailerData } from '../snapshot-data.ts';
import { type ByteSink, JsonColumn } from './json-column.ts';
import { UuidTable } from './uuid-table.ts';

const PLACE_NUMBERS = 3;

export class RetailerTable {
  readonly ids: UuidTable;
  readonly #chunks: readonly Buffer[];
  readonly #places: Uint32Array;
  readonly #tails: JsonColumn;

  constructor({ ids, documents, tails }: RetailerData) {
    this.ids = new UuidTable(ids);
    this.#chunks = documents.chunks.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    );
    this.#places = documents.places;
    this.#tails = new JsonColumn(tails);
  }

  /** Copies part of a retailer's document, by default up to its end. */
  write(retailer: number, sink: ByteSink, begin: number, end?: number): void {
    const place = retailer * PLACE_NUMBERS;
    const first = this.#places[place + 1] as number;
    const last = end === undefined ? (this.#places[place + 2] as number) : first + end;
    sink.copy(this.#chunks[this.#places[place] as number] as Buffer, first + begin, last);
  }

  /** Returns part of a retailer's document as a string, by default up to its end. */
  text(retailer: number, begin: number, end?: number): string {
    let text = '';
    this.write(
      retailer,
      { copy: (bytes, from, to) => (text = bytes.toString('utf8', from, to)) },
      begin,
      end,
    );
    return text;
  }

  /** Writes the JSON that follows a deal's own fields in its list form. */
  writeTail(retailer: number, sink: ByteSink): void {
    this.#tails.write(retailer, sink);
  }
}
