// The retailers of a snapshot, numbered in the order of their ids, and where their texts lie.

import { GrowingUint32Array } from './growing-uint32-array.ts';
import type { Span } from './printed-json.ts';
import type { TextPool } from './text-pool.ts';
import { type UuidTable, UuidTableBuilder } from './uuid-table.ts';

/** The retailer's own fields, as they lie in its document. */
export type RetailerSpans = Readonly<Record<'id' | 'name' | 'hostname' | 'url' | 'logo', Readonly<Span>>>;

export interface RetailerTable {
  readonly count: number;
  readonly ids: UuidTable;
  readonly pool: TextPool;
  /** The chunk of the pool in which the retailer's document lies, with all of its deals. */
  readonly chunks: Uint32Array;
  /** The retailer's own fields, as the beginning of a JSON object: no closing brace. */
  readonly heads: readonly string[];
  /** What the list form of a deal says about its retailer, with the comma before and the brace after it. */
  readonly tails: readonly string[];
}

export class RetailerTableBuilder {
  readonly #pool: TextPool;
  readonly #ids = new UuidTableBuilder();
  readonly #chunks = new GrowingUint32Array();
  readonly #heads: string[] = [];
  readonly #tails: string[] = [];

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
    this.#heads.push(
      joined('{"id":', id, ',"name":', name, ',"hostname":', hostname, ',"url":', url, ',"logo":', logo),
    );
    this.#tails.push(joined(',"retailerId":', id, ',"logo":', logo, ',"url":', url, ',"name":', name, '}'));
    return this.#tails.length - 1;
  }

  build(): RetailerTable {
    return {
      count: this.#tails.length,
      ids: this.#ids.build(),
      pool: this.#pool,
      chunks: this.#chunks.toArray(),
      heads: this.#heads,
      tails: this.#tails,
    };
  }
}

/** One text; a text put together with + would keep its parts alive beside it. */
function joined(...parts: readonly string[]): string {
  return parts.join('');
}
