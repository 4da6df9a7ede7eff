// Converts between wire timestamps (UTC strings without an offset) and Date. Both forms have millisecond precision, so nothing
// is lost. A timestamp with higher precision is an error.

import { MalformedResponseError } from './errors.ts';
import { TIMESTAMP_FIELDS } from './wire.ts';

const PRINTED = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?$/;

/** Strings are sent unchanged, because they can have a higher precision than a Date. */
export function printTime(time: Date | string): string {
  return typeof time === 'string' ? time : time.toISOString();
}

/**
 * Parses a timestamp from the service; throws a RangeError for any other string. Do not use `new Date(text)`: the service's
 * timestamps are UTC without `Z`, which Date would read in the machine's time zone.
 */
export function parseTimestamp(text: string): Date {
  const time = new Date(`${text}Z`);
  if (!PRINTED.test(text) || Number.isNaN(time.getTime()))
    throw new RangeError(`"${text}" is not a timestamp from the service, such as 2026-11-14T12:00:00`);
  return time;
}

/** Reviver for JSON.parse that converts timestamp fields to Dates. */
export function reviveTimes(field: string, value: unknown): unknown {
  if (typeof value !== 'string' || !TIMESTAMP_FIELDS.includes(field)) return value;
  try {
    return parseTimestamp(value);
  } catch {
    throw new MalformedResponseError(
      'bad_shape',
      `${field} "${value}" does not fit into a Date. Create the client without dates: 'Date' to get it as a string.`,
    );
  }
}
