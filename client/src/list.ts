// A list of the service as one object: awaited, it is its first page; iterated, it is all its items. Nothing
// is requested before one of the two happens, and never a page further than the caller has read.

import type { Page } from './page.ts';

export class List<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #fetchPage: (cursor: string | undefined) => Promise<Page<Item>>;
  readonly #start: string | undefined;
  #first: Promise<Page<Item>> | undefined;

  /** Made by the client. */
  constructor(fetchPage: (cursor: string | undefined) => Promise<Page<Item>>, start: string | undefined) {
    this.#fetchPage = fetchPage;
    this.#start = start;
  }

  /** The first page. It is requested once, however often it is awaited. */
  // biome-ignore lint/suspicious/noThenProperty: being awaited is what this object is for.
  then<Result = Page<Item>, Failure = never>(
    onFulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#firstPage().then(onFulfilled, onRejected);
  }

  /** Page by page, to the end of the list. */
  async *pages(): AsyncGenerator<Page<Item>, void, void> {
    let page = await this.#firstPage();
    yield page;
    while (page.cursor !== undefined) {
      page = await this.#fetchPage(page.cursor);
      yield page;
    }
  }

  /** Item by item, to the end of the list. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, void> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** The first `max` items, or all if there are fewer. The bound is required: lists can be longer than memory. */
  async toArray(options: { max: number }): Promise<Item[]> {
    // Without types, there may be no options at all.
    const max = options?.max;
    if (!(max > 0)) throw new RangeError('toArray needs { max }: how many items to return at the most');
    const items: Item[] = [];
    for await (const page of this.pages()) {
      items.push(...page.data.slice(0, max - items.length));
      if (items.length >= max) break;
    }
    return items;
  }

  #firstPage(): Promise<Page<Item>> {
    this.#first ??= this.#fetchPage(this.#start);
    return this.#first;
  }
}
