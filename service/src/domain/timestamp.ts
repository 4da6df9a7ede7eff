// Date-times: what is accepted, and the one shape that is printed. Everything is UTC. A printed timestamp
// has milliseconds only when there are some, so the order of the texts is the order of the times.

declare const brand: unique symbol;
/** The printed form: `2026-11-14T12:00:00`, or `2026-11-14T12:00:00.123` when there are milliseconds. */
export type Timestamp = string & { readonly [brand]: 'Timestamp' };

export interface Instant {
  /** Whole milliseconds since the epoch; finer digits are cut off, never rounded up. */
  readonly ms: number;
  /** Whether non-zero digits finer than a millisecond were cut off. */
  readonly finer: boolean;
}

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)?)?$/;

/** The form of every text that is accepted, as JSON Schema writes it. Whether the date exists is another matter. */
export const DATE_TIME_PATTERN: string = DATE_TIME.source;

const EARLIEST_MS = Date.parse('0000-01-01T00:00:00Z');
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Reads a date-time or a date alone (midnight), UTC unless it has an offset. Undefined when it has another form or does not exist. */
export function parseInstant(text: string): Instant | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [
    ,
    year,
    month,
    day,
    hour = '0',
    minute = '0',
    second = '0',
    fraction = '',
    sign,
    offsetHour,
    offsetMinute = '0',
  ] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;

  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.slice(0, 3).padEnd(3, '0')));
  // A day that does not exist (30 February) rolls over into the next month.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;

  let ms = date.getTime();
  if (sign !== undefined) {
    if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
    const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
    ms += sign === '-' ? offsetMs : -offsetMs;
  }
  if (ms < EARLIEST_MS || ms > LATEST_MS) return undefined;
  return { ms, finer: /[1-9]/.test(fraction.slice(3)) };
}

/** What is wrong with a text that parseInstant does not read. */
export function dateTimeProblem(text: string): string {
  return DATE_TIME.test(text)
    ? 'is a date-time that does not exist'
    : 'must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00';
}

export function printTimestamp(ms: number): Timestamp {
  const iso = new Date(ms).toISOString();
  return (iso.endsWith('.000Z') ? iso.slice(0, 19) : iso.slice(0, 23)) as Timestamp;
}

// The printed form itself, on a day that every month has: nothing to work out, and nearly all that imports hold.
const PRINTED =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(?!000)\d{3})?$/;

/** Whether a text is a date-time in its printed form; false for a few at the ends of months. */
export function isPlainTimestamp(text: string): text is Timestamp {
  return PRINTED.test(text);
}

/** The printed form of whatever date-time was given, or undefined when it is none. */
export function parseTimestamp(text: string): Timestamp | undefined {
  if (isPlainTimestamp(text)) return text;
  const instant = parseInstant(text);
  return instant === undefined ? undefined : printTimestamp(instant.ms);
}

export function timestampMs(timestamp: Timestamp): number {
  return Date.parse(`${timestamp}Z`);
}
