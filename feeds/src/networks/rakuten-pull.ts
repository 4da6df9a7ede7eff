// Rakuten Advertising's requests. Sales: events by the date on which the network processed them. The network keeps events for a
// short time, so a pull that pauses for weeks loses sales. Catalogue: all advertisers, the partnerships (other advertisers are left
// out), offers and coupons.

import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import {
  ACCEPT_JSON,
  ACCEPT_XML,
  type AccessToken,
  bearerAuthorisation,
  type CatalogueList,
  type CataloguePull,
  get,
  numberedPages,
  printSpacedSecond,
  type SalePull,
  stream,
} from '../pull/network-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

const ORIGIN = 'https://api.linksynergy.com';
const PAGE_SIZE = 1_000;
const CATALOGUE_PAGE_SIZE = 200;
const COUPONS_PER_PAGE = 500;

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

export function pullSales({ account, transactionType, confirmAfterDays }: SourceOf<'rakuten'>): SalePull {
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
    request: (_stream, { fromMs, toMs }, position = '1') =>
      get(`${ORIGIN}/events/1.0/transactions`, {
        process_date_start: printSpacedSecond(fromMs),
        process_date_end: printSpacedSecond(toMs),
        limit: String(PAGE_SIZE),
        page: position,
        ...(transactionType === undefined || transactionType === 'any' ? {} : { type: transactionType }),
      }),
    next: ({ rowCount }, position = '1') => (rowCount < PAGE_SIZE ? undefined : String(Number(position) + 1)),
    authorise: ({ accessToken = '' }) => bearerAuthorisation(accessToken),
    login: {
      request: ({ clientId, clientSecret }) => ({
        method: 'POST',
        url: `${ORIGIN}/token`,
        headers: {
          ...ACCEPT_JSON,
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

export function pullCatalogue(): CataloguePull {
  // The number of the first page is 0 in some lists and 1 in others, so the first request omits it.
  const list = (feed: string, path: string, query: Readonly<Record<string, string>> = {}): CatalogueList => ({
    feed,
    ...numberedPages,
    request: (page) => {
      const limit = String(CATALOGUE_PAGE_SIZE);
      return get(`${ORIGIN}${path}`, { ...query, limit, ...(page === undefined ? {} : { page }) });
    },
  });
  return {
    lists: [
      list('advertisers', '/v2/advertisers'),
      list('partnerships', '/v1/partnerships', { partner_status: 'active' }),
      list('offers', '/v1/offers', { offer_status: 'active' }),
      {
        feed: 'coupons',
        ...numberedPages,
        request: (position = '1') =>
          get(
            `${ORIGIN}/coupon/1.0`,
            { resultsperpage: String(COUPONS_PER_PAGE), pagenumber: position },
            ACCEPT_XML,
          ),
      },
    ],
  };
}
