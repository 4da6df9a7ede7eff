// Collects the deals of one list, retailer by retailer, and arranges them in two orders: by retailer and by id.

import type { CashbackOffer, Coupon, Promotion } from '@offerbook/wire/catalogue.ts';
import { activePeriodMs } from '@offerbook/wire/deals.ts';
import { uuidWords } from '@offerbook/wire/uuid.ts';
import type { DealData } from '../snapshot-data.ts';
import { UUID_WORDS, UuidTable } from '../tables/uuid-table.ts';
import { GrowingUint32Array, sharedFloat64Array, sharedUint32Array } from './shared-memory.ts';

export function dealListBuilder() {
  const dealPlaces = new GrowingUint32Array();
  const idWords = new GrowingUint32Array();
  const fromMs: number[] = [];
  const untilMs: number[] = [];
  const owners = new GrowingUint32Array();
  const firstSlots = [0];
  return {
    /** Adds the next retailer's deals, which are at these places in its document. Retailers must be added in id order. */
    add(deals: readonly (CashbackOffer | Coupon | Promotion)[], places: readonly number[]): void {
      const owner = firstSlots.length - 1;
      for (const deal of deals) {
        idWords.pushAll(uuidWords(deal.id));
        owners.push(owner);
        if (!('startDate' in deal)) continue;
        const period = activePeriodMs(deal);
        fromMs.push(period.fromMs);
        untilMs.push(period.untilMs);
      }
      dealPlaces.pushAll(places);
      firstSlots.push(owners.length);
    },
    build(): DealData {
      const slots = sharedUint32Array(sortedByUuid(idWords.values));
      const { length } = slots;
      // Copies element by element, because intermediate arrays take too much memory for a large catalogue.
      const byRank = <Column extends Uint32Array | Float64Array>(
        column: Column,
        values: ArrayLike<number>,
        width = 1,
      ): Column => {
        for (let rank = 0; rank < length; rank++) {
          const slot = slots[rank] as number;
          for (let word = 0; word < width; word++)
            column[rank * width + word] = values[slot * width + word] as number;
        }
        return column;
      };
      const ranks = sharedUint32Array(length);
      for (let rank = 0; rank < length; rank++) ranks[slots[rank] as number] = rank;
      return {
        ids: byRank(sharedUint32Array(length * UUID_WORDS), idWords.values, UUID_WORDS),
        places: sharedUint32Array(dealPlaces.values),
        ranks: { items: ranks, begins: sharedUint32Array(firstSlots) },
        slots,
        owners: byRank(sharedUint32Array(length), owners.values),
        periods:
          fromMs.length === 0
            ? undefined
            : {
                fromMs: byRank(sharedFloat64Array(length), fromMs),
                untilMs: byRank(sharedFloat64Array(length), untilMs),
              },
      };
    },
  };
}

/**
 * Returns the numbers of the items in the order of their UUIDs; `idWords` contains four words per item. Sorts 64-bit integers
 * first, because a sort without a comparison function is many times as fast.
 */
export function sortedByUuid(idWords: Uint32Array): Uint32Array {
  const ids = new UuidTable(idWords);
  // The first word of the id is the upper half of each key, and the item number is the lower half.
  const keys = new BigUint64Array(ids.length);
  const halves = new Uint32Array(keys.buffer);
  for (let item = 0; item < ids.length; item++) {
    halves[2 * item + LOWER] = item;
    halves[2 * item + UPPER] = idWords[item * UUID_WORDS] as number;
  }
  keys.sort();
  const items = new Uint32Array(ids.length);
  let runBegin = 0;
  for (let index = 0; index < items.length; index++) {
    items[index] = halves[2 * index + LOWER] as number;
    if (halves[2 * index + UPPER] === halves[2 * (index + 1) + UPPER]) continue;
    // Items with the same first word are sorted by the other words.
    if (index > runBegin) items.subarray(runBegin, index + 1).sort((a, b) => ids.compare(a, b));
    runBegin = index + 1;
  }
  return items;
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const [LOWER, UPPER] = isLittleEndian ? [0, 1] : [1, 0];
