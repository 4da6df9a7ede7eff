// The only source of the current time. Code that needs the time accepts a Clock, so that tests can set it and the sandbox can
// run faster than real time. Also parses durations such as 90d, 24h, 30m and 45s.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';

/** Milliseconds since the epoch. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;

const UNIT_MS: Readonly<Record<string, number>> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };
const DURATION_MAX_MS = 100 * 366 * DAY_MS;

/** Throws an Error whose message continues the name of an option. */
export function parseDuration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([dhms])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (ms <= DURATION_MAX_MS) return ms;
  throw new Error(`must be a duration such as 90d, 24h, 30m or 45s, at most 100 years, not "${text}"`);
}

/** Like parseDuration, but rejects 0. */
export function parsePositiveDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === 0) throw new Error('must be at least 1s');
  return ms;
}
