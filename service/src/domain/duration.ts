// Parses durations such as 90d, 24h, 30m and 45s.

export const DAY_MS = 86_400_000;

const UNIT_MS: Readonly<Record<string, number>> = { d: DAY_MS, h: 3_600_000, m: 60_000, s: 1_000 };
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
