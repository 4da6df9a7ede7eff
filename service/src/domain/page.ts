// Size limits and JSON envelope of pages. The cursor of a page is the id of the next item. The next page starts at the first
// item whose id is at or after the cursor, so a cursor stays valid if its item is removed.

import type { Uuid } from '@offerbook/wire/uuid.ts';

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_MAX = 1000;
/** A page ends before an item that would exceed this size (uncompressed), but always has at least one item. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** The list envelope: ENVELOPE_START, the comma-separated items, and envelopeEnd(). */
export const ENVELOPE_START = '{"data":[';

export function envelopeEnd(cursor: Uuid | undefined): string {
  return cursor === undefined ? ']}' : `],"cursor":"${cursor}"}`;
}
