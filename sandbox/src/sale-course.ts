// What becomes of a sale: perhaps its amount is corrected while it is pending, then it is confirmed or
// declined, and now and then that is turned round later. The seed and the sale's id decide it all, so the
// course can be worked out again at any time.

import { COUNTRIES, roundMoney } from './countries.ts';
import { Random } from './random.ts';
import { reportedAtMs } from './sale-id.ts';
import type { Sale } from './wire.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Half of the retailers report back while one is watching, the others when the time for returns is over. */
const QUICK_SHARE = 0.5;
const QUICK_MS = [20 * SECOND_MS, 6 * MINUTE_MS] as const;
const SLOW_MS = [6 * HOUR_MS, 40 * DAY_MS] as const;
const CORRECTED_SHARE = 0.12;
const DECLINED_SHARE = 0.13;
const REVERSED_SHARE = 0.04;

/** Turns a delay after the report into a moment: how fast time passes is not the course's business. */
export type Pace = (reportedAtMs: number, delayMs: number) => number;

export const REAL_PACE: Pace = (reportedMs, delayMs) => reportedMs + delayMs;

/** Time passes at its own pace until a moment, and faster from there on: nothing that was under way jumps. */
export function fasterSince(sinceMs: number, speed: number): Pace {
  return (reportedMs, delayMs) => {
    const dueMs = reportedMs + delayMs;
    if (dueMs <= sinceMs) return dueMs;
    const fromMs = Math.max(reportedMs, sinceMs);
    return Math.round(fromMs + (dueMs - fromMs) / speed);
  };
}

export interface SaleCourse {
  readonly correctedAtMs: number | undefined;
  /** What the amounts are multiplied with. */
  readonly correction: number;
  readonly settledAtMs: number;
  readonly outcome: Exclude<Sale['status'], 'PENDING'>;
  readonly reversedAtMs: number | undefined;
}

export function courseOf(seed: number, id: string, pace: Pace): SaleCourse {
  const random = new Random(seed, 'course', id);
  const settleDelayMs = random.logBetween(...(random.chance(QUICK_SHARE) ? QUICK_MS : SLOW_MS));
  const correctDelayMs = settleDelayMs * random.between(0.2, 0.8);
  const reverseDelayMs = settleDelayMs * random.between(1.3, 2);
  const at = (delayMs: number) => pace(reportedAtMs(id), Math.round(delayMs));
  return {
    settledAtMs: at(settleDelayMs),
    outcome: random.chance(DECLINED_SHARE) ? 'DECLINED' : 'CONFIRMED',
    correctedAtMs: random.chance(CORRECTED_SHARE) ? at(correctDelayMs) : undefined,
    // Mostly a part of the order was sent back; sometimes something was added.
    correction: random.chance(0.8) ? random.between(0.3, 0.95) : random.between(1.05, 1.3),
    reversedAtMs: random.chance(REVERSED_SHARE) ? at(reverseDelayMs) : undefined,
  };
}

export interface Change {
  readonly transaction: Sale;
  readonly atMs: number;
}

/** Where the course has brought a sale after a span of time; undefined when nothing happened in it. */
export function follow(before: Sale, course: SaleCourse, fromMs: number, toMs: number): Change | undefined {
  let change: Change | undefined;
  const isIn = (atMs: number | undefined): atMs is number =>
    atMs !== undefined && fromMs < atMs && atMs <= toMs;
  const now = () => change?.transaction ?? before;

  if (isIn(course.correctedAtMs) && before.status === 'PENDING') {
    change = { transaction: corrected(before, course.correction), atMs: course.correctedAtMs };
  }
  if (course.settledAtMs <= toMs && before.status === 'PENDING') {
    // A settlement that was missed, because the program was killed at that moment, is made up for.
    const atMs = isIn(course.settledAtMs) ? course.settledAtMs : toMs;
    change = { transaction: { ...now(), status: course.outcome }, atMs };
  }
  const reversed = course.outcome === 'CONFIRMED' ? 'DECLINED' : 'CONFIRMED';
  if (isIn(course.reversedAtMs) && now().status === course.outcome) {
    change = { transaction: { ...now(), status: reversed }, atMs: course.reversedAtMs };
  }
  return change;
}

/** Whether a settled sale is still to be turned round. */
export function isReversedAfter(course: SaleCourse, afterMs: number): boolean {
  return course.reversedAtMs !== undefined && course.reversedAtMs > afterMs;
}

const DECIMALS = new Map(COUNTRIES.map(({ currencyCode, decimals }) => [currencyCode, decimals]));

function corrected(transaction: Sale, factor: number): Sale {
  const decimals = DECIMALS.get(transaction.currencyCode) ?? 2;
  return {
    ...transaction,
    orderValue: roundMoney(transaction.orderValue * factor, decimals),
    cashback: roundMoney(transaction.cashback * factor, decimals),
  };
}
