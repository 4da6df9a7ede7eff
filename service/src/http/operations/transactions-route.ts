// Serves an organisation's transactions from the database, with the stamp up to which the answer is complete.

import { type Instant, printTimestamp } from '@offerbook/wire/timestamp.ts';
import { ENVELOPE_START, envelopeEnd } from '../../domain/page.ts';
import type { StampWindow, TransactionPage, TransactionQuery } from '../../domain/transaction.ts';
import type { Walk } from '../../domain/walk.ts';
import { type Span, useDatabase } from '../../tracing/tracer.ts';
import { chooseCoding, compressAside } from '../content/content-coding.ts';
import { lengthOf } from '../content/response-body.ts';
import { nextLink } from '../exchange.ts';
import { withinDeadline } from './database-deadline.ts';
import type { Answer, ListedItem, Services } from './operation.ts';
import { listQueryReader, PAGE_PARAMETERS } from './query.ts';
import { Turnstile } from './turnstile.ts';

/**
 * Two for each connection that a server has for them. PostgreSQL then finds the next page waiting when it has read one,
 * and gives a fifth more of them than if it were asked for one at a time.
 */
export const PAGES_AT_ONCE_MAX = 14;
/**
 * Pollers like to come all at once, so they may wait. Those for whom it takes too long are not told sooner than
 * this: clients that ask again at once, thousands of them, would otherwise drown the service in refusals.
 */
const WAITING = { waitingMax: 10_000, waitMaxMs: 500 };
const START = Buffer.from(ENVELOPE_START);
const EARLIEST_MS = -8.64e15;
const LATEST_MS = 8.64e15;

export const TRANSACTION_PARAMETERS = [
  ...PAGE_PARAMETERS,
  'updatedAtGreaterThan',
  'updatedAtLessThan',
] as const;

export function transactionsRoute(
  { transactions, walks, callers, pageSize }: Services,
  item: ListedItem,
): Answer {
  const readQuery = listQueryReader(TRANSACTION_PARAMETERS, item);
  const turnstile = new Turnstile({ runningMax: PAGES_AT_ONCE_MAX, ...WAITING });

  return async (exchange, token) => {
    const query = await readQuery(exchange.search);
    const asked = stampWindow(query.updatedAtGreaterThan, query.updatedAtLessThan);
    const limit = query.limit ?? pageSize;
    const walk: Walk = { tokenId: token.id, window: asked };
    const wanted: TransactionQuery = { orgId: token.orgId, window: asked, cursor: query.cursor, limit };
    const page = await withinDeadline(turnstile.run(token, () => readPage(wanted, walk, exchange.span)));
    const isLastOfAll = page.cursor === undefined && asked.maxMs === LATEST_MS;
    callers.polled(token, isLastOfAll ? page.completeThroughMs : undefined);
    const headers: Record<string, string> = {
      'Content-Type': 'application/json',
      'Cache-Control': 'private, no-store',
      Vary: 'Authorization, Accept-Encoding',
      'Complete-Through': printTimestamp(page.completeThroughMs),
    };
    if (page.cursor !== undefined) headers.Link = nextLink(exchange, page.cursor);
    // Not put together here: that would be one more copy, and a tenth of the time of a request from SQLite.
    const body = [START, page.data, Buffer.from(envelopeEnd(page.cursor))];
    const coding = chooseCoding(exchange.request.headers.get('Accept-Encoding'), lengthOf(body));
    if (coding === undefined) return { status: 200, headers, body };
    headers['Content-Encoding'] = coding;
    return { status: 200, headers, body: [await compressAside(coding, Buffer.concat(body))] };
  };

  /** A later page shows the state of the first one; that of now, when nobody knows any more when that was. */
  async function readPage(
    query: TransactionQuery,
    walk: Walk,
    span: Span | undefined,
  ): Promise<TransactionPage> {
    const isFirst = query.cursor === undefined;
    const asOfMs = isFirst ? undefined : await useDatabase(span, 'SELECT', 'walks', () => walks.find(walk));
    const atLeastMs = asOfMs ?? neededMs(query.window, isFirst);
    const page = await useDatabase(span, 'SELECT', 'transactions', () =>
      transactions.page({ ...query, asOfMs, atLeastMs }),
    );
    if (isFirst && page.cursor !== undefined)
      await useDatabase(span, 'INSERT', 'walks', () => walks.begin(walk, page.completeThroughMs));
    return page;
  }
}

/**
 * What a replica must have. A window with an end may be thought to be complete. Without one, a first page waits only for what
 * is newer than the caller's own lower bound; for a later one, only the primary is sure to have all that an earlier page has
 * spoken of.
 */
function neededMs({ minMs, maxMs }: StampWindow, isFirst: boolean): number {
  if (maxMs < LATEST_MS) return maxMs;
  return isFirst ? minMs - 1 : Number.POSITIVE_INFINITY;
}

/** Both bounds are strict and honoured to the last digit: stamps are whole milliseconds, the bounds may be finer. */
function stampWindow(greaterThan: Instant | undefined, lessThan: Instant | undefined): StampWindow {
  return {
    minMs: greaterThan === undefined ? EARLIEST_MS : greaterThan.ms + 1,
    maxMs: lessThan === undefined ? LATEST_MS : lessThan.finer ? lessThan.ms : lessThan.ms - 1,
  };
}
