// Dates of coupons and promotions. The catalogue has a fixed number of slots with one deal each; when a deal ends, the next one
// replaces it. Only a few deals change from one day to the next.

import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Random } from './random.ts';

export interface Occurrence {
  /** Sequence number within the slot. */
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
}

interface Rhythm {
  readonly share: number;
  readonly periodDays: readonly [min: number, max: number];
  /**
   * Days between the end of a deal and the start of the next one. During these days, the catalogue already lists the next
   * deal.
   */
  readonly pauseDays: readonly [min: number, max: number];
}

const RHYTHMS: Readonly<Record<'coupon' | 'promotion', readonly Rhythm[]>> = {
  coupon: [
    { share: 30, periodDays: [60, 120], pauseDays: [2, 6] },
    { share: 45, periodDays: [20, 40], pauseDays: [1, 3] },
    { share: 20, periodDays: [6, 12], pauseDays: [0, 1] },
    { share: 5, periodDays: [3, 4], pauseDays: [2, 2] },
  ],
  promotion: [
    { share: 20, periodDays: [30, 60], pauseDays: [2, 6] },
    { share: 50, periodDays: [10, 21], pauseDays: [1, 2] },
    { share: 30, periodDays: [4, 7], pauseDays: [1, 2] },
  ],
};

/**
 * Returns the active occurrence or, during a pause, the next one. An occurrence starts at midnight UTC and ends a second before
 * midnight.
 */
export function currentOccurrence(random: Random, kind: keyof typeof RHYTHMS, nowMs: number): Occurrence {
  const rhythm = random.pickWeighted(RHYTHMS[kind], ({ share }) => share);
  const periodDays = random.whole(...rhythm.periodDays);
  const pauseDays = random.whole(...rhythm.pauseDays);
  const phaseMs = random.whole(0, periodDays - 1) * DAY_MS;
  const periodMs = periodDays * DAY_MS;
  const activeMs = periodMs - pauseDays * DAY_MS - 1000;

  const started = Math.floor((nowMs - phaseMs) / periodMs);
  const hasEnded = nowMs >= phaseMs + started * periodMs + activeMs;
  const number = hasEnded ? started + 1 : started;
  const startMs = phaseMs + number * periodMs;
  return { number, startMs, endMs: startMs + activeMs };
}
