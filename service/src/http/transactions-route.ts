// Serves an organisation's transactions from the database, with the stamp up to which the answer is complete.

import type { AccessToken } from '../domain/access-token.ts';
import { DatabaseUnavailable } from '../domain/errors.ts';
import { printEnvelope } from '../domain/page.ts';
import type { StampWindow, TransactionStore } from '../domain/stores.ts';
import { type Instant, printTimestamp } from '../domain/timestamp.ts';
import { unavailable } from './authenticate.ts';
import { chooseCoding, compress } from './content-coding.ts';
import { type Exchange, nextLink } from './exchange.ts';
import { TRANSACTION_PARAMETERS } from './operations.ts';
import { parseQuery } from './query.ts';
import type { Reply } from './reply.ts';
import { type Walk, WalkPins } from './walk-pins.ts';

/** A database that has not answered by then counts as away, even if its connection is still open. */
const DEADLINE_MS = 2_000;
const EARLIEST_MS = -8.64e15;
const LATEST_MS = 8.64e15;

export function transactionsRoute(store: Pick<TransactionStore, 'page'>, pageSize: number) {
  const pins = new WalkPins();

  return async (exchange: Exchange, token: AccessToken): Promise<Reply> => {
    const query = parseQuery(exchange.search, TRANSACTION_PARAMETERS);
    const asked = stampWindow(query.updatedAtGreaterThan, query.updatedAtLessThan);
    const walk: Walk = { tokenId: token.id, filters: `${asked.minMs} ${asked.maxMs}` };
    const pinnedMs = query.cursor === undefined ? undefined : pins.find(walk, query.cursor);
    const window = pinnedMs === undefined ? asked : { ...asked, maxMs: Math.min(asked.maxMs, pinnedMs) };

    const page = await withinDeadline(
      store.page({ orgId: token.orgId, cursor: query.cursor, window, limit: query.limit ?? pageSize }),
    );
    const completeThroughMs = Math.min(page.completeThroughMs, pinnedMs ?? LATEST_MS);
    // A walk is open when changes may still come into its window. Only its first page, or one of a pinned walk, pins the next.
    const open = asked.maxMs > completeThroughMs;
    if (page.cursor !== undefined && open && (query.cursor === undefined || pinnedMs !== undefined)) {
      pins.set(walk, page.cursor, completeThroughMs);
    }
    const headers: Record<string, string> = {
      'Content-Type': 'application/json',
      'Cache-Control': 'private, no-store',
      Vary: 'Authorization, Accept-Encoding',
      'Complete-Through': printTimestamp(completeThroughMs),
    };
    if (page.cursor !== undefined) headers.Link = nextLink(exchange, page.cursor);
    const body = Buffer.from(printEnvelope(page.documents, page.cursor));
    const coding = chooseCoding(exchange.request.headers.get('Accept-Encoding'), body.length);
    if (coding === undefined) return { status: 200, headers, body };
    headers['Content-Encoding'] = coding;
    return { status: 200, headers, body: compress(coding, body) };
  };
}

/** Both bounds are strict and honoured to the last digit: stamps are whole milliseconds, the bounds may be finer. */
export function stampWindow(greaterThan: Instant | undefined, lessThan: Instant | undefined): StampWindow {
  return {
    minMs: greaterThan === undefined ? EARLIEST_MS : greaterThan.ms + 1,
    maxMs: lessThan === undefined ? LATEST_MS : lessThan.finer ? lessThan.ms : lessThan.ms - 1,
  };
}

async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DatabaseUnavailable('the database did not answer in time')),
      DEADLINE_MS,
    );
  });
  try {
    return await Promise.race([work, deadline]);
  } catch (error) {
    throw error instanceof DatabaseUnavailable ? unavailable(error) : error;
  } finally {
    clearTimeout(timer);
  }
}
