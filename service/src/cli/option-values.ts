// Parses the values of options and arguments.

import { BadInput } from '@offerbook/wire/failures.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { parseUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import { forOption, wholeNumber } from '../config.ts';
import { parseDuration, parsePositiveDuration, systemClock } from '../domain/clock.ts';

const COUNT_MAX = 1e9;

export function parseCount(option: string, min = 1, max = COUNT_MAX): (text: string) => number {
  return (text) => forOption(option, () => wholeNumber(min, max)(text));
}

export const parseDurationMs = (option: string, text: string) => forOption(option, () => parseDuration(text));
export const parsePositiveDurationMs = (option: string, text: string) =>
  forOption(option, () => parsePositiveDuration(text));

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

type Identified = 'token' | 'webhook';

/** The message does not repeat the argument, which may be a token itself. */
export function parseId(text: string, noun: Identified): Uuid {
  const id = parseUuid(text);
  if (id === undefined)
    throw new BadInput(`<id> must be the UUID of a ${noun}; list them with: offerbook ${noun}s list`);
  return id;
}

export function notFound(id: Uuid, noun: Identified): BadInput {
  return new BadInput(`there is no ${noun} with the id ${id}`);
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

export const PASSBACK_UID_HELP = "the user's passbackUid; - reads it from stdin";

/**
 * The value may identify a person, and arguments are visible to every user of the machine and stay in the shell history, so `-`
 * reads it from stdin. Messages never repeat the value.
 */
export async function readPassbackUid(option: string): Promise<string> {
  const text = option === '-' ? (await Bun.stdin.text()).replace(/\r?\n$/, '') : option;
  if (text === '') throw new BadInput('--passback-uid must not be empty');
  if (text.length > TEXT_LENGTH_MAX)
    throw new BadInput(`--passback-uid must be at most ${TEXT_LENGTH_MAX} characters`);
  return text;
}
