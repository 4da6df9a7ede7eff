// Parses the time formats that networks use. A time without a zone is read in the given zone, never in the machine's zone.

import { DAY_MS } from '@offerbook/wire/time.ts';
import {
  isCanonicalTimestamp,
  parseInstant,
  printTimestamp,
  type Timestamp,
} from '@offerbook/wire/timestamp.ts';

/**
 * `2026-11-14T12:00:00`, optionally with a space instead of the T, a fraction, and `Z` or an offset. A date alone is accepted
 * too.
 */
const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?)? ?(Z|[+-]\d{2}:?\d{2})?$/;
export const LAST_SECOND = '9999-12-31T23:59:59' as Timestamp;

/** Returns undefined if the string is not a time. `zone` applies to a string without a zone. */
export type TimeReader = (text: string, zone: string) => Timestamp | undefined;

/** A date alone means the start of that day. Returns undefined for a time that does not exist. */
export function parseTime(text: string, zone: string): Timestamp | undefined {
  // Fast path: most times in a large file are already canonical.
  if (zone === 'UTC' && isCanonicalTimestamp(text)) return text;
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, date = '', time, fraction = '', offset] = match;
  const local = `${date}T${time ?? '00:00:00'}${fraction === '' ? '' : `.${fraction}`}`;
  const instant = parseInstant(local + (offset ?? ''));
  if (instant === undefined) return undefined;
  const printed = printTimestamp(instant.ms);
  if (offset !== undefined || zone === 'UTC') return printed;
  const ms = time === undefined ? startOfDayMs(date, zone) : zonedMs(printed, zone);
  return ms === undefined ? undefined : printTimestamp(ms);
}

/** Parses the exclusive end of a period. A date alone includes the whole day. */
export function parseEnd(text: string, zone: string): Timestamp | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return parseTime(text, zone);
  // Networks write this date for "no end". The next day is outside our format.
  if (text === '9999-12-31') return LAST_SECOND;
  const day = parseInstant(text);
  // Add a day before converting to UTC: the day can have 23 or 25 hours.
  return day === undefined ? undefined : parseTime(printTimestamp(day.ms + DAY_MS).slice(0, 10), zone);
}

/** Timestamps sort as strings. */
export function latest(times: readonly (Timestamp | undefined)[]): Timestamp | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}

/** Returns a parser for times in a pattern such as `DD/MM/YYYY HH:mm:ss`. */
export function patternReader(pattern: string, read: TimeReader = parseTime): TimeReader {
  // Each part of the time becomes a named group.
  const groups = splitPattern(pattern).map((part) =>
    isPart(part) ? `(?<${part}>\\d{${part.length}})` : RegExp.escape(part),
  );
  const expression = new RegExp(`^${groups.join('')}$`);
  return (text, zone) => {
    const parts = expression.exec(text)?.groups;
    if (parts === undefined) return undefined;
    const { YYYY, MM, DD, HH, mm = '00', ss = '00' } = parts;
    const date = `${YYYY}-${MM}-${DD}`;
    return read(HH === undefined ? date : `${date}T${HH}:${mm}:${ss}`, zone);
  };
}

/** Returns a message if the pattern would ignore a part of the time. */
export function findPatternFault(pattern: string): string | undefined {
  const names = splitPattern(pattern).filter(isPart);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `has ${twice} twice${twice === 'MM' ? ': minutes are mm' : ''}`;
  const misses = (name: string, greater: string) => names.includes(name) && !names.includes(greater);
  if (misses('mm', 'HH')) return 'has mm without HH';
  return misses('ss', 'mm') ? 'has ss without mm' : undefined;
}

/** Splits a pattern into the parts of the time and the text between them. */
function splitPattern(pattern: string): readonly string[] {
  return pattern.match(/YYYY|MM|DD|HH|mm|ss|[^YMDHms]+/g) ?? [];
}

function isPart(text: string): boolean {
  return /^[YMDHms]/.test(text);
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}

/**
 * Returns the first occurrence of a time that is repeated in autumn, and undefined for a time that is skipped in spring.
 */
function zonedMs(local: string, zone: string): number | undefined {
  const wanted = Temporal.PlainDateTime.from(local);
  const zoned = wanted.toZonedDateTime(zone, { disambiguation: 'earlier' });
  return zoned.toPlainDateTime().equals(wanted) ? zoned.epochMilliseconds : undefined;
}

/** Midnight, or the first existing time if clocks are set forward at midnight. */
function startOfDayMs(date: string, zone: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds;
}
