// Tells whether a page is missing among the answers of one kind. It never suspects files that are complete: the same page
// twice, pages in any order and pages of several questions are all fine.

import type { PageNote } from './feed-row.ts';

export class PageCheck {
  readonly #numbers = new Set<number>();
  /** Of pages that others follow. */
  readonly #followed = new Set<number>();
  #hasUnnumberedMore = false;
  #hasUnnumberedLast = false;

  add({ page, hasMore }: PageNote): void {
    if (hasMore === undefined) return;
    if (page === undefined) {
      if (hasMore) this.#hasUnnumberedMore = true;
      else this.#hasUnnumberedLast = true;
      return;
    }
    this.#numbers.add(page);
    if (hasMore) this.#followed.add(page);
  }

  get isPageMissing(): boolean {
    if (this.#hasUnnumberedMore && !this.#hasUnnumberedLast) return true;
    return [...this.#followed].some((page) => !this.#numbers.has(page + 1));
  }
}
