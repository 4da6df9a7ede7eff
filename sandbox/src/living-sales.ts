// Sandbox sales over time: which sales arrive in an interval, and which open sales change. The caller passes the interval,
// imports the changes from between(), then calls settle().

import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import type { Market } from './market.ts';
import { Random } from './random.ts';
import { makeSale } from './sale.ts';
import { type Change, courseOf, follow, isReversedAfter, type Pace, type SaleCourse } from './sale-course.ts';
import { isSaleId, reportedAtMs, SALES_PER_CELL_MAX, saleId } from './sale-id.ts';
import type { Sale } from './wire.ts';

/** Sales rate and length of a time cell. Each cell has its own random sequence. */
export interface Density {
  readonly salesPerDay: number;
  readonly cellMs: number;
}

/** For past sales. The history is long enough to page through and short enough to import quickly. */
export const SPARSE: Density = { salesPerDay: 170, cellMs: 10 * MINUTE_MS };

/** For a running sandbox: at speed 1, one sale every 4 s on average. */
export function lively(speed: number): Density {
  return { salesPerDay: (DAY_MS / 4_000) * speed, cellMs: 1_000 };
}

export class LivingSales {
  readonly #seed: number;
  readonly #pace: Pace;
  /** The sales that can still change. */
  readonly #open = new Map<string, { readonly transaction: Sale; readonly course: SaleCourse }>();
  market: Market;

  constructor(seed: number, pace: Pace, market: Market) {
    this.#seed = seed;
    this.#pace = pace;
    this.market = market;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Tracks a stored sale again after a restart, if the sandbox created it and it can still change. */
  resume({ id, document }: { readonly id: string; readonly document: string }, afterMs: number): void {
    const course = courseOf(this.#seed, id, this.#pace);
    // Most stored sales are final and need not be parsed.
    if (!document.includes('"status":"PENDING"') && !isReversedAfter(course, afterMs)) return;
    if (!isSaleId(this.#seed, id)) return;
    const { updatedAt: _, ...transaction } = JSON.parse(document) as Sale & { updatedAt: string };
    this.#open.set(id, { transaction, course });
  }

  /** Returns the changes in (fromMs, toMs], with each transaction at most once, in its latest state. */
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

  /** Records that the changes up to atMs have been imported. */
  settle(changes: readonly Change[], atMs: number): void {
    for (const { transaction } of changes) {
      const { id, status } = transaction;
      const course = this.#open.get(id)?.course ?? courseOf(this.#seed, id, this.#pace);
      if (status === 'PENDING' || isReversedAfter(course, atMs)) this.#open.set(id, { transaction, course });
      else this.#open.delete(id);
    }
  }
}

/** Yields the ids of sales reported in (fromMs, toMs]. Splitting an interval does not change the ids of its sales. */
export function* arrivals(
  seed: number,
  fromMs: number,
  toMs: number,
  { salesPerDay, cellMs }: Density,
): Generator<string> {
  for (let cell = Math.floor(fromMs / cellMs); cell * cellMs <= toMs; cell++) {
    const startMs = cell * cellMs;
    const random = new Random(seed, 'arrivals', cellMs, cell);
    const expected = (salesPerDay / DAY_MS) * cellMs;
    const count = Math.min(random.poisson(expected), SALES_PER_CELL_MAX);
    for (let number = 0; number < count; number++) {
      const atMs = startMs + Math.floor(random.unit() * cellMs);
      if (fromMs < atMs && atMs <= toMs) yield saleId(seed, atMs, number);
    }
  }
}
