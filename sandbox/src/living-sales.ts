// The sales of the sandbox as time goes on: which new ones are reported in a span of time, and what changes
// in those that are open. It reads no clock and writes nothing; whoever drives it says from when until when,
// imports what comes out, and then tells it that this is done.

import { busyness } from './day-rhythm.ts';
import type { Market } from './market.ts';
import { Random } from './random.ts';
import { makeSale } from './sale.ts';
import { type Change, courseOf, follow, isReversedAfter, type Pace, type SaleCourse } from './sale-course.ts';
import { isSaleId, reportedAtMs, SALES_PER_CELL_MAX, saleId } from './sale-id.ts';
import type { Sale } from './wire.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** How many sales there are, and the cells of time for which chance is asked: all of a cell or none of it is decided. */
export interface Density {
  readonly salesPerDay: number;
  readonly cellMs: number;
}

/** For times when nobody watches: a history that is long enough to page through and quick to import. */
export const SPARSE: Density = { salesPerDay: 170, cellMs: 10 * MINUTE_MS };

/** For someone who is watching: a sale every few seconds, and so many times more at a higher speed. */
export function lively(speed: number): Density {
  return { salesPerDay: (DAY_MS / 4_000) * speed, cellMs: 1_000 };
}

/** A sale to which something may still happen. */
interface OpenSale {
  readonly transaction: Sale;
  readonly course: SaleCourse;
}

export class LivingSales {
  readonly #seed: number;
  readonly #pace: Pace;
  readonly #open = new Map<string, OpenSale>();
  market: Market;

  constructor(seed: number, pace: Pace, market: Market) {
    this.#seed = seed;
    this.#pace = pace;
    this.market = market;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Goes on with a sale from the database, if it is one of ours and something may still happen to it. */
  resume({ id, document }: { readonly id: string; readonly document: string }, afterMs: number): void {
    const course = courseOf(this.#seed, id, this.#pace);
    // Most are settled for good, and that can be told without parsing them.
    if (!document.includes('"status":"PENDING"') && !isReversedAfter(course, afterMs)) return;
    if (!isSaleId(this.#seed, id)) return;
    const { updatedAt: _, ...transaction } = JSON.parse(document) as Sale & { updatedAt: string };
    this.#open.set(id, { transaction, course });
  }

  /** What happens after one moment and up to another, each transaction once, in its last state. */
  between(fromMs: number, toMs: number, density: Density): Change[] {
    const changes: Change[] = [];
    for (const { transaction, course } of this.#open.values()) {
      const change = follow(transaction, course, fromMs, toMs);
      if (change !== undefined) changes.push(change);
    }
    for (const id of arrivals(this.#seed, fromMs, toMs, density)) {
      const transaction = makeSale(this.#seed, id, this.market);
      const course = courseOf(this.#seed, id, this.#pace);
      const atMs = reportedAtMs(id);
      changes.push(follow(transaction, course, atMs, toMs) ?? { transaction, atMs });
    }
    return changes;
  }

  /** Takes note that changes up to a moment have been imported. */
  settle(changes: readonly Change[], atMs: number): void {
    for (const { transaction } of changes) {
      const { id, status } = transaction;
      const course = this.#open.get(id)?.course ?? courseOf(this.#seed, id, this.#pace);
      if (status === 'PENDING' || isReversedAfter(course, atMs)) this.#open.set(id, { transaction, course });
      else this.#open.delete(id);
    }
  }
}

/** The ids of the sales that are reported in a span of time, whichever way the time is cut into spans. */
export function* arrivals(
  seed: number,
  fromMs: number,
  toMs: number,
  { salesPerDay, cellMs }: Density,
): Generator<string> {
  for (let cell = Math.floor(fromMs / cellMs); cell * cellMs <= toMs; cell++) {
    const startMs = cell * cellMs;
    const random = new Random(seed, 'arrivals', cellMs, cell);
    const expected = (salesPerDay / DAY_MS) * cellMs * busyness(startMs);
    const count = Math.min(random.poisson(expected), SALES_PER_CELL_MAX);
    for (let number = 0; number < count; number++) {
      const atMs = startMs + Math.floor(random.unit() * cellMs);
      if (fromMs < atMs && atMs <= toMs) yield saleId(seed, atMs, number);
    }
  }
}
