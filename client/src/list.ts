// A lazy list: await it for the first page, iterate it for all items. A list sends nothing until it is awaited or iterated, and
// never fetches a page before the caller needs it.

import type { Page } from './page.ts';

/** Each await or iteration starts from the beginning. */
export class List<Item> implements Promise<Page<Item>>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag]: string = 'List';
  readonly #fetchPage: (cursor: string | undefined) => Promise<Page<Item>>;
  readonly #start: string | undefined;

  /** For internal use: the client creates lists. */
  constructor(fetchPage: (cursor: string | undefined) => Promise<Page<Item>>, start: string | undefined) {
    this.#fetchPage = fetchPage;
    this.#start = start;
  }

  /** Resolves to the first page. */
  // biome-ignore lint/suspicious/noThenProperty: a List is meant to be awaited.
  then<Result = Page<Item>, Failure = never>(
    onFulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#fetchPage(this.#start).then(onFulfilled, onRejected);
  }

  /** Resolves to the first page, or to the handler's result after an error. */
  catch<Failure = never>(
    onRejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Page<Item> | Failure> {
    return this.then(null, onRejected);
  }

  /** Resolves to the first page after calling the function. */
  finally(onFinally?: (() => void) | null): Promise<Page<Item>> {
    return this.#fetchPage(this.#start).finally(onFinally);
  }

  /** Yields every page. */
  async *pages(): AsyncGenerator<Page<Item>, void, void> {
    let cursor = this.#start;
    do {
      const page = await this.#fetchPage(cursor);
      yield page;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** Yields every item. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, void> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Returns the first `max` items. The limit is required because lists can exceed memory. */
  async toArray(options: { max: number }): Promise<Item[]> {
    // JavaScript callers may omit the options.
    const max = options?.max;
    if (!(max > 0)) throw new RangeError('toArray needs { max }: the maximum number of items to return');
    const items: Item[] = [];
    for await (const page of this.pages()) {
      items.push(...page.data.slice(0, max - items.length));
      if (items.length >= max) break;
    }
    return items;
  }
}
