// The deals of one list. Writes them as items of that list, or embedded in their retailer.

import type { DealData, RetailerData } from '../snapshot-data.ts';
import type { Bitset } from './bitset.ts';
import { DocumentColumn } from './document-column.ts';
import type { PageWriter } from './page-writer.ts';
import { UuidTable } from './uuid-table.ts';

const COMMA = 0x2c;
const BRACE_BYTES = 1;

export type RetailerTable = ReturnType<typeof retailerTable>;

/** The retailers' ids and stored documents, from which pages are copied. */
export function retailerTable({ ids, documents, tails }: RetailerData) {
  return {
    ids: new UuidTable(ids),
    documents: new DocumentColumn(documents),
    /** The JSON that follows a deal's own fields in its list form. */
    tails: new DocumentColumn(tails),
  };
}

export type DealTable = ReturnType<typeof dealTable>;

export function dealTable(data: DealData, { documents, tails }: RetailerTable) {
  const { places, slots, owners } = data;
  const { items: ranks, begins } = data.ranks;

  function beginAt(slot: number): number {
    return places[2 * slot] as number;
  }

  function endAt(slot: number): number {
    return places[2 * slot + 1] as number;
  }

  return {
    data,
    /** Indexed by rank. */
    ids: new UuidTable(data.ids),
    /** Returns where this list's deals begin in the retailer's document; undefined if there are none. */
    beginOf(retailer: number): number | undefined {
      const slot = begins[retailer] as number;
      return slot === begins[retailer + 1] ? undefined : beginAt(slot);
    },
    /** Returns the deal's own target URL; only promotions have one. */
    deepLink(rank: number): string | undefined {
      const slot = slots[rank] as number;
      const text = documents.text(owners[rank] as number, beginAt(slot), endAt(slot));
      return (JSON.parse(text) as { deepLink?: string }).deepLink;
    },
    /** Writes the deal as an item of its list. The retailer's fields replace the closing brace of the deal's JSON. */
    writeListForm(rank: number, writer: PageWriter): void {
      const slot = slots[rank] as number;
      const owner = owners[rank] as number;
      documents.write(owner, writer, beginAt(slot), endAt(slot) - BRACE_BYTES);
      tails.write(owner, writer);
    },
    /**
     * Writes the retailer's document from `begin` to the end of this list's deals, without inactive deals, and returns that end.
     * Writes nothing if there is nothing to omit.
     */
    writeEmbeddedForm(
      retailer: number,
      active: Bitset | undefined,
      begin: number,
      writer: PageWriter,
    ): number {
      const [first, end] = [begins[retailer] as number, begins[retailer + 1] as number];
      if (active === undefined || first === end) return begin;
      documents.write(retailer, writer, begin, beginAt(first));
      let isFirst = true;
      for (let slot = first; slot < end; slot++) {
        if (!active.has(ranks[slot] as number)) continue;
        if (!isFirst) writer.addByte(COMMA);
        documents.write(retailer, writer, beginAt(slot), endAt(slot));
        isFirst = false;
      }
      return endAt(end - 1);
    },
  };
}
