// Reads one response of a network: its rows, and what determines how the walk continues.

import { peek } from '@offerbook/wire/rows/peek.ts';
import type { Fields } from '../fields.ts';
import type { FeedRow, FeedShape, PageInfo } from '../formats/feed-row.ts';
import { readFeed } from '../formats/read-feed.ts';
import { NetworkError, unexpected } from './network-access.ts';

/** What a network sends besides the documents that its feeds describe. */
export interface PageRules {
  /** True if the response is one row instead of a list. */
  readonly isOneRow?: boolean;
  /** True if the body means "no rows" although it is not the usual document. */
  isNothing?(body: string): boolean;
  /** True if a response with status 200 is an error that repeating the request cannot fix. */
  readonly errorsAreFinal?: boolean;
}

export interface PulledPage {
  readonly rowCount: number;
  /** The fields of the response outside its rows; undefined if the response is a bare list. */
  readonly response: Fields | undefined;
  readonly info: PageInfo;
  readonly header: (name: string) => string | null;
}

/** Longer than every body that means "no rows". */
const NOTHING_BYTES_MAX = 100;

/**
 * Passes the rows to `onRows` in batches. Returns undefined if the body means "no rows". Throws BrokenFile if the response is
 * truncated or is not the expected document.
 */
export async function readPage(
  body: AsyncIterable<Uint8Array>,
  header: PulledPage['header'],
  shape: FeedShape,
  { isOneRow = false, isNothing, errorsAreFinal }: PageRules,
  onRows: (rows: readonly FeedRow[]) => Promise<void> | void,
): Promise<PulledPage | undefined> {
  const { head, all } = await peek(body, NOTHING_BYTES_MAX);
  if (head.length < NOTHING_BYTES_MAX && isNothing?.(Buffer.from(head).toString())) return undefined;
  let response: Fields | undefined;
  let info: PageInfo = {};
  const readPageInfo = (fields: Fields) => {
    response = fields;
    info = shape.readPageInfo?.(fields) ?? {};
    if (info.error !== undefined && errorsAreFinal === true) throw new NetworkError(info.error);
    return info;
  };
  let rowCount = 0;
  for await (const rows of readFeed(all, { ...shape, readPageInfo }, () => {})) {
    // A single object is not a row of a list, but a document that the network should not send.
    if (rows.some(({ place }) => (place.item === undefined) !== isOneRow)) throw unexpected();
    rowCount += rows.length;
    await onRows(rows);
  }
  const isEnveloped = shape.json === undefined || shape.json.length > 0;
  if ((isOneRow && rowCount !== 1) || (isEnveloped && response === undefined)) throw unexpected();
  return { rowCount, response, info, header };
}
