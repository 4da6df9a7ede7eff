// Which deals of a list are active as time goes on. Every start and every end is an event that flips one
// deal; going from one moment to another, in either direction, flips the deals whose events lie in between.

import type { Pacer } from './build/pacer.ts';
import { sortedOrder } from './build/sorted-order.ts';
import { Bitset } from './tables/bitset.ts';

/** The active deals from one event up to the next. Never changes. */
export interface Activity {
  readonly active: Bitset;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface ActivePeriods {
  readonly fromMs: ArrayLike<number>;
  readonly untilMs: ArrayLike<number>;
}

export class Timeline {
  readonly #eventsAtMs: Float64Array;
  readonly #eventDeals: Uint32Array;
  #eventsPassed: number;
  #current: Activity;

  private constructor(eventsAtMs: Float64Array, eventDeals: Uint32Array, active: Bitset, nowMs: number) {
    this.#eventsAtMs = eventsAtMs;
    this.#eventDeals = eventDeals;
    this.#eventsPassed = this.#countEventsUpTo(nowMs);
    this.#current = this.#activity(active);
  }

  /** Deal i is active from fromMs[i] until just before untilMs[i]. The timeline stands at a moment near now. */
  static async build({ fromMs, untilMs }: ActivePeriods, nowMs: number, pacer: Pacer): Promise<Timeline> {
    const dealCount = fromMs.length;
    // Event 2i is the start of deal i, event 2i + 1 its end.
    const atMs = (event: number) =>
      ((event & 1) === 0 ? fromMs[event >>> 1] : untilMs[event >>> 1]) as number;
    const order = await sortedOrder(2 * dealCount, (a, b) => atMs(a) - atMs(b), pacer);
    const eventsAtMs = new Float64Array(order.length);
    const eventDeals = new Uint32Array(order.length);
    await pacer.repeat(order.length, (index) => {
      const event = order[index] as number;
      eventsAtMs[index] = atMs(event);
      eventDeals[index] = event >>> 1;
    });
    const active = new Bitset(dealCount);
    await pacer.repeat(dealCount, (deal) => {
      if ((fromMs[deal] as number) <= nowMs && nowMs < (untilMs[deal] as number)) active.add(deal);
    });
    return new Timeline(eventsAtMs, eventDeals, active, nowMs);
  }

  /** The same object for as long as nothing starts or ends. */
  at(nowMs: number): Activity {
    if (nowMs < this.#current.fromMs || nowMs >= this.#current.untilMs) this.#moveTo(nowMs);
    return this.#current;
  }

  #moveTo(nowMs: number): void {
    const eventsPassed = this.#countEventsUpTo(nowMs);
    const active = this.#current.active.copy();
    const begin = Math.min(eventsPassed, this.#eventsPassed);
    const end = Math.max(eventsPassed, this.#eventsPassed);
    for (let event = begin; event < end; event++) active.flip(this.#eventDeals[event] as number);
    this.#eventsPassed = eventsPassed;
    this.#current = this.#activity(active);
  }

  #activity(active: Bitset): Activity {
    return {
      active,
      fromMs: this.#eventsAtMs[this.#eventsPassed - 1] ?? Number.NEGATIVE_INFINITY,
      untilMs: this.#eventsAtMs[this.#eventsPassed] ?? Number.POSITIVE_INFINITY,
    };
  }

  #countEventsUpTo(nowMs: number): number {
    let low = 0;
    let high = this.#eventsAtMs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#eventsAtMs[middle] as number) <= nowMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
