// Recurring coupons and promotions. Each slot in the catalogue holds one at a time; when it ends, the next one replaces
// it. So the catalogue never runs dry, and only a few deals change from one day to the next.

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
  /** Days between one deal's end and the next one's start; the next one is already in the catalogue but not active. */
  readonly pauseDays: readonly [min: number, max: number];
}

export const COUPON_RHYTHMS: readonly Rhythm[] = [
  { share: 30, periodDays: [60, 120], pauseDays: [2, 6] },
  { share: 45, periodDays: [20, 40], pauseDays: [1, 3] },
  { share: 20, periodDays: [6, 12], pauseDays: [0, 1] },
  { share: 5, periodDays: [3, 4], pauseDays: [2, 2] },
];

export const PROMOTION_RHYTHMS: readonly Rhythm[] = [
  { share: 20, periodDays: [30, 60], pauseDays: [2, 6] },
  { share: 50, periodDays: [10, 21], pauseDays: [1, 2] },
  { share: 30, periodDays: [4, 7], pauseDays: [1, 2] },
];

const DAY_MS = 86_400_000;

/** Returns the active occurrence, or else the next. Starts at midnight UTC and ends a second before midnight. */
export function currentOccurrence(random: Random, rhythms: readonly Rhythm[], nowMs: number): Occurrence {
  const rhythm = random.pickWeighted(rhythms, ({ share }) => share);
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
