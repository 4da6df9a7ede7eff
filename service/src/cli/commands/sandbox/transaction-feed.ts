// Recent transaction changes and webhooks for the sandbox's explorer. The page polls this route without a token, so the private token
// never reaches the browser. Only the sandbox, whose data is synthetic, has this route.

import type { Retailer } from '@offerbook/sandbox/wire.ts';
import { parseTimestamp, printTimestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { ApiError } from '../../../domain/api-errors.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { TransactionPage, TransactionStore } from '../../../domain/transaction.ts';
import { json } from '../../../http/reply.ts';
import type { Route } from '../../../http/router.ts';
import type { Delivery } from './toy-receiver.ts';

export const FEED_PATH = '/sandbox/transactions';

/** Time range that the first response covers. */
const FIRST_WINDOW_MS = 10 * 60_000;
const PAGE_SIZE = 1_000;
/** Maximum number of rows in a response; the explorer shows fewer. */
const ROWS_MAX = 100;

interface FeedSource {
  readonly transactions: TransactionStore;
  readonly org: Organisation;
  readonly findRetailer: (id: string) => Retailer | undefined;
  readonly clock: Clock;
  /** The last webhooks that the toy receiver has stored, newest first. */
  readonly deliveries: () => readonly Delivery[];
}

export function transactionFeed({ transactions, org, findRetailer, clock, deliveries }: FeedSource): Route {
  return {
    method: 'GET',
    path: FEED_PATH,
    openToBrowsers: false,
    async answer({ search }) {
      const sinceMs = parseSince(search) ?? clock() - FIRST_WINDOW_MS;
      const { rows, completeThroughMs } = await walk(transactions, org.id, sinceMs);
      const newest = rows.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1)).slice(0, ROWS_MAX);
      const retailerIds = await transactions.findRetailers(
        newest.map(({ id }) => id),
        org.id,
      );
      // As with expand=retailer.
      const data = newest.map((transaction) => {
        const { id, name, hostname, logo } = findRetailer(retailerIds.get(transaction.id) ?? '') ?? {};
        return { ...transaction, retailer: id === undefined ? null : { id, name, hostname, logo } };
      });
      const completeThrough = printTimestamp(completeThroughMs);
      const body = { data, completeThrough, deliveries: deliveries() };
      return json(200, body, { 'Cache-Control': 'no-store' });
    },
  };
}

/** The completeThrough of the client's previous response; undefined on its first request. */
function parseSince(search: string): number | undefined {
  const since = new URLSearchParams(search).get('since');
  if (since === null) return undefined;
  const timestamp = parseTimestamp(since);
  if (timestamp === undefined) {
    const detail = 'must be the completeThrough of an earlier response';
    throw new ApiError('invalid_parameter', `since ${detail}.`, { errors: [{ parameter: 'since', detail }] });
  }
  return timestampMs(timestamp);
}

/** Reads every page of changes since `sinceMs`, and returns the smallest completeThroughMs of the pages. */
async function walk(transactions: TransactionStore, orgId: number, sinceMs: number) {
  const window = { minMs: sinceMs + 1, maxMs: Number.MAX_SAFE_INTEGER };
  const rows: Transaction[] = [];
  let completeThroughMs = Number.POSITIVE_INFINITY;
  let cursor: TransactionPage['cursor'];
  do {
    const page = await transactions.page({ orgId, cursor, window, limit: PAGE_SIZE });
    rows.push(...(JSON.parse(`[${new TextDecoder().decode(page.data)}]`) as Transaction[]));
    completeThroughMs = Math.min(completeThroughMs, page.completeThroughMs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { rows, completeThroughMs };
}
