// Reads one response of a network: its rows, and what determines how the walk continues.

import { peek } from '@offerbook/wire/rows/peek.ts';
import type { Fields } from '../fields.ts';
import type { FeedRow, FeedShape, PageInfo } from '../formats/feed-row.ts';
import { readFeed } from '../formats/read-feed.ts';
import { NetworkError, type PageRules, type PulledPage, unexpected } from './network-pull.ts';

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
