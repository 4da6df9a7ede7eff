// Detects missing pages from the page information in responses. Pages may be repeated, be out of order, and come from
// several requests. A complete set of pages is never reported as incomplete.

import type { PageInfo } from './feed-row.ts';

export class PageCheck {
  /** Keyed by request. Responses that do not name their request share an entry. */
  readonly #lists = new Map<string | undefined, PageList>();

  add(info: PageInfo): void {
    // There is nothing to check for a single row or a network that does not number its pages.
    if (info.page === undefined && info.hasMore === undefined) return;
    this.#lists.getOrInsertComputed(info.request, () => new PageList()).add(info);
  }

  get isPageMissing(): boolean {
    return this.#lists.values().some((list) => list.isPageMissing);
  }
}

// Sentinel positions before and after all row numbers.
const NOWHERE = Number.NEGATIVE_INFINITY;
const BEFORE_ALL = -Number.MAX_VALUE;
const BEFORE_THE_END = Number.MAX_VALUE;
const AT_THE_END = Number.POSITIVE_INFINITY;

/** The responses to one request, or to several that cannot be distinguished. */
class PageList {
  /** Rows per page; the maximum if a page occurs several times. */
  readonly #counts = new Map<number, number>();
  /** Total number of rows according to the last page; the minimum if that page occurs several times. */
  #lastPage = { page: -1, total: 0 };
  /** Pages that announce a next page. */
  readonly #followed = new Set<number>();
  // For responses without a page number: the greatest start position, and the greatest end position among responses that are not
  // the last page.
  #lastStart = BEFORE_ALL;
  #lastIncompleteEnd = NOWHERE;

  add({ page, hasMore, count, total: announced = 0, rows }: PageInfo): void {
    if (page === undefined) {
      // Without a first row, a response counts as the first page if another page follows it; otherwise, as the last page.
      const start = rows?.first ?? (hasMore === true ? BEFORE_ALL : AT_THE_END);
      this.#lastStart = Math.max(this.#lastStart, start);
      if (hasMore === true)
        this.#lastIncompleteEnd = Math.max(this.#lastIncompleteEnd, rows?.last ?? BEFORE_THE_END);
      return;
    }
    const total = count === undefined ? 0 : announced;
    this.#counts.set(page, Math.max(count ?? 0, this.#counts.get(page) ?? 0));
    if (hasMore === true) this.#followed.add(page);
    if (page > this.#lastPage.page) this.#lastPage = { page, total };
    else if (page === this.#lastPage.page) this.#lastPage.total = Math.min(total, this.#lastPage.total);
  }

  get isPageMissing(): boolean {
    return (
      this.#lastIncompleteEnd >= this.#lastStart ||
      // Some networks count pages from 0.
      (this.#counts.size > 0 && !this.#counts.has(0) && !this.#counts.has(1)) ||
      this.#counts.values().reduce((sum, count) => sum + count, 0) < this.#lastPage.total ||
      this.#followed.values().some((page) => !this.#counts.has(page + 1))
    );
  }
}
