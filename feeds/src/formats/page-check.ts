// Tells whether a page is missing among the answers of one kind, by what each says of itself. It never suspects files that
// are complete: the same page twice, pages in any order and pages of several questions are all fine.

import type { PageNote } from './feed-row.ts';

export class PageCheck {
  /** By the question; answers that do not tell theirs are taken for one. */
  readonly #lists = new Map<string | undefined, PageList>();

  add(note: PageNote): void {
    // Rows that stand alone, and answers of networks that have no pages.
    if (note.page === undefined && note.hasMore === undefined) return;
    const list = this.#lists.get(note.question) ?? new PageList();
    this.#lists.set(note.question, list);
    list.add(note);
  }

  get isPageMissing(): boolean {
    return [...this.#lists.values()].some((list) => list.isPageMissing);
  }
}

// Places among rows whose numbers rise.
const NOWHERE = Number.NEGATIVE_INFINITY;
const BEFORE_ALL = -Number.MAX_VALUE;
const BEFORE_THE_END = Number.MAX_VALUE;
const AT_THE_END = Number.POSITIVE_INFINITY;

/** The answers to one question, or to several that cannot be told apart. */
class PageList {
  /** How many rows a page has, by its number: of several answers, the most. */
  readonly #counts = new Map<number, number>();
  #firstPage = Number.POSITIVE_INFINITY;
  /** How many rows there are in all, as the page with the greatest number tells it: of several answers, the least. */
  #told = { page: -1, total: 0 };
  /** Of pages that others follow. */
  readonly #followed = new Set<number>();
  // Of answers without a number: the last place where one begins, and the last place where one breaks off.
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
    if (page > this.#told.page) this.#told = { page, total };
    else if (page === this.#told.page) this.#told.total = Math.min(total, this.#told.total);
  }

  /** One that does not say where it begins follows all others if it is a last one, and else none. */
  #addUnnumbered({ hasMore, rows }: PageNote): void {
    const begins = rows?.first ?? (hasMore === true ? BEFORE_ALL : AT_THE_END);
    this.#begins = Math.max(this.#begins, begins);
    if (hasMore === true) this.#breaksOff = Math.max(this.#breaksOff, rows?.last ?? BEFORE_THE_END);
  }

  get isPageMissing(): boolean {
    return (
      this.#breaksOff >= this.#begins ||
      // Some count their pages from 0.
      (this.#counts.size > 0 && this.#firstPage > 1) ||
      this.#counts.values().reduce((sum, count) => sum + count, 0) < this.#told.total ||
      this.#followed.values().some((page) => !this.#counts.has(page + 1))
    );
  }
}
