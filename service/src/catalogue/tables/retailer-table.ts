// The retailers of a snapshot, numbered in the order of their ids.

import type { RetailerData } from '../snapshot-data.ts';
import { JsonColumn } from './json-column.ts';
import type { PageWriter } from './page-writer.ts';
import { UuidTable } from './uuid-table.ts';

export class RetailerTable {
  readonly ids: UuidTable;
  readonly #heads: JsonColumn;

  constructor({ ids, heads }: RetailerData) {
    this.ids = new UuidTable(ids);
    this.#heads = new JsonColumn(heads);
  }

  /** The retailer's URL. */
  url(retailer: number): string {
    return (JSON.parse(`${this.#heads.text(retailer)}}`) as { url: string }).url;
  }

  /** Writes the retailer's own fields, as the beginning of a JSON object: no closing brace. */
  writeHead(retailer: number, writer: PageWriter): void {
    this.#heads.write(retailer, writer);
  }
}
