// Parses the numbers, durations and ids of options and arguments.

import { BadInput } from '@offerbook/wire/failures.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { parseUuid, type Uuid } from '@offerbook/wire/uuid.ts';
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

export const parseDurationMs = (option: string, text: string) => forOption(option, () => parseDuration(text));
export const parsePositiveDurationMs = (option: string, text: string) =>
  forOption(option, () => parsePositiveDuration(text));

/** Puts the name of the option before the message of an error. */
export function forOption<T>(option: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new BadInput(`${option} ${(error as Error).message}`, { cause: error });
  }
}

/** The message does not repeat the argument, which may be a token itself. */
export function parseId(text: string, noun: 'token' | 'webhook'): Uuid {
  const id = parseUuid(text);
  if (id === undefined)
    throw new BadInput(`<id> must be the UUID of a ${noun}; list them with: offerbook ${noun}s list`);
  return id;
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
