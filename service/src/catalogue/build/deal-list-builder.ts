// Collects the deals of one list, retailer by retailer, and arranges them in two orders: by retailer and by id.

import type { CashbackOffer, Coupon, Promotion } from '@offerbook/wire/catalogue.ts';
import { activePeriodMs } from '@offerbook/wire/deals.ts';
import { uuidWords } from '@offerbook/wire/uuid.ts';
import type { DealData } from '../snapshot-data.ts';
import { UUID_WORDS } from '../tables/uuid-table.ts';
import { GrowingUint32Array } from './growing-uint32-array.ts';
import { sharedFloat64Array, sharedUint32Array } from './shared-memory.ts';
import { sortedByUuid } from './sorted-by-uuid.ts';

export class DealListBuilder {
  readonly #places = new GrowingUint32Array();
  readonly #idWords = new GrowingUint32Array();
  readonly #fromMs: number[] = [];
  readonly #untilMs: number[] = [];
  readonly #owners = new GrowingUint32Array();
  readonly #firstSlots: number[] = [0];

  /** Adds the next retailer's deals, which are at these places in its document. Retailers must be added in id order. */
  add(deals: readonly (CashbackOffer | Coupon | Promotion)[], places: readonly number[]): void {
    const owner = this.#firstSlots.length - 1;
    for (const deal of deals) {
      this.#idWords.pushAll(uuidWords(deal.id));
      this.#owners.push(owner);
      if ('startDate' in deal) {
        const { fromMs, untilMs } = activePeriodMs(deal);
        this.#fromMs.push(fromMs);
        this.#untilMs.push(untilMs);
      }
    }
    this.#places.pushAll(places);
    this.#firstSlots.push(this.#owners.length);
  }

  build(): DealData {
    const slots = sharedUint32Array(sortedByUuid(this.#idWords.values));
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
      ids: byRank(sharedUint32Array(length * UUID_WORDS), this.#idWords.values, UUID_WORDS),
      places: sharedUint32Array(this.#places.values),
      ranks: { items: ranks, begins: sharedUint32Array(this.#firstSlots) },
      slots,
      owners: byRank(sharedUint32Array(length), this.#owners.values),
      periods:
        this.#fromMs.length === 0
          ? undefined
          : {
              fromMs: byRank(sharedFloat64Array(length), this.#fromMs),
              untilMs: byRank(sharedFloat64Array(length), this.#untilMs),
            },
    };
  }
}
