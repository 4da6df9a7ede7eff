// The deals of one list (cashback offers, coupons or promotions) in two orders: by retailer, as they are
// embedded (a deal's number there is its slot), and by id, as they are listed (its rank).

import { GrowingUint32Array } from '../build/growing-uint32-array.ts';
import type { Pacer } from '../build/pacer.ts';
import type { Span } from '../build/printed-json.ts';
import { sortedOrder } from '../build/sorted-order.ts';
import type { Bitset } from './bitset.ts';
import type { PageWriter } from './page-writer.ts';
import type { RetailerTable } from './retailer-table.ts';
import { type UuidTable, UuidTableBuilder } from './uuid-table.ts';

interface DealColumns {
  /** By slot: where the text lies in its retailer's chunk, and the deal's rank. */
  readonly begins: Uint32Array;
  readonly ends: Uint32Array;
  readonly ranks: Uint32Array;
  /** By rank: the deal's slot, and its retailer. */
  readonly slots: Uint32Array;
  readonly owners: Uint32Array;
  /** By retailer: its first slot; one more at the end. */
  readonly firstSlots: Uint32Array;
  /** Of the ranks that are listed, in order. */
  readonly ids: UuidTable;
}

export class DealTable {
  readonly count: number;
  readonly retailerCount: number;
  /** Ranks below this one are listed, see `distinctFirst`. */
  readonly listedCount: number;
  readonly ids: UuidTable;
  readonly slots: Uint32Array;
  readonly owners: Uint32Array;
  readonly ranks: Uint32Array;
  readonly firstSlots: Uint32Array;
  readonly #retailers: RetailerTable;
  readonly #begins: Uint32Array;
  readonly #ends: Uint32Array;

  constructor(retailers: RetailerTable, columns: DealColumns) {
    this.count = columns.slots.length;
    this.retailerCount = retailers.count;
    this.listedCount = columns.ids.length;
    this.ids = columns.ids;
    this.slots = columns.slots;
    this.owners = columns.owners;
    this.ranks = columns.ranks;
    this.firstSlots = columns.firstSlots;
    this.#retailers = retailers;
    this.#begins = columns.begins;
    this.#ends = columns.ends;
  }

  /** Writes the deal as an item of its own list: with its retailer's fields in place of its closing brace. */
  writeListForm(rank: number, writer: PageWriter): void {
    const slot = this.slots[rank] as number;
    const owner = this.owners[rank] as number;
    this.#write(owner, slot, slot, 1, writer);
    this.#retailers.writeTail(owner, writer);
  }

  /** Writes a retailer's deals, or those of them that are active, as the inside of a JSON array. */
  writeEmbeddedForm(retailer: number, active: Bitset | undefined, writer: PageWriter): void {
    const end = this.firstSlots[retailer + 1] as number;
    let isFirst = true;
    let slot = this.firstSlots[retailer] as number;
    while (slot < end) {
      const runBegin = slot;
      while (slot < end && (active?.has(this.ranks[slot] as number) ?? true)) slot++;
      if (slot > runBegin) {
        if (!isFirst) writer.add(',');
        isFirst = false;
        this.#write(retailer, runBegin, slot - 1, 0, writer);
      }
      slot++;
    }
  }

  #write(retailer: number, firstSlot: number, lastSlot: number, bytesCut: number, writer: PageWriter): void {
    const begin = this.#begins[firstSlot] as number;
    const end = (this.#ends[lastSlot] as number) - bytesCut;
    writer.copy(this.#retailers.pool, this.#retailers.chunks[retailer] as number, begin, end);
  }
}

export class DealTableBuilder {
  readonly #ids = new UuidTableBuilder();
  readonly #owners = new GrowingUint32Array();
  readonly #begins = new GrowingUint32Array();
  readonly #ends = new GrowingUint32Array();

  /** Deals come retailer by retailer, each retailer's in the order of their ids. */
  add(retailer: number, bytes: Uint8Array, deal: Readonly<Span>, id: Readonly<Span>): void {
    this.#ids.add(bytes, id.begin + 1);
    this.#owners.push(retailer);
    this.#begins.push(deal.begin);
    this.#ends.push(deal.end);
  }

  async build(retailers: RetailerTable, pacer: Pacer): Promise<DealTable> {
    const ids = this.#ids.build();
    const ownersBySlot = this.#owners.toArray();
    const sorted = await sortedOrder(ids.length, (a, b) => ids.compare(a, b), pacer);
    const { slots, distinctCount } = await distinctFirst(sorted, ids, pacer);
    const ranks = new Uint32Array(slots.length);
    const owners = new Uint32Array(slots.length);
    const firstSlots = new Uint32Array(retailers.count + 1).fill(slots.length);
    await pacer.repeat(slots.length, (rank) => {
      const slot = slots[rank] as number;
      ranks[slot] = rank;
      owners[rank] = ownersBySlot[slot] as number;
    });
    let nextRetailer = 0;
    await pacer.repeat(slots.length, (slot) => {
      while (nextRetailer <= (ownersBySlot[slot] as number)) firstSlots[nextRetailer++] = slot;
    });
    return new DealTable(retailers, {
      begins: this.#begins.toArray(),
      ends: this.#ends.toArray(),
      ranks,
      slots,
      owners,
      firstSlots,
      ids: await ids.inOrder(slots.subarray(0, distinctCount), pacer),
    });
  }
}

/**
 * Moves slots whose id was there before to the end. Two retailers should not share a deal's id; if they do,
 * the list shows the first one's, because a walk that met an id twice would come back to it for ever.
 */
async function distinctFirst(
  sorted: Uint32Array,
  ids: UuidTable,
  pacer: Pacer,
): Promise<{ slots: Uint32Array; distinctCount: number }> {
  const slots = new Uint32Array(sorted.length);
  let distinctCount = 0;
  let repeatedCount = 0;
  await pacer.repeat(sorted.length, (index) => {
    const slot = sorted[index] as number;
    const repeated = index > 0 && ids.compare(sorted[index - 1] as number, slot) === 0;
    slots[repeated ? sorted.length - ++repeatedCount : distinctCount++] = slot;
  });
  return { slots, distinctCount };
}
