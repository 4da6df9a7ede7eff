// One page of a list, read from an answer. A page must take the walk forward: a service that sends the same
// place again, or a cursor without items, must end in an error, not in a loop.

import { MalformedResponseError } from './errors.ts';
import type { Answer } from './request.ts';

export interface Page<Item> {
  /** The items of the page. */
  data: Item[];
  /** Where the next page starts; undefined on the last page. */
  cursor: string | undefined;
  /** Transactions only: every change up to and including this stamp was visible to this read. */
  completeThrough: string | undefined;
  /** Under which the service has logged the request. */
  requestId: string | undefined;
}

/** `from` is the cursor with which the page was asked for. */
export function readPage<Item extends { id: string }>(
  { body, headers }: Answer,
  from: string | undefined,
): Page<Item> {
  const { data, cursor } = (body ?? {}) as { data?: Item[]; cursor?: string };
  if (!Array.isArray(data) || (cursor !== undefined && typeof cursor !== 'string')) {
    throw new MalformedResponseError(
      'bad_shape',
      'The answer is not a page: it has no list under "data", or an unknown kind of cursor. The service may be newer than this client.',
    );
  }
  const first = data[0]?.id ?? '';
  const last = data[data.length - 1]?.id ?? '';
  // Ids rise from item to item and from page to page, and the cursor is the id of the next item.
  if (cursor !== undefined && !(first >= (from ?? '').toLowerCase() && last !== '' && cursor > last)) {
    throw new MalformedResponseError(
      'stuck_cursor',
      `The pages do not go on: the one from ${from ?? 'the start'} leads to ${cursor}. Going on would never end; tell the operator of the service.`,
    );
  }
  return {
    data,
    cursor,
    completeThrough: headers.get('Complete-Through') ?? undefined,
    requestId: headers.get('Request-Id') ?? undefined,
  };
}

/** A page of transactions for a follower, who cannot do without the stamp up to which it is complete. */
export function readChanges<Item extends { id: string }>(
  answer: Answer,
  from: string | undefined,
): Page<Item> & { completeThrough: string } {
  const { completeThrough, ...page } = readPage<Item>(answer, from);
  if (completeThrough !== undefined) return { ...page, completeThrough };
  throw new MalformedResponseError(
    'no_complete_through',
    'The answer has no Complete-Through header, without which changes could be missed. Check that no proxy removes it.',
  );
}
