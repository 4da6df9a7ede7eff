// Converts a follower's position to and from the string that callers store. Between walks, the string is a timestamp, the
// checkpoint. In the middle of a walk, the string is JSON, so that a follower that crashes on page 9,000 resumes there.

import { CheckpointError } from './errors.ts';
import { printTime } from './timestamp.ts';

export interface Position {
  /** The walk covers all changes after this timestamp; undefined for the first walk, which covers everything. */
  readonly updatedAtGreaterThan?: string | undefined;
  /** Inside a walk: the smallest Complete-Through of the pages so far. */
  readonly completeThrough?: string | undefined;
  /** Inside a walk: cursor of the next page. */
  readonly cursor?: string | undefined;
}

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?)?$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function printPosition({ updatedAtGreaterThan, completeThrough, cursor }: Position): string {
  return cursor === undefined
    ? (updatedAtGreaterThan ?? '')
    : JSON.stringify({ updatedAtGreaterThan, completeThrough, cursor });
}

/** Throws a CheckpointError that states what is wrong with the string. */
export function parsePosition(given: string | Date): Position {
  const text = typeof given === 'string' ? given.trim() : printTime(given);
  if (text === '') throw new CheckpointError('The checkpoint is empty.');
  const position = text.startsWith('{') ? parseWalk(text) : { updatedAtGreaterThan: text };
  if (position === undefined) throw unreadable(text, 'JSON that is not a position inside a walk');
  const { updatedAtGreaterThan: after, completeThrough, cursor } = position;
  if ([after, completeThrough].some((time) => time !== undefined && !isTime(time)))
    throw unreadable(text, 'not a timestamp such as 2026-11-14T12:00:00');
  return { updatedAtGreaterThan: after && inUtc(after), completeThrough, cursor };
}

function parseWalk(text: string): Position | undefined {
  try {
    const { updatedAtGreaterThan, completeThrough, cursor } = JSON.parse(text) as Position;
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
 * Converts a timestamp with an offset to UTC, so that checkpoints compare as strings like the service's timestamps do.
 * Truncates to milliseconds, as the service does with updatedAtGreaterThan.
 */
function inUtc(text: string): string {
  return /(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? new Date(text).toISOString() : text;
}

function unreadable(text: string, reason: string): CheckpointError {
  return new CheckpointError(`${JSON.stringify(text.slice(0, 60))} is not a checkpoint: ${reason}.`);
}
