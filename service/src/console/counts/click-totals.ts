// Counts clicks and the sales they led to, one day per statement, so that no statement takes long.

import type { ClickCount, ClickStore } from '../../domain/click.ts';

const DAY_MS = 86_400_000;
export const CLICK_DAYS = 30;

export interface ClickDay {
  /** Start of the day (UTC). */
  readonly dayMs: number;
  readonly counts: readonly ClickCount[];
}

/** Counts the clicks of the last `days` days, including today. Oldest day first. */
export async function countClicks(
  clicks: ClickStore,
  nowMs: number,
  days = CLICK_DAYS,
): Promise<readonly ClickDay[]> {
  const today = Math.floor(nowMs / DAY_MS);
  const counted: ClickDay[] = [];
  for (let day = Math.max(0, today - days + 1); day <= today; day++) {
    counted.push({
      dayMs: day * DAY_MS,
      counts: await clicks.countBetween(day * DAY_MS, (day + 1) * DAY_MS),
    });
  }
  return counted;
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
