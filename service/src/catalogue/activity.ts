// Computes which deals in a list are active at a given time, and how long that set stays the same.

import type { Periods } from './snapshot-data.ts';
import { Bitset } from './tables/bitset.ts';

export class Activity {
  /** Ranks of the active deals; undefined if all deals are active. */
  readonly active: Bitset | undefined;
  readonly #periods: Periods | undefined;
  readonly #fromMs: number = Number.NEGATIVE_INFINITY;
  readonly #untilMs: number = Number.POSITIVE_INFINITY;

  constructor(periods: Periods | undefined, nowMs: number) {
    this.#periods = periods;
    if (periods === undefined) return;
    const active = new Bitset(periods.fromMs.length);
    let lastChangeMs = Number.NEGATIVE_INFINITY;
    let nextChangeMs = Number.POSITIVE_INFINITY;
    for (let rank = 0; rank < periods.fromMs.length; rank++) {
      const fromMs = periods.fromMs[rank] as number;
      const untilMs = periods.untilMs[rank] as number;
      if (fromMs > nowMs) {
        if (fromMs < nextChangeMs) nextChangeMs = fromMs;
      } else if (untilMs > nowMs) {
        active.add(rank);
        if (fromMs > lastChangeMs) lastChangeMs = fromMs;
        if (untilMs < nextChangeMs) nextChangeMs = untilMs;
      } else if (untilMs > lastChangeMs) lastChangeMs = untilMs;
    }
    this.active = active;
    this.#fromMs = lastChangeMs;
    this.#untilMs = nextChangeMs;
  }

  isActive(rank: number): boolean {
    return this.active?.has(rank) ?? true;
  }

  /** Returns when the deal at this rank next starts or ends; infinity if it never does. */
  nextChangeMs(rank: number): number {
    if (this.#periods === undefined) return Number.POSITIVE_INFINITY;
    if (this.isActive(rank)) return this.#periods.untilMs[rank] as number;
    const fromMs = this.#periods.fromMs[rank] as number;
    return fromMs >= this.#untilMs ? fromMs : Number.POSITIVE_INFINITY;
  }

  /** True if exactly the deals in `active` are active at the given time. */
  holdsAt(nowMs: number): boolean {
    return nowMs >= this.#fromMs && nowMs < this.#untilMs;
  }
}
