// The result of a health check: its state, a sentence about what was found, and what to do. Also formats lists and ages for these
// sentences.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';

const LISTED_MAX = 5;

/** `warning`: works now, but will cause problems. `fault`: does not work. */
export type CheckState = 'ok' | 'warning' | 'fault';

export interface Verdict {
  readonly state: CheckState;
  readonly found: string;
  /** Undefined for `ok`. */
  readonly advice?: string;
}

export interface Check extends Verdict {
  readonly check: string;
}

/** Ordered by severity. A state's index is its value in the metrics. */
export const CHECK_STATES: readonly CheckState[] = ['ok', 'warning', 'fault'];

export function ok(found: string): Verdict {
  return { state: 'ok', found };
}

export function warning(found: string, advice: string): Verdict {
  return { state: 'warning', found, advice };
}

export function fault(found: string, advice: string): Verdict {
  return { state: 'fault', found, advice };
}

/** The first items, and the number of the others. */
export function listed<Item>(items: readonly Item[], print: (item: Item) => string): string {
  const shown = items.slice(0, LISTED_MAX).map(print).join('; ');
  return items.length > LISTED_MAX ? `${shown}; and ${printCount(items.length - LISTED_MAX)} more` : shown;
}

/** `3 hours ago, at 2026-11-14T09:00:00` */
export function printAgo(atMs: number, nowMs: number): string {
  return `${printAge(nowMs - atMs)} ago, at ${printTimestamp(atMs)}`;
}

export function printAge(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${Math.floor(ms / DAY_MS)} days`;
  if (ms >= 2 * HOUR_MS) return `${Math.floor(ms / HOUR_MS)} hours`;
  return printCountOf(Math.max(0, Math.floor(ms / MINUTE_MS)), 'minute');
}

export function worstOf(verdicts: readonly Verdict[]): CheckState {
  return CHECK_STATES.findLast((state) => verdicts.some((verdict) => verdict.state === state)) ?? 'ok';
}
