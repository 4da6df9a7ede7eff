// The deals of one list. Writes them as items of that list, or embedded in their retailer.

import type { DealData, RetailerData } from '../snapshot-data.ts';
import type { Bitset } from './bitset.ts';
import { DocumentColumn } from './document-column.ts';
import type { PageWriter } from './page-writer.ts';
import { UuidTable } from './uuid-table.ts';

const COMMA = 0x2c;
const BRACE_BYTES = 1;

/** The retailers' ids and stored documents, from which pages are copied. */
export class RetailerTable {
  readonly ids: UuidTable;
  readonly documents: DocumentColumn;
  /** The JSON that follows a deal's own fields in its list form. */
  readonly tails: DocumentColumn;

  constructor({ ids, documents, tails }: RetailerData) {
    this.ids = new UuidTable(ids);
    this.documents = new DocumentColumn(documents);
    this.tails = new DocumentColumn(tails);
  }
}

export class DealTable {
  readonly data: DealData;
  /** By rank. */
  readonly ids: UuidTable;
  readonly #retailers: RetailerTable;

  constructor(data: DealData, retailers: RetailerTable) {
    this.data = data;
    this.ids = new UuidTable(data.ids);
    this.#retailers = retailers;
  }

  /** Returns where this list's deals begin in the retailer's document; undefined if there are none. */
  beginOf(retailer: number): number | undefined {
    const { begins } = this.data.ranks;
    const slot = begins[retailer] as number;
    return slot === begins[retailer + 1] ? undefined : this.#begin(slot);
  }

  /** Returns the deal's own target URL; only promotions have one. */
  deepLink(rank: number): string | undefined {
    const slot = this.data.slots[rank] as number;
    const text = this.#retailers.documents.text(
      this.data.owners[rank] as number,
      this.#begin(slot),
      this.#end(slot),
    );
    return (JSON.parse(text) as { deepLink?: string }).deepLink;
  }

  /** Writes the deal as an item of its list. The retailer's fields replace the closing brace of the deal's JSON. */
  writeListForm(rank: number, writer: PageWriter): void {
    const slot = this.data.slots[rank] as number;
    const owner = this.data.owners[rank] as number;
    this.#retailers.documents.write(owner, writer, this.#begin(slot), this.#end(slot) - BRACE_BYTES);
    this.#retailers.tails.write(owner, writer);
  }

  /**
   * Writes the retailer's document from `begin` to the end of this list's deals, without inactive deals, and returns that end.
   * Writes nothing if there is nothing to omit.
   */
  writeEmbeddedForm(retailer: number, active: Bitset | undefined, begin: number, writer: PageWriter): number {
    const { items: ranks, begins } = this.data.ranks;
    const [first, end] = [begins[retailer] as number, begins[retailer + 1] as number];
    if (active === undefined || first === end) return begin;
    this.#retailers.documents.write(retailer, writer, begin, this.#begin(first));
    let isFirst = true;
    for (let slot = first; slot < end; slot++) {
      if (!active.has(ranks[slot] as number)) continue;
      if (!isFirst) writer.addByte(COMMA);
      this.#retailers.documents.write(retailer, writer, this.#begin(slot), this.#end(slot));
      isFirst = false;
    }
    return this.#end(end - 1);
  }

  #begin(slot: number): number {
    return this.data.places[2 * slot] as number;
  }

  #end(slot: number): number {
    return this.data.places[2 * slot + 1] as number;
  }
}
