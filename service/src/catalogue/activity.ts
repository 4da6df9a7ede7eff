// Computes which deals in a list are active at a given time, and how long that set stays the same.

import type { Periods } from './snapshot-data.ts';
import { Bitset } from './tables/bitset.ts';

export interface Activity {
  /** Ranks of the active deals; undefined if all deals are active. */
  readonly active: Bitset | undefined;
  /** Returns when the deal at this rank next starts or ends; infinity if it never does. */
  nextChangeMs(rank: number): number;
  /** True if exactly the deals in `active` are active at the given time. */
  holdsAt(nowMs: number): boolean;
}

const ALWAYS: Activity = {
  active: undefined,
  nextChangeMs: () => Number.POSITIVE_INFINITY,
  holdsAt: () => true,
};

export function activityAt(periods: Periods | undefined, nowMs: number): Activity {
  if (periods === undefined) return ALWAYS;
  const active = new Bitset(periods.fromMs.length);
  let lastChangeMs = Number.NEGATIVE_INFINITY;
  let nextChangeMs = Number.POSITIVE_INFINITY;
  for (let rank = 0; rank < periods.fromMs.length; rank++) {
    const fromMs = periods.fromMs[rank] as number;
    const untilMs = periods.untilMs[rank] as number;
    if (fromMs > nowMs) {
      if (fromMs < nextChangeMs) nextChangeMs = fromMs;
    } else if (untilMs > nowMs) {
      active.add(rank);
      if (fromMs > lastChangeMs) lastChangeMs = fromMs;
      if (untilMs < nextChangeMs) nextChangeMs = untilMs;
    } else if (untilMs > lastChangeMs) lastChangeMs = untilMs;
  }
  return {
    active,
    nextChangeMs(rank) {
      if (active.has(rank)) return periods.untilMs[rank] as number;
      const fromMs = periods.fromMs[rank] as number;
      return fromMs >= nextChangeMs ? fromMs : Number.POSITIVE_INFINITY;
    },
    holdsAt: (ms) => ms >= lastChangeMs && ms < nextChangeMs,
  };
}
