// Reads one page of a list, or one item, from a response. A repeated cursor, or a cursor without items, is an error: following it would
// loop forever.

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

/** `from` is the cursor that was sent to request this page. */
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
