// Lists, pages and items. A list is lazy: await it for the first page, iterate it for all items. It sends nothing until it is
// awaited or iterated, and never fetches a page before the caller needs it.

import { MalformedResponseError } from './errors.ts';
import type { ParsedResponse } from './request.ts';

export interface Page<Item> {
  data: Item[];
  /** Where the next page starts; undefined on the last page. */
  cursor: string | undefined;
  /** Transactions only: every change up to and including this stamp was visible to this read. */
  completeThrough: string | undefined;
  /** The request's id in the service's log. */
  requestId: string | undefined;
}

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

/**
 * Reads one page of a list from a response. `from` is the cursor that was sent to request it. A repeated cursor, or a cursor
 * without items, is an error: following it would loop forever.
 */
export function readPage<Item extends { id: string }>(
  { body, headers }: ParsedResponse,
  from: string | undefined,
): Page<Item> {
  const { data, cursor } = (body ?? {}) as { data?: Item[]; cursor?: string };
  if (!Array.isArray(data) || (cursor !== undefined && typeof cursor !== 'string')) {
    throw new MalformedResponseError(
      'bad_shape',
      'The response is not a page: "data" is not a list, or "cursor" is not a string. The service may be newer than this client.',
    );
  }
  const first = data[0]?.id ?? '';
  const last = data[data.length - 1]?.id ?? '';
  // Items are in ascending order of id across pages, and the cursor is the id of the next item.
  if (cursor !== undefined && !(first >= (from ?? '').toLowerCase() && last !== '' && cursor > last)) {
    throw new MalformedResponseError(
      'stuck_cursor',
      `The cursor does not advance: the page at ${from ?? 'the start'} names ${cursor} as the next one. Contact the operator of the service.`,
    );
  }
  return {
    data,
    cursor,
    completeThrough: headers.get('Complete-Through') ?? undefined,
    requestId: headers.get('Request-Id') ?? undefined,
  };
}

/** Reads a single item. */
export function readItem<Item extends { id: string }>({ body }: ParsedResponse): Item {
  const item = (body ?? {}) as Item;
  if (typeof item.id === 'string') return item;
  throw new MalformedResponseError('bad_shape', 'The response is not an item: it has no "id".');
}

/** Reads a page of transactions for a follower, which requires Complete-Through. */
export function readChanges<Item extends { id: string }>(
  response: ParsedResponse,
  from: string | undefined,
): Page<Item> & { completeThrough: string } {
  const { completeThrough, ...page } = readPage<Item>(response, from);
  if (completeThrough !== undefined) return { ...page, completeThrough };
  throw new MalformedResponseError(
    'no_complete_through',
    'The response has no Complete-Through header, without which changes could be missed. Check that no proxy removes it.',
  );
}
