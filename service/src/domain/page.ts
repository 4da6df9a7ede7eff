// Pages: how a list is cut, and the one place that makes a cursor. A cursor is a position, not a row: a page
// starts at the first item whose id is at or after it, so it keeps its place when the item itself goes away.

import type { Uuid } from './uuid.ts';

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_MAX = 1000;
/** A page ends early where the next item would take it beyond this, before compression. It has one item at least. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The id of the first item of the next page; undefined on the last page. */
  readonly cursor: Uuid | undefined;
}

/** Cuts a page from rows that were read with one more than the limit, which tells whether there is a next page. */
export function cutPage<Item>(rows: readonly Item[], limit: number, idOf: (item: Item) => Uuid): Page<Item> {
  const next = rows[limit];
  return { items: rows.slice(0, limit), cursor: next === undefined ? undefined : idOf(next) };
}

/** The list envelope: this, the items with commas between them, and its end. */
export const ENVELOPE_START = '{"data":[';

export function envelopeEnd(cursor: Uuid | undefined): string {
  return cursor === undefined ? ']}' : `],"cursor":"${cursor}"}`;
}
