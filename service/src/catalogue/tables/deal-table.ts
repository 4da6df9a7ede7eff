// The deals of one list, and how they are written: as items of their own list, and inside their retailer.

import type { DealData } from '../snapshot-data.ts';
import type { Bitset } from './bitset.ts';
import { JsonColumn } from './json-column.ts';
import type { PageWriter } from './page-writer.ts';
import { UuidTable } from './uuid-table.ts';

/** Every text has a comma before it, for the embedded form. */
const COMMA_BYTES = 1;
const BRACE_BYTES = 1;

export class DealTable {
  readonly data: DealData;
  /** Of the listed deals, by rank. */
  readonly ids: UuidTable;
  readonly #texts: JsonColumn;
  readonly #tails: JsonColumn;

  /** `tails`: by retailer, what the list forms of its deals have after the deal's own fields. */
  constructor(data: DealData, tails: JsonColumn) {
    this.data = data;
    this.ids = new UuidTable(data.ids);
    this.#texts = new JsonColumn(data.texts);
    this.#tails = tails;
  }

  /** Where a deal leads, if it leads elsewhere than its retailer. */
  deepLink(rank: number): string | undefined {
    const text = this.#texts.text(this.data.slots[rank] as number, COMMA_BYTES);
    return (JSON.parse(text) as { deepLink?: string }).deepLink;
  }

  /** Writes the deal as an item of its own list: with its retailer's fields in place of its closing brace. */
  writeListForm(rank: number, writer: PageWriter): void {
    this.#texts.write(this.data.slots[rank] as number, writer, COMMA_BYTES, BRACE_BYTES);
    this.#tails.write(this.data.owners[rank] as number, writer);
  }

  /** Writes a retailer's deals, or those of them that are active, as the inside of a JSON array. */
  writeEmbeddedForm(retailer: number, active: Bitset | undefined, writer: PageWriter): void {
    const { items: ranks, begins } = this.data.ranks;
    let skipped = COMMA_BYTES;
    for (let slot = begins[retailer] as number; slot < (begins[retailer + 1] as number); slot++) {
      if (active?.has(ranks[slot] as number) === false) continue;
      this.#texts.write(slot, writer, skipped);
      skipped = 0;
    }
  }
}
