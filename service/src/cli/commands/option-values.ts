// Parses numbers and durations, such as 100, 90d, 24h, 30m and 45s.

import { BadInput } from '@offerbook/wire/failures.ts';
import { systemClock } from '../../domain/clock.ts';

const COUNT_MAX = 1e9;
const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
const DURATION_MAX_MS = 100 * 366 * UNIT_MS.d;

/** Returns a parser for this option or argument. */
export function parseCount(option: string, min = 1, max = COUNT_MAX): (text: string) => number {
  return (text) => {
    if (!/^\d{1,10}$/.test(text) || Number(text) < min || Number(text) > max) {
      throw new BadInput(`${option} must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return Number(text);
  };
}

export function parseDurationMs(option: string, text: string): number {
  const match = /^(\d{1,9})([dhms])$/.exec(text);
  const ms = match === null ? Number.NaN : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  if (!(ms <= DURATION_MAX_MS)) {
    throw new BadInput(
      `${option} must be a duration such as 90d, 24h, 30m or 45s, at most 100 years, not "${text}"`,
    );
  }
  return ms;
}

/** Like parseDurationMs, but rejects 0. */
export function parsePositiveDurationMs(option: string, text: string): number {
  const ms = parseDurationMs(option, text);
  if (ms === 0) throw new BadInput(`${option} must be at least 1s`);
  return ms;
}

/**
 * Returns the time before which data is purged. The cutoff must be at least a day in the past: walks read earlier versions
 * for an hour, and a sale can arrive days after its click.
 */
export function parseOlderThan(text: string): number {
  const ageMs = parseDurationMs('--older-than', text);
  if (ageMs < UNIT_MS.d) throw new BadInput('--older-than must be at least 1d');
  return Math.max(0, systemClock() - ageMs);
}
