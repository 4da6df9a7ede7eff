// The deals of one list. Writes them as items of that list, or embedded in their retailer.

import type { DealData } from '../snapshot-data.ts';
import type { Bitset } from './bitset.ts';
import { JsonColumn } from './json-column.ts';
import type { PageWriter } from './page-writer.ts';
import { UuidTable } from './uuid-table.ts';

/** Each stored object is preceded by a comma, which the embedded form needs. */
const COMMA_BYTES = 1;
const BRACE_BYTES = 1;

export class DealTable {
  readonly data: DealData;
  /** By rank. */
  readonly ids: UuidTable;
  readonly #documents: JsonColumn;
  readonly #tails: JsonColumn;

  /** `tails` contains, by retailer, the JSON that follows a deal's own fields in its list form. */
  constructor(data: DealData, tails: JsonColumn) {
    this.data = data;
    this.ids = new UuidTable(data.ids);
    this.#documents = new JsonColumn(data.documents);
    this.#tails = tails;
  }

  /** Returns the deal's own target URL; only promotions have one. */
  deepLink(rank: number): string | undefined {
    const text = this.#documents.text(this.data.slots[rank] as number, COMMA_BYTES);
    return (JSON.parse(text) as { deepLink?: string }).deepLink;
  }

  /** Writes the deal as an item of its list. The retailer's fields replace the closing brace of the deal's JSON. */
  writeListForm(rank: number, writer: PageWriter): void {
    this.#documents.write(this.data.slots[rank] as number, writer, COMMA_BYTES, BRACE_BYTES);
    this.#tails.write(this.data.owners[rank] as number, writer);
  }

  /** Writes a retailer's deals as the elements of a JSON array; only the active ones if `active` is given. */
  writeEmbeddedForm(retailer: number, active: Bitset | undefined, writer: PageWriter): void {
    const { items: ranks, begins } = this.data.ranks;
    let skipped = COMMA_BYTES;
    for (let slot = begins[retailer] as number; slot < (begins[retailer + 1] as number); slot++) {
      if (active?.has(ranks[slot] as number) === false) continue;
      this.#documents.write(slot, writer, skipped);
      skipped = 0;
    }
  }
}
