// A fake of Partnerize's API: reports of 300 rows a page in no particular order. A cursor refers to the list of rows that the
// first page was cut from. A page at an offset is cut from the current list, so rows can move between such pages.

import { MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { ACCOUNTS, basic } from './accounts.ts';
import {
  type Answer,
  driftedList,
  type FakeNetwork,
  get,
  isIn,
  json,
  type NetworkRequest,
  type NetworkRoute,
  printSpaced,
  rateHeaders,
  readCount,
  readWindow,
} from './answer.ts';
import { type Ledger, numberOf, type Programme, percent } from './ledger.ts';
import { type NetworkSale, versionAt, versionsAt } from './network-sale.ts';

const { account, credentials } = ACCOUNTS.partnerize;
const RATE = { name: 'partnerize', requests: 300, perMs: MINUTE_MS };
const PAGE_SIZE = 300;
const CURSORS_MAX = 100;
const STATUSES = { PENDING: 'pending', CONFIRMED: 'approved', DECLINED: 'rejected' } as const;

type DateOf = (ledger: Ledger, sale: NetworkSale, nowMs: number) => number | undefined;
const byLastChange: DateOf = (ledger, sale, nowMs) => ledger.changedMs(sale, nowMs);
const DATES: Readonly<Record<string, DateOf>> = {
  standard: (_ledger, { soldMs }) => soldMs,
  last_updated: byLastChange,
  last_modified: byLastChange,
  approved_at: (_ledger, sale, nowMs) =>
    versionsAt(sale, nowMs).find(({ status }) => status === 'CONFIRMED')?.atMs,
};

/** Rows of a report that the client has not read yet. */
interface Rest {
  readonly keys: readonly number[];
  readonly query: string;
}

export function fakePartnerize(ledger: Ledger, pageSize = PAGE_SIZE): FakeNetwork {
  const cursors = new Map<string, Rest>();
  const route = (path: string, answer: NetworkRoute['answer']) =>
    get(new RegExp(`^${path}/?$`), RATE, answer);
  const programme = (request: NetworkRequest, campaign: string | undefined) =>
    ledger.programmes('partnerize', request.nowMs).find((one) => campaignId(one.advertiserId) === campaign);
  return {
    name: 'partnerize',
    refuse: ({ headers }) =>
      headers.get('Authorization') === basic(credentials.applicationKey, credentials.apiKey)
        ? undefined
        : failure(401, 'Unauthorized'),
    tooMany: (waitMs, rate) => ({
      ...failure(429, 'Too many requests'),
      headers: {
        'Content-Type': 'application/json',
        ...rateHeaders(0, waitMs, rate),
        'X-RateLimit-Retry-After': String(Math.ceil(waitMs / SECOND_MS)),
      },
    }),
    rateHeaders,
    routes: [
      route(`/reporting/report_publisher/publisher/${account}/conversion\\.json`, (request) =>
        report(ledger, request, cursors, pageSize),
      ),
      route(`/user/publisher/${account}/campaign/a\\.json`, (request) =>
        listed(
          'campaigns',
          ledger.programmes('partnerize', request.nowMs).map(campaignRow),
          request,
          pageSize,
        ),
      ),
      route(`/v2/campaigns/(\\w+)/publishers/${account}/commissions/active`, (request, campaign) => {
        const found = programme(request, campaign);
        return found === undefined ? failure(404, 'No such campaign') : json(commissions(found));
      }),
      route(`/user/publisher/${account}/campaign/(\\w+)/voucher`, (request, campaign) => {
        const found = programme(request, campaign);
        if (found === undefined) return failure(404, 'No such campaign');
        return listed('voucher_codes', vouchers(found), request, pageSize);
      }),
    ],
  };
}

function failure(status: number, message: string): Answer {
  return json({ error: { message } }, status);
}

/** A list of version 1 of the API: pages have offsets, and a link to the next page. */
function listed(
  name: string,
  whole: readonly unknown[],
  { url, fault }: NetworkRequest,
  sizeMax: number,
): Answer {
  const size = Math.max(1, readCount(url.searchParams.get('limit'), sizeMax, sizeMax));
  const offset = readCount(url.searchParams.get('offset'), 0);
  const all = offset > 0 ? driftedList(whole, fault) : whole;
  const rows = all.slice(offset, offset + size);
  const query = new URLSearchParams(url.searchParams);
  query.set('offset', String(offset + size));
  const next = offset + size < all.length ? { next_page: `${url.pathname}?${query}` } : {};
  return json({
    count: rows.length,
    limit: size,
    offset,
    hypermedia: { pagination: { limit: size, ...next } },
    [name]: rows,
  });
}

function report(
  ledger: Ledger,
  { url, nowMs }: NetworkRequest,
  cursors: Map<string, Rest>,
  pageSize: number,
): Answer {
  const { searchParams } = url;
  const window = readWindow(searchParams.get('start_date'), searchParams.get('end_date'), true);
  if (window === undefined) return failure(400, 'start_date and end_date are required');
  const dateOf = DATES[searchParams.get('date_type') ?? 'standard'];
  if (dateOf === undefined) return failure(400, 'unknown date_type');
  const size = Math.max(1, readCount(searchParams.get('limit'), pageSize, pageSize));
  const sales = ledger.sales('partnerize', nowMs);
  const cursor = searchParams.get('cursor_id');
  const statuses = searchParams.getAll('statuses[]');
  const query = `${window.fromMs} ${window.toMs}`;
  let rest: Rest | undefined;
  if (cursor === null) {
    const found = sales.filter((sale) => isIn(window, dateOf(ledger, sale, nowMs)));
    const keys = found
      .sort((a, b) => Bun.hash.xxHash32(a.id) - Bun.hash.xxHash32(b.id))
      .map(({ key }) => key);
    rest = { keys: keys.slice(readCount(searchParams.get('offset'), 0)), query };
  } else rest = cursors.get(cursor);
  if (rest === undefined || rest.query !== query) return failure(400, 'the cursor is unknown or has expired');
  const wanted = new Set(rest.keys.slice(0, size));
  const rows = sales
    .filter(({ key }) => wanted.has(key))
    .map((sale) => conversionRow(ledger, sale, nowMs))
    .filter(
      ({ conversion_data: { conversion_value } }) =>
        statuses.length === 0 || statuses.includes(conversion_value.conversion_status),
    );
  const next = keepRest(cursors, { keys: rest.keys.slice(size), query });
  return json(
    {
      count: rows.length,
      limit: size,
      start_date_time_utc: printSpaced(window.fromMs),
      end_date_time_utc: printSpaced(window.toMs),
      hypermedia: { pagination: next === undefined ? { limit: size } : pagination(url, size, next) },
      conversions: rows,
    },
    200,
    next === undefined ? {} : { cursor_id: next },
  );
}

function pagination(url: URL, limit: number, cursor: string) {
  const query = new URLSearchParams(url.searchParams);
  query.delete('offset');
  query.set('cursor_id', cursor);
  return { limit, next_page: `${url.pathname}?${query}`, next_cursor_id: cursor };
}

/** The same remaining rows always get the same cursor, so a client can repeat a request. */
function keepRest(cursors: Map<string, Rest>, rest: Rest): string | undefined {
  if (rest.keys.length === 0) return undefined;
  const cursor = Bun.hash.xxHash64(`${rest.query} ${rest.keys.join(' ')}`).toString(36);
  cursors.delete(cursor);
  cursors.set(cursor, rest);
  const [oldest] = cursors.keys();
  if (cursors.size > CURSORS_MAX && oldest !== undefined) cursors.delete(oldest);
  return cursor;
}

export function conversionId({ key }: NetworkSale): string {
  return `1011l${key}`;
}

export function campaignId(advertiserId: number): string {
  return `1011l${advertiserId}`;
}

function conversionRow(ledger: Ledger, sale: NetworkSale, nowMs: number) {
  const version = versionAt(sale, nowMs);
  const [first] = sale.versions;
  const isRejected = version.status === 'DECLINED';
  // A confirmed sale with returned goods keeps its total; only the approved items count.
  const isMixed = version.status === 'CONFIRMED' && version.orderValue < first.orderValue;
  // Some rejected conversions lose their amounts, but their items keep them.
  const isEmptied = isRejected && sale.key % 2 === 0;
  const total = isMixed ? first : isEmptied ? { orderValue: 0, commission: 0 } : version;
  const status = STATUSES[version.status];
  const item = (number: number, value: number, commission: number, itemStatus: string) => ({
    conversion_item_id: `${conversionId(sale)}i${number}`,
    sku: `sku-${number}`,
    category: 'General',
    item_value: value,
    item_publisher_commission: commission,
    item_status: itemStatus,
    last_update: printSpaced(version.atMs),
    approved_at: null,
    reject_reason: itemStatus === 'rejected' ? 'Returned' : null,
    voucher_codes: [],
    payable: itemStatus === 'approved',
  });
  const returned = (whole: number, kept: number) => Number((whole - kept).toFixed(sale.decimals));
  return {
    conversion_data: {
      conversion_id: conversionId(sale),
      campaign_id: campaignId(ledger.advertiserId(sale.retailerId)),
      publisher_id: account,
      conversion_time: printSpaced(sale.soldMs),
      currency: sale.currency,
      publisher_reference: sale.subId ?? '',
      advertiser_reference: '',
      conversion_reference: `A-${sale.key}`,
      last_modified: printSpaced(version.atMs),
      customer_type: null,
      country: sale.country,
      campaign_title: 'Sandbox',
      click:
        sale.clickedMs === undefined
          ? null
          : {
              set_time: printSpaced(sale.clickedMs),
              status: 'used',
              publisher_reference: sale.subId,
              clickref: `1011l${sale.key}c`,
            },
      conversion_value: {
        conversion_status: isMixed ? 'mixed' : status,
        value: total.orderValue,
        publisher_commission: total.commission,
      },
      conversion_items: isMixed
        ? [
            item(1, version.orderValue, version.commission, 'approved'),
            item(
              2,
              returned(first.orderValue, version.orderValue),
              returned(first.commission, version.commission),
              'rejected',
            ),
          ]
        : [item(1, version.orderValue, version.commission, status)],
      was_disputed: false,
    },
  };
}

function campaignRow({ advertiserId, retailer }: Programme) {
  const [offer] = retailer.cashbackOffers;
  return {
    campaign: {
      campaign_id: campaignId(advertiserId),
      title: retailer.name,
      destination_url: retailer.url,
      campaign_logo: retailer.logo,
      description: { en: retailer.name },
      terms: { en: { terms: offer?.termsAndExclusions ?? '' } },
      default_commission_rate: String(percent(offer?.cashbackPercentage ?? 0)),
      default_currency: 'EUR',
      vertical_name: offer?.category ?? '',
      publisher_status: 'a',
    },
  };
}

function commissions({ retailer }: Programme) {
  return {
    active_commissions: retailer.cashbackOffers.map((offer) => ({
      id: String(numberOf(offer.id)),
      type: 'standard',
      description: offer.description,
      start_date: '2024-01-01T00:00:00+00:00',
      end_date: null,
      rates: [
        {
          id: account,
          scope: 'publisher',
          ...(offer.maximumFixedCommissionFee === null
            ? { performance_model: 'percentage_cpa', performance_value: percent(offer.cashbackPercentage) }
            : { performance_model: 'fixed_cpa', performance_value: offer.maximumFixedCommissionFee }),
        },
      ],
    })),
  };
}

function vouchers({ advertiserId, retailer }: Programme) {
  return retailer.coupons.map((coupon) => ({
    voucher_code: {
      active: 'y',
      campaign_id: campaignId(advertiserId),
      description: coupon.description,
      voucher_code: coupon.code,
      voucher_code_id: `1011l${numberOf(coupon.id)}`,
      start_date_time: coupon.startDate.replace('T', ' '),
      end_date_time: coupon.endDate.replace('T', ' '),
    },
  }));
}
