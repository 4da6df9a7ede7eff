// Counts clicks and the sales they led to, one day per statement, so that no statement takes long.

import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import type { ClickCount, ClickStore } from '../../domain/click.ts';

export const CLICK_DAYS = 30;
const KEPT_MS = 10 * MINUTE_MS;

interface ClickDay {
  /** Start of the day (UTC). */
  readonly dayMs: number;
  readonly counts: readonly ClickCount[];
}

/** Returns the starts of the last `days` days, including today, oldest first. */
function daysUntil(nowMs: number, days: number): number[] {
  const today = Math.floor(nowMs / DAY_MS);
  const first = Math.max(0, today - days + 1);
  return Array.from({ length: today - first + 1 }, (_, i) => (first + i) * DAY_MS);
}

/** Counts clicks for pages that are refreshed often. Days before today are counted again after ten minutes. */
export class ClickCounter {
  readonly #days = new Map<number, { readonly day: ClickDay; readonly countedAtMs: number }>();

  /** Counts the clicks of the last `days` days, including today. Oldest day first. */
  async count(clicks: ClickStore, nowMs: number, days = CLICK_DAYS): Promise<readonly ClickDay[]> {
    const counted: ClickDay[] = [];
    for (const dayMs of daysUntil(nowMs, days)) {
      const known = this.#days.get(dayMs);
      const isKept = dayMs + DAY_MS <= nowMs && known !== undefined && nowMs - known.countedAtMs < KEPT_MS;
      const day = isKept ? known.day : { dayMs, counts: await clicks.countBetween(dayMs, dayMs + DAY_MS) };
      if (!isKept) this.#days.set(dayMs, { day, countedAtMs: nowMs });
      counted.push(day);
    }
    for (const dayMs of this.#days.keys())
      if (dayMs < nowMs - 2 * CLICK_DAYS * DAY_MS) this.#days.delete(dayMs);
    return counted;
  }
}

/** Adds up the counts of several groups of clicks. */
export function sumClicks(counts: readonly Pick<ClickCount, 'clicks' | 'tracked' | 'sold'>[]) {
  const sum = { clicks: 0, tracked: 0, sold: 0 };
  for (const { clicks, tracked, sold } of counts) {
    sum.clicks += clicks;
    sum.tracked += tracked;
    sum.sold += sold;
  }
  return sum;
}
