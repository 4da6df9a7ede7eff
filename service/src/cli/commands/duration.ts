// Durations as people write them on a command line: 90d, 24h, 30m, 45s.

import { BadInput } from '../../domain/failures.ts';

const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
const DURATION_MAX_MS = 100 * 366 * UNIT_MS.d;

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

/** For what would be over as it begins. */
export function parsePositiveDurationMs(option: string, text: string): number {
  const ms = parseDurationMs(option, text);
  if (ms === 0) throw new BadInput(`${option} must be at least 1s`);
  return ms;
}
