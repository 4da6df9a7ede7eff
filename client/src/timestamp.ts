// Timestamps between the wire, where they are UTC texts without an offset, and Date, which has exactly the
// milliseconds that the wire has. What a Date could not hold is refused rather than cut off.

import { MalformedResponseError } from './errors.ts';
import { TIMESTAMP_FIELDS } from './wire.ts';

const PRINTED = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?$/;

/** A text goes out exactly as it was given: it may be finer than a Date. */
export function printTime(time: Date | string): string {
  return typeof time === 'string' ? time : time.toISOString();
}

/**
 * A timestamp of the service as a Date. `new Date(text)` would be wrong by hours: the service's timestamps are UTC and have
 * no `Z`, and a text without one is read in the zone of the machine. Throws a RangeError for what is no such timestamp.
 */
export function parseTimestamp(text: string): Date {
  const time = new Date(`${text}Z`);
  if (!PRINTED.test(text) || Number.isNaN(time.getTime()))
    throw new RangeError(`"${text}" is not a timestamp of the service, such as 2026-11-14T12:00:00`);
  return time;
}

/** For JSON.parse: makes Dates of the fields that hold timestamps. */
export function reviveTimes(field: string, value: unknown): unknown {
  if (typeof value !== 'string' || !TIMESTAMP_FIELDS.includes(field)) return value;
  try {
    return parseTimestamp(value);
  } catch {
    throw new MalformedResponseError(
      'bad_shape',
      `${field} "${value}" does not fit into a Date. Construct the client without dates: 'Date' to get it as it is.`,
    );
  }
}
