// The retailers of a snapshot, numbered in the order of their ids, and where their texts lie.

import { GrowingUint32Array } from '../build/growing-uint32-array.ts';
import type { Span } from '../build/printed-json.ts';
import type { PageWriter } from './page-writer.ts';
import type { TextPlace, TextPool } from './text-pool.ts';
import { type UuidTable, UuidTableBuilder } from './uuid-table.ts';

/** The retailer's own fields, as they lie in its document. */
export type RetailerSpans = Readonly<Record<'id' | 'name' | 'hostname' | 'url' | 'logo', Readonly<Span>>>;

/** Where texts lie in the pool, by retailer. */
interface TextPlaces {
  readonly chunks: Uint32Array;
  readonly begins: Uint32Array;
  readonly ends: Uint32Array;
}

interface RetailerColumns {
  readonly ids: UuidTable;
  readonly pool: TextPool;
  readonly chunks: Uint32Array;
  readonly heads: TextPlaces;
  readonly tails: TextPlaces;
}

export class RetailerTable {
  readonly count: number;
  readonly ids: UuidTable;
  readonly pool: TextPool;
  /** The chunk of the pool in which the retailer's document lies, with all of its deals. */
  readonly chunks: Uint32Array;
  readonly #heads: TextPlaces;
  readonly #tails: TextPlaces;

  constructor({ ids, pool, chunks, heads, tails }: RetailerColumns) {
    this.count = chunks.length;
    this.ids = ids;
    this.pool = pool;
    this.chunks = chunks;
    this.#heads = heads;
    this.#tails = tails;
  }

  /** Writes the retailer's own fields, as the beginning of a JSON object: no closing brace. */
  writeHead(retailer: number, writer: PageWriter): void {
    this.#write(this.#heads, retailer, writer);
  }

  /** Writes what the list form of a deal says about its retailer, with the comma before and the brace after it. */
  writeTail(retailer: number, writer: PageWriter): void {
    this.#write(this.#tails, retailer, writer);
  }

  #write({ chunks, begins, ends }: TextPlaces, retailer: number, writer: PageWriter): void {
    writer.copy(this.pool, chunks[retailer] as number, begins[retailer] as number, ends[retailer] as number);
  }
}

export class RetailerTableBuilder {
  readonly #pool: TextPool;
  readonly #ids = new UuidTableBuilder();
  readonly #chunks = new GrowingUint32Array();
  readonly #heads = new TextPlacesBuilder();
  readonly #tails = new TextPlacesBuilder();
  #count = 0;

  constructor(pool: TextPool) {
    this.#pool = pool;
  }

  /** Returns the retailer's number. */
  add(chunk: number, spans: RetailerSpans): number {
    const field = (key: keyof RetailerSpans) => this.#pool.read(chunk, spans[key].begin, spans[key].end);
    const [id, name, hostname, url, logo] = [
      field('id'),
      field('name'),
      field('hostname'),
      field('url'),
      field('logo'),
    ];
    this.#ids.add(this.#pool.chunk(chunk), spans.id.begin + 1);
    this.#chunks.push(chunk);
    this.#heads.add(
      this.#pool.add(`{"id":${id},"name":${name},"hostname":${hostname},"url":${url},"logo":${logo}`),
    );
    this.#tails.add(this.#pool.add(`,"retailerId":${id},"logo":${logo},"url":${url},"name":${name}}`));
    return this.#count++;
  }

  build(): RetailerTable {
    return new RetailerTable({
      ids: this.#ids.build(),
      pool: this.#pool,
      chunks: this.#chunks.toArray(),
      heads: this.#heads.build(),
      tails: this.#tails.build(),
    });
  }
}

class TextPlacesBuilder {
  readonly #chunks = new GrowingUint32Array();
  readonly #begins = new GrowingUint32Array();
  readonly #ends = new GrowingUint32Array();

  add({ chunk, begin, end }: TextPlace): void {
    this.#chunks.push(chunk);
    this.#begins.push(begin);
    this.#ends.push(end);
  }

  build(): TextPlaces {
    return {
      chunks: this.#chunks.toArray(),
      begins: this.#begins.toArray(),
      ends: this.#ends.toArray(),
    };
  }
}
