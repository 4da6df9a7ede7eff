// Parses the numbers and durations of options.

import { BadInput } from '@offerbook/wire/failures.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { parseDuration, parsePositiveDuration, systemClock } from '../domain/clock.ts';

const COUNT_MAX = 1e9;

/** Returns a parser for this option or argument. */
export function parseCount(option: string, min = 1, max = COUNT_MAX): (text: string) => number {
  return (text) => {
    if (!/^\d{1,10}$/.test(text) || Number(text) < min || Number(text) > max) {
      throw new BadInput(`${option} must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return Number(text);
  };
}

export const parseDurationMs = withOption(parseDuration);
export const parsePositiveDurationMs = withOption(parsePositiveDuration);

function withOption(parse: (text: string) => number): (option: string, text: string) => number {
  return (option, text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new BadInput(`${option} ${(error as Error).message}`, { cause: error });
    }
  };
}

/**
 * Returns the time before which data is purged. The cutoff must be at least a day in the past: walks read earlier versions
 * for an hour, and a sale can arrive days after its click.
 */
export function parseOlderThan(text: string): number {
  const ageMs = parseDurationMs('--older-than', text);
  if (ageMs < DAY_MS) throw new BadInput('--older-than must be at least 1d');
  return Math.max(0, systemClock() - ageMs);
}
