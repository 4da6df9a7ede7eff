// Rakuten Advertising: fetching events by the date on which the network processed them. The network keeps events for a short
// time, so a pull that pauses for weeks loses sales.

import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { type AccessToken, bearerAuthorisation } from '../pull/network-access.ts';
import { printSecond, type SalePull, stream } from '../pull/sale-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

export const ORIGIN = 'https://api.linksynergy.com';
const PAGE_SIZE = 1_000;

/** The fields that the conversion reads, without the sub-id. */
const FIELDS = [
  'etransaction_id',
  'advertiser_id',
  'order_id',
  'offer_id',
  'sale_amount',
  'commissions',
  'process_date',
  'transaction_date',
  'transaction_type',
  'currency',
  'is_event',
];

export function rakutenPull({ account, transactionType, confirmAfterDays }: SourceOf<'rakuten'>): SalePull {
  return {
    parts: {
      fields: FIELDS,
      subIdField: 'u1',
      dueAfterMs: confirmAfterDays === undefined ? undefined : confirmAfterDays * DAY_MS,
    },
    // Both ends of a window must be within the last 30 days, but rows disappear after one to two weeks.
    streams: [stream('process', 29, { historyMs: 29 * DAY_MS, keptMs: 7 * DAY_MS })],
    // Not published.
    rate: { requests: 60, perMs: MINUTE_MS },
    tooManyStatuses: [403],
    request: (_stream, { fromMs, toMs }, position) => {
      const query = new URLSearchParams({
        process_date_start: printTime(fromMs),
        process_date_end: printTime(toMs),
        limit: String(PAGE_SIZE),
        page: position ?? '1',
        ...(transactionType === undefined || transactionType === 'any' ? {} : { type: transactionType }),
      });
      return {
        method: 'GET',
        url: `${ORIGIN}/events/1.0/transactions?${query}`,
        headers: { Accept: 'application/json' },
      };
    },
    next: ({ rowCount }, position) =>
      rowCount < PAGE_SIZE ? undefined : String(Number(position ?? '1') + 1),
    authorise: ({ accessToken = '' }) => bearerAuthorisation(accessToken),
    login: {
      request: ({ clientId, clientSecret }) => ({
        method: 'POST',
        url: `${ORIGIN}/token`,
        headers: {
          Accept: 'application/json',
          'Content-Type': 'application/x-www-form-urlencoded',
          ...bearerAuthorisation(Buffer.from(`${clientId}:${clientSecret}`).toString('base64')),
        },
        body: new URLSearchParams({ scope: account }).toString(),
      }),
      read: readToken,
    },
  };
}

function readToken(body: string): AccessToken | undefined {
  try {
    const { access_token: token, expires_in: seconds } = JSON.parse(body);
    const lifetimeMs = Number(seconds) * 1_000;
    // The token becomes a header, which allows only these characters.
    return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) && lifetimeMs > 0
      ? { token, lifetimeMs }
      : undefined;
  } catch {
    return undefined;
  }
}

function printTime(ms: number): string {
  return printSecond(ms).replace('T', ' ');
}
