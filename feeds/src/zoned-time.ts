// Times as networks write them. A text without a zone is read in a zone that is named, never in that of the machine.

import { isPlainTimestamp, parseInstant, printTimestamp, type Timestamp } from '@offerbook/wire/timestamp.ts';

/** `2026-11-14T12:00:00`, with a space in place of the T, with a fraction, with `Z` or an offset; or the date alone. */
const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?)? ?(Z|[+-]\d{2}:?\d{2})?$/;
const DAY_MS = 86_400_000;
/** Written for "no end", and no day follows it that our format could hold. */
const LAST_DAY = '9999-12-31';
export const LAST_SECOND = '9999-12-31T23:59:59' as Timestamp;

/** The zone is for a text that does not tell its own. */
export type TimeReader = (text: string, zone: string) => Timestamp | undefined;

/** Reads a time, a date alone being the midnight at which it begins. Undefined for what does not exist. */
export function parseTime(text: string, zone: string): Timestamp | undefined {
  // Almost every time of a large file: nothing to work out.
  if (zone === 'UTC' && isPlainTimestamp(text)) return text;
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

/** Reads the end of a period, which is not part of it. A date alone means that all of that day still is. */
export function parseEnd(text: string, zone: string): Timestamp | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return parseTime(text, zone);
  if (text === LAST_DAY) return LAST_SECOND;
  const day = parseInstant(text);
  // The next date first, then its midnight in the zone: the day may have 23 or 25 hours.
  return day === undefined ? undefined : parseTime(printTimestamp(day.ms + DAY_MS).slice(0, 10), zone);
}

/** The latest of these times, if any is known. Timestamps sort as strings. */
export function latest(times: readonly (Timestamp | undefined)[]): Timestamp | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}

/** A reader for times that follow a pattern such as `DD/MM/YYYY HH:mm:ss`. */
export function patternReader(pattern: string, read: TimeReader = parseTime): TimeReader {
  const expression = compilePattern(pattern);
  return (text, zone) => {
    const parts = expression.exec(text)?.groups;
    if (parts === undefined) return undefined;
    const { YYYY, MM, DD, HH, mm = '00', ss = '00' } = parts;
    const date = `${YYYY}-${MM}-${DD}`;
    return read(HH === undefined ? date : `${date}T${HH}:${mm}:${ss}`, zone);
  };
}

/** Why a pattern would read a part of a time and forget it, or undefined when it would not. */
export function findPatternFault(pattern: string): string | undefined {
  const names = splitPattern(pattern).filter(isPart);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `has ${twice} twice${twice === 'MM' ? ': minutes are mm' : ''}`;
  const misses = (name: string, greater: string) => names.includes(name) && !names.includes(greater);
  if (misses('mm', 'HH')) return 'has mm without HH';
  return misses('ss', 'mm') ? 'has ss without mm' : undefined;
}

/** Patterns stand in our tables and in source files: there are few. */
const compiled = new Map<string, RegExp>();

/** Each part of the time is a group of its name. */
function compilePattern(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const parts = splitPattern(pattern).map((part) =>
    isPart(part) ? `(?<${part}>\\d{${part.length}})` : RegExp.escape(part),
  );
  const expression = new RegExp(`^${parts.join('')}$`);
  compiled.set(pattern, expression);
  return expression;
}

/** Into parts of a time, and what stands between them. */
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

/** The hour that an autumn night has twice is taken as its first pass. One that a spring night leaves out does not exist. */
function zonedMs(local: string, zone: string): number | undefined {
  const wanted = Temporal.PlainDateTime.from(local);
  const zoned = wanted.toZonedDateTime(zone, { disambiguation: 'earlier' });
  return zoned.toPlainDateTime().equals(wanted) ? zoned.epochMilliseconds : undefined;
}

/** Midnight, or what follows it where clocks are set forward at midnight. */
function startOfDayMs(date: string, zone: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds;
}
