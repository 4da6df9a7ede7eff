// Reads all pages of a list. If the list changes during the walk, rows may have moved to a page that was already read, so the
// walk starts again. A count that differs between two pages shows a change, but not every network sends a count, and an added
// row can hide a deleted one. So a walk that must not miss a row is repeated until it finds the same rows twice: if a walk
// misses a row because a different row was deleted or changed, the next walk finds that change.

import { printCount } from '@offerbook/wire/count.ts';
import { RequestFailed } from './network-failures.ts';

export interface ReadPage {
  /** Position of the next page; undefined after the last page. */
  readonly next: string | undefined;
  /** The network's count of all rows, if it has one. */
  readonly total: number | undefined;
}

export interface PagedList {
  /** Called before the first page of every walk. */
  begin?(): void;
  /** `number` counts pages from 1. */
  read(position: string | undefined, number: number): Promise<ReadPage>;
  /** Returns false if rows are missing. */
  isComplete?(total: number | undefined): boolean;
  /** Identifies the rows of the last walk. If set, a list of several pages is read until two walks have the same rows. */
  digest?(): string;
}

/** No list is this long, so the network's pagination must be broken. */
const PAGES_MAX = 100_000;
const WALKS_MAX = 4;

export async function walkPages(list: PagedList): Promise<void> {
  let before: string | undefined;
  for (let count = 1; count <= WALKS_MAX; count++) {
    const pages = await walkOnce(list);
    if (pages === undefined) continue;
    if (pages === 1 || list.digest === undefined) return;
    const digest = list.digest();
    if (digest === before) return;
    before = digest;
  }
  throw new RequestFailed('reject', "the network's list keeps changing while it is read");
}

/** Returns the number of pages; undefined if the list has changed during the walk. */
async function walkOnce(list: PagedList): Promise<number | undefined> {
  const visited = new Set<string>();
  let position: string | undefined;
  let total: number | undefined;
  list.begin?.();
  for (let number = 1; number <= PAGES_MAX; number++) {
    const page = await list.read(position, number);
    if (page.total !== undefined && total !== undefined && page.total !== total) return undefined;
    total ??= page.total;
    if (page.next === undefined) return (list.isComplete?.(total) ?? true) ? number : undefined;
    if (visited.has(page.next))
      throw new RequestFailed('reject', "the network's links to the next page form a loop");
    visited.add(page.next);
    position = page.next;
  }
  throw new RequestFailed('reject', `the network's list does not end after ${printCount(PAGES_MAX)} pages`);
}
