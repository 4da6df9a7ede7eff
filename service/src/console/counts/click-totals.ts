// How many users were sent to the shops, and how many of them bought: counted day by day, so that no statement takes long.

import type { ClickCount, ClickStore } from '../../domain/click.ts';
import type { Clock } from '../../domain/clock.ts';

const DAY_MS = 86_400_000;
export const CLICK_DAYS = 30;

export interface ClickDay {
  /** When the day begins (UTC). */
  readonly dayMs: number;
  readonly counts: readonly ClickCount[];
}

/** The last days and today, the oldest first. */
export async function countClicks(
  clicks: Pick<ClickStore, 'countBetween'>,
  clock: Clock,
  days = CLICK_DAYS,
): Promise<readonly ClickDay[]> {
  const today = Math.floor(clock() / DAY_MS);
  const counted: ClickDay[] = [];
  for (let day = Math.max(0, today - days + 1); day <= today; day++) {
    counted.push({
      dayMs: day * DAY_MS,
      counts: await clicks.countBetween(day * DAY_MS, (day + 1) * DAY_MS),
    });
  }
  return counted;
}

/** Clicks of several groups together. */
export function sumClicks(counts: readonly Pick<ClickCount, 'clicks' | 'tracked' | 'sold'>[]) {
  const sum = { clicks: 0, tracked: 0, sold: 0 };
  for (const { clicks, tracked, sold } of counts) {
    sum.clicks += clicks;
    sum.tracked += tracked;
    sum.sold += sold;
  }
  return sum;
}
