// Recent transaction changes and webhooks for the sandbox's explorer. The page polls this route without a token, so the private
// token never reaches the browser. Only the sandbox, whose data is synthetic, has this route.

import type { Retailer } from '@offerbook/sandbox/wire.ts';
import { parseTimestamp, printTimestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { ApiError } from '../../../domain/api-errors.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { Organisation } from '../../../domain/organisation.ts';
import type { Stores } from '../../../domain/stores.ts';
import { json } from '../../../http/reply.ts';
import type { Route } from '../../../http/router.ts';
import type { Delivery } from './toy-receiver.ts';

export const FEED_PATH = '/sandbox/transactions';

/** Time range that the first response covers. */
const FIRST_WINDOW_MS = 10 * 60_000;
/** Maximum number of rows in a response; the explorer shows fewer. */
const ROWS_MAX = 100;

interface FeedSource {
  readonly stores: Pick<Stores, 'transactions' | 'history'>;
  readonly org: Organisation;
  readonly findRetailer: (id: string) => Retailer | undefined;
  readonly clock: Clock;
  /** The last webhooks that the toy receiver has stored, newest first. */
  readonly deliveries: () => readonly Delivery[];
}

export function transactionFeed({ stores, org, findRetailer, clock, deliveries }: FeedSource): Route {
  const { transactions, history } = stores;
  return {
    method: 'GET',
    path: FEED_PATH,
    openToBrowsers: false,
    async answer({ search }) {
      const sinceMs = parseSince(search) ?? clock() - FIRST_WINDOW_MS;
      const since = { orgId: org.id, window: { minMs: sinceMs + 1, maxMs: Number.MAX_SAFE_INTEGER } };
      const { completeThroughMs } = await transactions.page({ ...since, limit: 1 });
      // Later changes are part of the next response.
      const window = { ...since.window, maxMs: completeThroughMs };
      const newest = await history.latest({ ...since, window, limit: ROWS_MAX });
      const retailerIds = await transactions.findRetailers(
        newest.map(({ id }) => id),
        org.id,
      );
      // As with expand=retailer.
      const data = newest.map((version) => {
        const { id, name, hostname, logo } = findRetailer(retailerIds.get(version.id) ?? '') ?? {};
        return {
          ...JSON.parse(version.document),
          retailer: id === undefined ? null : { id, name, hostname, logo },
        };
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
