// Timestamps: parses most forms of ISO 8601 and formats one canonical form, in UTC. Milliseconds are omitted if they are
// zero; timestamps still sort correctly as strings.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, wholeSecond } from './time.ts';

declare const brand: unique symbol;
/** The canonical form: `2026-11-14T12:00:00`, or `2026-11-14T12:00:00.123` if there are milliseconds. */
export type Timestamp = string & { readonly [brand]: 'Timestamp' };

export interface Instant {
  /** Milliseconds since the epoch, truncated. */
  readonly ms: number;
  /** True if non-zero digits beyond milliseconds were truncated. */
  readonly finer: boolean;
}

// Separators are optional, because every form is unambiguous without them.
const CALENDAR_DATE = String.raw`-?(\d{2})-?(\d{2})`;
const ORDINAL_DATE = String.raw`-?(\d{3})`;
const WEEK_DATE = String.raw`-?[Ww](\d{2})-?(\d)`;
const TIME = String.raw`(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?(?:[.,](\d{1,100}))?`;
const OFFSET = String.raw`(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)`;

/** JSON Schema pattern of the accepted forms. The pattern also matches dates that do not exist. */
export const DATE_TIME_PATTERN = `^(\\d{4})(?:${CALENDAR_DATE}|${ORDINAL_DATE}|${WEEK_DATE})(?:[Tt ]${TIME}${OFFSET}?)?$`;
const DATE_TIME = new RegExp(DATE_TIME_PATTERN);

const EARLIEST_MS = Date.parse('0000-01-01T00:00:00Z');
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Parses an ISO 8601 date-time, or a date alone (midnight). A date-time is UTC unless it has an offset. Returns undefined if
 * the form is not accepted or the date-time does not exist.
 */
export function parseInstant(text: string): Instant | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, dayOfYear, week, weekday, ...time] = match;
  const [hour, minute, second, fraction, sign, offsetHour, offsetMinute] = time;
  const dateMs =
    month !== undefined
      ? calendarDateMs(Number(year), Number(month), Number(day))
      : week !== undefined
        ? weekDateMs(Number(year), Number(week), Number(weekday))
        : ordinalDateMs(Number(year), Number(dayOfYear));
  const timeMs = timeOfDayMs(hour, minute, second);
  const offsetMs = sign === undefined ? 0 : timeOfDayMs(offsetHour, offsetMinute);
  if (dateMs === undefined || timeMs === undefined || offsetMs === undefined || offsetMs >= DAY_MS)
    return undefined;

  // A fraction applies to the smallest unit present.
  const unitMs = second !== undefined ? SECOND_MS : minute !== undefined ? MINUTE_MS : HOUR_MS;
  const { wholeMs, finer } = fractionOf(unitMs, fraction);
  // 24:00:00 is midnight at the end of the day; it must not have a fraction.
  if (timeMs === DAY_MS && (wholeMs > 0 || finer)) return undefined;
  const ms = dateMs + timeMs + wholeMs - (sign === '-' ? -offsetMs : offsetMs);
  return ms < EARLIEST_MS || ms > LATEST_MS ? undefined : { ms, finer };
}

function calendarDateMs(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A day that does not exist, such as 30 February, rolls over into the next month.
  return date.getUTCMonth() === month - 1 ? date.getTime() : undefined;
}

function ordinalDateMs(year: number, dayOfYear: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, 0, dayOfYear);
  return date.getUTCFullYear() === year ? date.getTime() : undefined;
}

/** Weeks begin on Monday. A week belongs to the year of its Thursday. */
function weekDateMs(year: number, week: number, weekday: number): number | undefined {
  const thursday = new Date(0);
  thursday.setUTCFullYear(year, 0, 4);
  // 4 January is always in week 1. getUTCDay counts Sunday as 0.
  thursday.setUTCDate(4 + 4 - (thursday.getUTCDay() || 7) + (week - 1) * 7);
  const exists = weekday >= 1 && weekday <= 7 && thursday.getUTCFullYear() === year;
  return exists ? thursday.getTime() + (weekday - 4) * DAY_MS : undefined;
}

function timeOfDayMs(hour = '0', minute = '0', second = '0'): number | undefined {
  const ms = Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS + Number(second) * SECOND_MS;
  return Number(minute) > 59 || Number(second) > 59 || ms > DAY_MS ? undefined : ms;
}

/** Exact for any number of digits. */
function fractionOf(unitMs: number, digits = '0'): { wholeMs: number; finer: boolean } {
  const parts = 10n ** BigInt(digits.length);
  const scaled = BigInt(digits) * BigInt(unitMs);
  return { wholeMs: Number(scaled / parts), finer: scaled % parts !== 0n };
}

/** Returns why parseInstant rejected the text. */
export function dateTimeProblem(text: string): string {
  return DATE_TIME.test(text)
    ? 'is a date-time that does not exist'
    : 'must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00';
}

export function printTimestamp(ms: number): Timestamp {
  const iso = new Date(ms).toISOString();
  return (iso.endsWith('.000Z') ? iso.slice(0, 19) : iso.slice(0, 23)) as Timestamp;
}

/** `2026-11-14T12:00:00`, without milliseconds. */
export function printSecond(ms: number): Timestamp {
  return printTimestamp(wholeSecond(ms));
}

/** Month and day. */
const EVERY_YEARS_DAY = String.raw`(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)`;

/** Fast path for imports: the canonical form, except on 29 February, which not every year has. */
export const CANONICAL_TIMESTAMP = new RegExp(
  String.raw`^\d{4}-${EVERY_YEARS_DAY}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(?!000)\d{3})?$`,
);

/** True for a timestamp in canonical form, but false on 29 February. */
export function isCanonicalTimestamp(text: string): text is Timestamp {
  return CANONICAL_TIMESTAMP.test(text);
}

/** Converts any accepted date-time to the canonical form; undefined if it is not valid. */
export function parseTimestamp(text: string): Timestamp | undefined {
  if (isCanonicalTimestamp(text)) return text;
  const instant = parseInstant(text);
  return instant === undefined ? undefined : printTimestamp(instant.ms);
}

export function timestampMs(timestamp: Timestamp): number {
  return Date.parse(`${timestamp}Z`);
}
