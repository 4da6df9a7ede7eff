// Detects missing pages from the page information of responses. Never reports complete files: repeated pages, any order of
// pages, and pages of several requests are all accepted.

import type { PageNote } from './feed-row.ts';

export class PageCheck {
  /** By request; responses without one count as the same request. */
  readonly #lists = new Map<string | undefined, PageList>();

  add(note: PageNote): void {
    // Single rows, and responses of networks without pages.
    if (note.page === undefined && note.hasMore === undefined) return;
    const list = this.#lists.get(note.request) ?? new PageList();
    this.#lists.set(note.request, list);
    list.add(note);
  }

  get isPageMissing(): boolean {
    return [...this.#lists.values()].some((list) => list.isPageMissing);
  }
}

// Positions among rows with ascending numbers.
const NOWHERE = Number.NEGATIVE_INFINITY;
const BEFORE_ALL = -Number.MAX_VALUE;
const BEFORE_THE_END = Number.MAX_VALUE;
const AT_THE_END = Number.POSITIVE_INFINITY;

/** The responses to one request, or to several that cannot be distinguished. */
class PageList {
  /** Number of rows by page; the maximum if a page occurs several times. */
  readonly #counts = new Map<number, number>();
  #firstPage = Number.POSITIVE_INFINITY;
  /** Total number of rows according to the last page; the minimum if that page occurs several times. */
  #lastPage = { page: -1, total: 0 };
  /** Pages that announce another page. */
  readonly #followed = new Set<number>();
  // For responses without a page number: the last position where one begins, and the last where an incomplete one ends.
  #begins = BEFORE_ALL;
  #breaksOff = NOWHERE;

  add(note: PageNote): void {
    if (note.page === undefined) this.#addUnnumbered(note);
    else this.#addNumbered(note.page, note);
  }

  #addNumbered(page: number, { hasMore, count = 0, total = 0 }: PageNote): void {
    this.#counts.set(page, Math.max(count, this.#counts.get(page) ?? 0));
    this.#firstPage = Math.min(page, this.#firstPage);
    if (hasMore === true) this.#followed.add(page);
    if (page > this.#lastPage.page) this.#lastPage = { page, total };
    else if (page === this.#lastPage.page) this.#lastPage.total = Math.min(total, this.#lastPage.total);
  }

  /** A response without a first row is placed last if no page follows it, and first otherwise. */
  #addUnnumbered({ hasMore, rows }: PageNote): void {
    const begins = rows?.first ?? (hasMore === true ? BEFORE_ALL : AT_THE_END);
    this.#begins = Math.max(this.#begins, begins);
    if (hasMore === true) this.#breaksOff = Math.max(this.#breaksOff, rows?.last ?? BEFORE_THE_END);
  }

  get isPageMissing(): boolean {
    return (
      this.#breaksOff >= this.#begins ||
      // Some networks count pages from 0.
      (this.#counts.size > 0 && this.#firstPage > 1) ||
      this.#counts.values().reduce((sum, count) => sum + count, 0) < this.#lastPage.total ||
      this.#followed.values().some((page) => !this.#counts.has(page + 1))
    );
  }
}
