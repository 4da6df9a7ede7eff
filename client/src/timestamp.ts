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
 * A text with an offset as the Date that it names, so that checkpoints are in the order of their texts, as those of the
 * service are. What is finer than a Date is cut off: the service does the same with what changes are to be later than.
 */
export function printCheckpoint(time: Date | string): string {
  const text = printTime(time);
  const ms = /(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN;
  // Without an offset, or no time at all, which the service refuses.
  return Number.isNaN(ms) ? text : new Date(ms).toISOString();
}

/** For JSON.parse: makes Dates of the fields that hold timestamps. */
export function reviveTimes(field: string, value: unknown): unknown {
  if (typeof value !== 'string' || !TIMESTAMP_FIELDS.includes(field)) return value;
  const time = new Date(`${value}Z`);
  if (!PRINTED.test(value) || Number.isNaN(time.getTime())) {
    throw new MalformedResponseError(
      'bad_shape',
      `${field} "${value}" does not fit into a Date. Construct the client without dates: 'Date' to get it as it is.`,
    );
  }
  return time;
}
