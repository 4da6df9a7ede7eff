// Collects the deals of one list, retailer by retailer, and arranges them in two orders: by retailer and by id.

import type { CashbackOffer, Coupon, Promotion } from '@offerbook/wire/catalogue.ts';
import { activePeriodMs } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { uuidWords } from '@offerbook/wire/uuid.ts';
import type { DealData } from '../snapshot-data.ts';
import { UUID_WORDS, UuidTable } from '../tables/uuid-table.ts';
import { JsonPacker, sharedFloat64Array, sharedUint32Array } from './shared-memory.ts';

export class DealListBuilder {
  readonly #documents = new JsonPacker();
  readonly #idWords: number[] = [];
  readonly #fromMs: number[] = [];
  readonly #untilMs: number[] = [];
  readonly #owners: number[] = [];
  readonly #firstSlots: number[] = [0];

  /** Adds the next retailer's deals. Retailers must be added in id order. */
  add(deals: readonly (CashbackOffer | Coupon | Promotion)[]): void {
    for (const deal of deals) {
      this.#documents.add(`,${printJson(deal)}`);
      this.#idWords.push(...uuidWords(deal.id));
      this.#owners.push(this.#firstSlots.length - 1);
      if ('startDate' in deal) {
        const { fromMs, untilMs } = activePeriodMs(deal);
        this.#fromMs.push(fromMs);
        this.#untilMs.push(untilMs);
      }
    }
    this.#firstSlots.push(this.#owners.length);
  }

  build(): DealData {
    const ids = new UuidTable(new Uint32Array(this.#idWords));
    const { length } = ids;
    const slots = sharedUint32Array(new Uint32Array(length).map((_, slot) => slot));
    slots.sort((a, b) => ids.compare(a, b));
    // Copies element by element, because intermediate arrays take too much memory for a large catalogue.
    const byRank = <Column extends Uint32Array | Float64Array>(
      column: Column,
      values: readonly number[],
      width = 1,
    ): Column => {
      for (let index = 0; index < column.length; index++) {
        const slot = slots[Math.floor(index / width)] as number;
        column[index] = values[slot * width + (index % width)] as number;
      }
      return column;
    };
    const ranks = sharedUint32Array(length);
    for (let rank = 0; rank < length; rank++) ranks[slots[rank] as number] = rank;
    return {
      ids: byRank(sharedUint32Array(length * UUID_WORDS), this.#idWords, UUID_WORDS),
      documents: this.#documents.build(),
      ranks: { items: ranks, begins: sharedUint32Array(this.#firstSlots) },
      slots,
      owners: byRank(sharedUint32Array(length), this.#owners),
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
