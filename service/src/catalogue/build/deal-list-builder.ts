// Gathers the deals of one list, retailer by retailer, and puts them in both orders when all of them are there.

import { activePeriodMs } from '../../domain/deals.ts';
import type { Timestamp } from '../../domain/timestamp.ts';
import { type Uuid, uuidWords } from '../../domain/uuid.ts';
import type { DealData, Periods } from '../snapshot-data.ts';
import { UUID_WORDS, UuidTable } from '../tables/uuid-table.ts';
import { JsonPacker, sharedFloat64Array, sharedUint32Array } from './shared-memory.ts';
import type { DealFields } from './wire-fields.ts';

export interface StoredDeal extends Readonly<Record<string, unknown>> {
  readonly id: Uuid;
}

interface StoredPeriod {
  readonly startDate: Timestamp;
  readonly endDate: Timestamp;
}

export class DealListBuilder {
  readonly #fields: DealFields;
  readonly #texts = new JsonPacker();
  readonly #tails = new JsonPacker();
  readonly #idWords: number[] = [];
  readonly #fromMs: number[] = [];
  readonly #untilMs: number[] = [];
  readonly #owners: number[] = [];
  readonly #firstSlots: number[] = [0];

  constructor(fields: DealFields) {
    this.#fields = fields;
  }

  /** A retailer's deals come in the order of their ids. */
  add(retailer: Readonly<Record<string, unknown>>, deals: readonly StoredDeal[]): void {
    // With a comma in place of the opening brace.
    this.#tails.add(`,${this.#fields.retailer(retailer).slice(1)}`);
    for (const deal of deals) {
      this.#texts.add(`,${this.#fields.deal(deal)}`);
      this.#idWords.push(...uuidWords(deal.id));
      this.#owners.push(this.#firstSlots.length - 1);
      if (this.#fields.hasPeriod) this.#addPeriod(deal as unknown as StoredPeriod);
    }
    this.#firstSlots.push(this.#owners.length);
  }

  build(): DealData {
    const ids = new UuidTable(new Uint32Array(this.#idWords));
    const { slots, listedCount } = slotsByRank(ids);
    const ranks = sharedUint32Array(slots.length);
    const owners = sharedUint32Array(slots.length);
    for (let rank = 0; rank < slots.length; rank++) {
      const slot = slots[rank] as number;
      ranks[slot] = rank;
      owners[rank] = this.#owners[slot] as number;
    }
    return {
      ids: this.#idsByRank(slots, listedCount),
      texts: this.#texts.build(),
      ranks: { items: ranks, begins: sharedUint32Array(this.#firstSlots) },
      slots,
      owners,
      tails: this.#tails.build(),
      periods: this.#fields.hasPeriod ? this.#periodsByRank(slots) : undefined,
    };
  }

  #idsByRank(slots: Uint32Array, listedCount: number): Uint32Array {
    const words = sharedUint32Array(listedCount * UUID_WORDS);
    for (let place = 0; place < words.length; place++) {
      const slot = slots[Math.floor(place / UUID_WORDS)] as number;
      words[place] = this.#idWords[slot * UUID_WORDS + (place % UUID_WORDS)] as number;
    }
    return words;
  }

  #addPeriod(deal: StoredPeriod): void {
    const { fromMs, untilMs } = activePeriodMs(deal);
    this.#fromMs.push(fromMs);
    this.#untilMs.push(untilMs);
  }

  #periodsByRank(slots: Uint32Array): Periods {
    const periods = { fromMs: sharedFloat64Array(slots.length), untilMs: sharedFloat64Array(slots.length) };
    for (let rank = 0; rank < slots.length; rank++) {
      const slot = slots[rank] as number;
      periods.fromMs[rank] = this.#fromMs[slot] as number;
      periods.untilMs[rank] = this.#untilMs[slot] as number;
    }
    return periods;
  }
}

/** Slots in the order of their ids. Those whose id was there before come last, and are not listed. */
function slotsByRank(ids: UuidTable): { slots: Uint32Array; listedCount: number } {
  const sorted = new Uint32Array(ids.length).map((_, slot) => slot).sort((a, b) => ids.compare(a, b));
  const isRepeated = (index: number) =>
    index > 0 && ids.compare(sorted[index - 1] as number, sorted[index] as number) === 0;
  const listed = sorted.filter((_, index) => !isRepeated(index));
  const slots = sharedUint32Array(sorted.length);
  slots.set(listed);
  slots.set(
    sorted.filter((_, index) => isRepeated(index)),
    listed.length,
  );
  return { slots, listedCount: listed.length };
}
