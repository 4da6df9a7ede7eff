// A list of the service as one object: awaited, it is its first page; iterated, it is all its items. Nothing
// is requested before one of the two happens, and never a page further than the caller has read.

import type { Page } from './page.ts';

/** Starts anew each time it is awaited or iterated. */
export class List<Item> implements Promise<Page<Item>>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag]: string = 'List';
  readonly #fetchPage: (cursor: string | undefined) => Promise<Page<Item>>;
  readonly #start: string | undefined;

  /** Made by the client. */
  constructor(fetchPage: (cursor: string | undefined) => Promise<Page<Item>>, start: string | undefined) {
    this.#fetchPage = fetchPage;
    this.#start = start;
  }

  /** The first page. */
  // biome-ignore lint/suspicious/noThenProperty: being awaited is what this object is for.
  then<Result = Page<Item>, Failure = never>(
    onFulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#fetchPage(this.#start).then(onFulfilled, onRejected);
  }

  /** The first page, or what is made of the error. */
  catch<Failure = never>(
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Page<Item> | Failure> {
    return this.then(null, onRejected);
  }

  /** The first page, after the function has run. */
  finally(onFinally?: (() => void) | null): Promise<Page<Item>> {
    return this.#fetchPage(this.#start).finally(onFinally);
  }

  /** Page by page, to the end of the list. */
  async *pages(): AsyncGenerator<Page<Item>, void, void> {
    let cursor = this.#start;
    do {
      const page = await this.#fetchPage(cursor);
      yield page;
      cursor = page.cursor;
    } while (cursor !== undefined);
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
}
