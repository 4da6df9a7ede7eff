// The life cycle of a sale: an occasional correction while pending, then confirmation or decline, and rarely a later reversal.
// The life cycle depends only on the seed and the sale's id, so it can be recomputed after a restart.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { getCountry, roundMoney } from './countries.ts';
import { Random } from './random.ts';
import { reportedAtMs } from './sale-id.ts';
import type { Sale } from './wire.ts';

/**
 * Fraction of sales that are settled within minutes, for demonstration. The other sales are settled after the return period.
 */
const QUICK_SHARE = 0.5;
const QUICK_MS = [20 * SECOND_MS, 6 * MINUTE_MS] as const;
const SLOW_MS = [6 * HOUR_MS, 40 * DAY_MS] as const;
const CORRECTED_SHARE = 0.12;
const DECLINED_SHARE = 0.13;
const REVERSED_SHARE = 0.04;

/** Converts a delay, counted from when the sale was reported, to a time. Lets the sandbox run faster than real time. */
export type Pace = (reportedAtMs: number, delayMs: number) => number;

export const REAL_PACE: Pace = (reportedMs, delayMs) => reportedMs + delayMs;

/**
 * Runs in real time until sinceMs, and `speed` times as fast afterwards. A delay that is already running ends sooner, but not
 * in the past.
 */
export function fasterSince(sinceMs: number, speed: number): Pace {
  return (reportedMs, delayMs) => {
    const dueMs = reportedMs + delayMs;
    if (dueMs <= sinceMs) return dueMs;
    const fromMs = Math.max(reportedMs, sinceMs);
    return Math.round(fromMs + (dueMs - fromMs) / speed);
  };
}

export type SaleCourse = Readonly<ReturnType<typeof courseOf>>;

export function courseOf(seed: number, id: string, pace: Pace) {
  const random = new Random(seed, 'course', id);
  const settleDelayMs = random.logBetween(...(random.chance(QUICK_SHARE) ? QUICK_MS : SLOW_MS));
  const correctDelayMs = settleDelayMs * random.between(0.2, 0.8);
  const reverseDelayMs = settleDelayMs * random.between(1.3, 2);
  const at = (delayMs: number) => pace(reportedAtMs(id), Math.round(delayMs));
  return {
    settledAtMs: at(settleDelayMs),
    outcome: random.chance(DECLINED_SHARE) ? ('DECLINED' as const) : ('CONFIRMED' as const),
    correctedAtMs: random.chance(CORRECTED_SHARE) ? at(correctDelayMs) : undefined,
    // Factor for order value and cashback: usually a partial return, sometimes an addition to the order.
    correction: random.chance(0.8) ? random.between(0.3, 0.95) : random.between(1.05, 1.3),
    reversedAtMs: random.chance(REVERSED_SHARE) ? at(reverseDelayMs) : undefined,
  };
}

export interface Change {
  readonly transaction: Sale;
  readonly atMs: number;
}

/** Applies the sale's life-cycle events in (fromMs, toMs]. Returns undefined if nothing changes. */
export function follow(before: Sale, course: SaleCourse, fromMs: number, toMs: number): Change | undefined {
  let change: Change | undefined;
  const isIn = (atMs: number | undefined): atMs is number =>
    atMs !== undefined && fromMs < atMs && atMs <= toMs;
  const now = () => change?.transaction ?? before;

  if (isIn(course.correctedAtMs) && before.status === 'PENDING') {
    change = { transaction: corrected(before, course.correction), atMs: course.correctedAtMs };
  }
  if (course.settledAtMs <= toMs && before.status === 'PENDING') {
    // Also apply a settlement that was missed because the process was not running.
    const atMs = isIn(course.settledAtMs) ? course.settledAtMs : toMs;
    change = { transaction: { ...now(), status: course.outcome }, atMs };
  }
  const reversed = course.outcome === 'CONFIRMED' ? 'DECLINED' : 'CONFIRMED';
  if (isIn(course.reversedAtMs) && now().status === course.outcome) {
    change = { transaction: { ...now(), status: reversed }, atMs: course.reversedAtMs };
  }
  return change;
}

/** True if the sale will be reversed after this time. */
export function isReversedAfter(course: SaleCourse, afterMs: number): boolean {
  return course.reversedAtMs !== undefined && course.reversedAtMs > afterMs;
}

function corrected(sale: Sale, factor: number): Sale {
  const { decimals } = getCountry(sale.country);
  return {
    ...sale,
    orderValue: roundMoney(sale.orderValue * factor, decimals),
    cashback: roundMoney(sale.cashback * factor, decimals),
  };
}
