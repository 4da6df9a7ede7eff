// Pages: how much they hold, and how they are printed. A page ends after `limit` items, or earlier at PAGE_BYTES_MAX;
// its cursor is the id of the next item. A cursor is a position, not a row. A page starts at the first item whose id
// is at or after it, so it keeps its place when the item itself goes away.

import type { Uuid } from './uuid.ts';

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_MAX = 1000;
/** A page ends early where the next item would take it beyond this, before compression. It has one item at least. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** The list envelope: this, the items with commas between them, and its end. */
export const ENVELOPE_START = '{"data":[';

export function envelopeEnd(cursor: Uuid | undefined): string {
  return cursor === undefined ? ']}' : `],"cursor":"${cursor}"}`;
}
