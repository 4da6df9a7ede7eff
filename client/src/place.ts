// A follower's place as a text, which callers keep as it is. Between two walks it is a timestamp, the checkpoint.
// In the middle of a walk it is the JSON of a Place, so that a crash on page 9,000 does not lead back to page 1.

import { CheckpointError } from './errors.ts';
import { printTime } from './timestamp.ts';

export interface Place {
  /** The walk goes over all changes after this; undefined for the first walk, which goes over everything. */
  readonly updatedAtGreaterThan?: string | undefined;
  /** In the middle of a walk: the smallest Complete-Through of the pages before this place. */
  readonly completeThrough?: string | undefined;
  /** In the middle of a walk: where the next page starts. */
  readonly cursor?: string | undefined;
}

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?)?$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function printPlace({ updatedAtGreaterThan, completeThrough, cursor }: Place): string {
  return cursor === undefined
    ? (updatedAtGreaterThan ?? '')
    : JSON.stringify({ updatedAtGreaterThan, completeThrough, cursor });
}

/** Throws a CheckpointError that says what is wrong with the text. */
export function parsePlace(given: string | Date): Place {
  const text = typeof given === 'string' ? given.trim() : printTime(given);
  if (text === '') throw new CheckpointError('The checkpoint is empty.');
  const place = text.startsWith('{') ? parseWalk(text) : { updatedAtGreaterThan: text };
  if (place === undefined) throw unreadable(text, 'JSON that is no place inside a walk');
  const { updatedAtGreaterThan: after, completeThrough, cursor } = place;
  if ([after, completeThrough].some((time) => time !== undefined && !isTime(time)))
    throw unreadable(text, 'not a timestamp such as 2026-11-14T12:00:00');
  return { updatedAtGreaterThan: after && inUtc(after), completeThrough, cursor };
}

function parseWalk(text: string): Place | undefined {
  try {
    const { updatedAtGreaterThan, completeThrough, cursor } = JSON.parse(text) as Place;
    const whole = typeof completeThrough === 'string' && UUID.test(String(cursor));
    return whole ? { updatedAtGreaterThan, completeThrough, cursor } : undefined;
  } catch {
    return undefined;
  }
}

function isTime(text: unknown): boolean {
  return typeof text === 'string' && TIME.test(text) && !Number.isNaN(Date.parse(text));
}

/**
 * A text with an offset as the Date that it names, so that checkpoints are in the order of their texts, as those of the
 * service are. What is finer than a Date is cut off: the service does the same with what changes are to be later than.
 */
function inUtc(text: string): string {
  return /(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? new Date(text).toISOString() : text;
}

function unreadable(text: string, reason: string): CheckpointError {
  return new CheckpointError(`${JSON.stringify(text.slice(0, 60))} is not a checkpoint: ${reason}.`);
}
