// Serves an organisation's transactions from the database: pages, with the stamp through which each page is complete, and single
// transactions, always in their current version.

import { type Instant, printTimestamp } from '@offerbook/wire/timestamp.ts';
import { ApiError, ERRORS } from '../../domain/api-errors.ts';
import { ENVELOPE_START, envelopeEnd } from '../../domain/page.ts';
import {
  ALL_STAMPS,
  type StampWindow,
  type TransactionPage,
  type TransactionQuery,
  type Walk,
} from '../../domain/transaction.ts';
import { type Span, useDatabase } from '../../tracing/tracer.ts';
import { chooseCoding, compressInThread } from '../content/content-coding.ts';
import { entityTag, matchesTag } from '../content/entity-tag.ts';
import { type Exchange, linkToNext, nextSearch } from '../exchange.ts';
import { lengthOf, type Reply } from '../reply.ts';
import { withinDeadline } from './database-deadline.ts';
import { expandRetailers } from './expand-retailers.ts';
import type { Handler, Services } from './operation.ts';
import { type Expandable, PAGE_PARAMETERS } from './parameters.ts';
import { parsePathId, parseQuery } from './query.ts';

const START = Buffer.from(ENVELOPE_START);

/** Caches must not store transactions, but a client can revalidate a copy of its own. */
const PRIVATE_HEADERS = { 'Cache-Control': 'private, no-store', Vary: 'Authorization, Accept-Encoding' };

export const TRANSACTION_PARAMETERS = [
  ...PAGE_PARAMETERS,
  'updatedAtGreaterThan',
  'updatedAtLessThan',
  'passbackUid',
  'expand',
] as const;

export const TRANSACTION_ITEM_PARAMETERS = ['expand'] as const;

export function transactionsRoute({
  transactions,
  transactionQueue,
  walks,
  catalogue,
  tally,
  pageSize,
}: Services): Handler {
  return async (exchange, token) => {
    const query = parseQuery(exchange.search, TRANSACTION_PARAMETERS);
    const window = stampWindow(query.updatedAtGreaterThan, query.updatedAtLessThan);
    const limit = query.limit ?? pageSize;
    const { cursor, passbackUid, expand } = query;
    const walk: Walk = { tokenId: token.id, window, passbackUid };
    const wanted: TransactionQuery = { orgId: token.orgId, window, passbackUid, cursor, limit };
    const page = await withinDeadline(
      transactionQueue(token, () => readPage(wanted, expand, walk, exchange.span)),
    );
    const isOfAll = window.maxMs === ALL_STAMPS.maxMs && passbackUid === undefined;
    const isLastOfAll = page.cursor === undefined && isOfAll;
    tally.polled(token, isLastOfAll ? page.completeThroughMs : undefined);
    const headers: Record<string, string> = { 'Complete-Through': printTimestamp(page.completeThroughMs) };
    if (page.cursor !== undefined)
      headers.Link = linkToNext(exchange, nextSearch(exchange.search, page.cursor));
    // The parts are not concatenated, to avoid another copy of the page.
    return privateReply(exchange, headers, [START, page.data, Buffer.from(envelopeEnd(page.cursor))]);
  };

  /** Later pages of a walk show the state as of its first page, or the current state if the walk has expired. */
  async function readPage(
    query: TransactionQuery,
    expand: Expandable | undefined,
    walk: Walk,
    span: Span | undefined,
  ): Promise<TransactionPage> {
    const isFirst = query.cursor === undefined;
    const asOfMs = isFirst ? undefined : await useDatabase(span, 'SELECT', 'walks', () => walks.find(walk));
    const atLeastMs = asOfMs ?? neededMs(query.window, isFirst);
    const page = await useDatabase(span, 'SELECT', 'transactions', async () => {
      const found = await transactions.page({ ...query, asOfMs, atLeastMs });
      return expand === undefined ? found : expandRetailers(found, query.orgId, transactions, catalogue);
    });
    if (isFirst && page.cursor !== undefined)
      await useDatabase(span, 'INSERT', 'walks', () => walks.begin(walk, page.completeThroughMs));
    return page;
  }
}

/**
 * Returns the stamp through which a replica must be complete: the end of the window or, for the first page of an open
 * window, the client's lower bound. Later pages of an open window need the primary, because only the primary is certain to
 * be as recent as the earlier pages.
 */
function neededMs({ minMs, maxMs }: StampWindow, isFirst: boolean): number {
  if (maxMs < ALL_STAMPS.maxMs) return maxMs;
  return isFirst ? minMs - 1 : Number.POSITIVE_INFINITY;
}

/** Both bounds are exclusive. Stamps are whole milliseconds; bounds can have higher precision. */
function stampWindow(greaterThan: Instant | undefined, lessThan: Instant | undefined): StampWindow {
  return {
    minMs: greaterThan === undefined ? ALL_STAMPS.minMs : greaterThan.ms + 1,
    maxMs: lessThan === undefined ? ALL_STAMPS.maxMs : lessThan.finer ? lessThan.ms : lessThan.ms - 1,
  };
}

export function transactionRoute({ transactions, transactionQueue, catalogue }: Services): Handler {
  return async (exchange, token) => {
    const id = parsePathId(exchange.parameters);
    const { expand } = parseQuery(exchange.search, TRANSACTION_ITEM_PARAMETERS);
    const find = async () => {
      const data = await transactions.find(token.orgId, id);
      if (data === undefined || expand === undefined) return data;
      return (await expandRetailers({ data }, token.orgId, transactions, catalogue)).data;
    };
    const document = await withinDeadline(
      transactionQueue(token, () => useDatabase(exchange.span, 'SELECT', 'transactions', find)),
    );
    if (document === undefined)
      throw new ApiError('transaction_not_found', ERRORS.transaction_not_found.detail);
    const { headers: sent } = exchange.request;
    const tag = entityTag(document, chooseCoding(sent.get('Accept-Encoding'), document.length));
    if (!matchesTag(sent.get('If-None-Match'), tag)) return privateReply(exchange, { ETag: tag }, [document]);
    return { status: 304, headers: new Headers({ ...PRIVATE_HEADERS, ETag: tag }), body: null };
  };
}

/** Compresses the parts of a JSON body as the client prefers. */
async function privateReply(
  { request }: Exchange,
  own: Readonly<Record<string, string>>,
  body: readonly Uint8Array<ArrayBuffer>[],
): Promise<Reply> {
  const headers = new Headers({ ...PRIVATE_HEADERS, ...own, 'Content-Type': 'application/json' });
  const coding = chooseCoding(request.headers.get('Accept-Encoding'), lengthOf(body));
  if (coding === undefined) return { status: 200, headers, body };
  headers.set('Content-Encoding', coding);
  return { status: 200, headers, body: [await compressInThread(coding, Buffer.concat(body), 'fast')] };
}
