// A fake of Partnerize's API: reports of 300 rows a page in no particular order. A cursor refers to the list of rows that the
// first page was cut from. A page at an offset is cut from the current list, so rows can move between such pages.

import { MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { Random } from '../random.ts';
import { ACCOUNTS, basic } from './accounts.ts';
import {
  type Answer,
  driftedList,
  type FakeContext,
  type FakeNetwork,
  get,
  json,
  type ListedRow,
  linkTo,
  type NetworkRequest,
  printSpaced,
  Refusal,
  rateHeaders,
  readCount,
  readWindow,
} from './fake.ts';
import { type Ledger, numberOf, type Programme, percent } from './ledger.ts';
import { type NetworkSale, versionAt } from './network-sale.ts';

const { account, credentials } = ACCOUNTS.partnerize;
const PAGE_SIZE = 300;
const CURSORS_MAX = 100;
const STATUSES = { PENDING: 'pending', CONFIRMED: 'approved', DECLINED: 'rejected' } as const;
/** Our names of the date filters. */
const FILTERS: Readonly<Record<string, string>> = {
  standard: 'sale',
  last_updated: 'changes',
  last_modified: 'changes',
};

/** Rows of a report that the client has not read yet. */
interface Rest {
  readonly rows: readonly ListedRow[];
  readonly query: string;
}

export function fakePartnerize(context: FakeContext): FakeNetwork {
  const { ledger, pageSizeMax = PAGE_SIZE } = context;
  const cursors = new Map<string, Rest>();
  const path = `publisher/${context.account}`;
  const programme = (request: NetworkRequest, campaign: string) => {
    const programmes = ledger.programmes('partnerize', request.nowMs);
    const found = programmes.find(({ advertiserId }) => campaignId(advertiserId) === campaign);
    if (found === undefined) throw new Refusal(404, 'No such campaign');
    return found;
  };
  return {
    rate: { name: 'partnerize', requests: 300, perMs: MINUTE_MS },
    listSale: (sale, nowMs) => listSale(ledger, sale, nowMs),
    isAuthorised: ({ headers }) =>
      headers.get('Authorization') === basic(credentials.applicationKey, credentials.apiKey),
    failure: (status, message) => json({ error: { message } }, status),
    rateHeaders: (left, waitMs, rate) => ({
      ...rateHeaders(left, waitMs, rate),
      ...(left === 0 && { 'X-RateLimit-Retry-After': String(Math.ceil(waitMs / SECOND_MS)) }),
    }),
    routes: [
      get(`/reporting/report_publisher/${path}/conversion.json`, (request) =>
        report(context, request, cursors),
      ),
      get(`/user/${path}/campaign/a.json`, (request) => {
        const campaigns = ledger.programmes('partnerize', request.nowMs).map(campaignRow);
        return listed('campaigns', campaigns, request, pageSizeMax);
      }),
      get(`/v2/campaigns/*/publishers/${context.account}/commissions/active`, (request, campaign) =>
        json(commissions(programme(request, campaign))),
      ),
      get(`/user/${path}/campaign/*/voucher`, (request, campaign) =>
        listed('voucher_codes', vouchers(programme(request, campaign)), request, pageSizeMax),
      ),
    ],
  };
}

/** A list of version 1 of the API: pages have offsets, and a link to the next page. */
function listed(
  name: string,
  whole: readonly unknown[],
  { url, fault }: NetworkRequest,
  sizeMax: number,
): Answer {
  const limit = Math.max(1, readCount(url.searchParams.get('limit'), sizeMax, sizeMax));
  const offset = readCount(url.searchParams.get('offset'), 0);
  const all = offset > 0 ? driftedList(whole, fault) : whole;
  const rows = all.slice(offset, offset + limit);
  const end = offset + limit;
  const next = end < all.length ? { next_page: linkTo(url, { offset: String(end) }) } : {};
  return json({
    ...{ count: rows.length, limit, offset },
    hypermedia: { pagination: { limit, ...next } },
    [name]: rows,
  });
}

function report(context: FakeContext, request: NetworkRequest, cursors: Map<string, Rest>): Answer {
  const { url, nowMs } = request;
  const { searchParams } = url;
  const window = readWindow((name) => searchParams.get(name), 'start_date', 'end_date', { isZoned: true });
  const filter = FILTERS[searchParams.get('date_type') ?? 'standard'];
  if (filter === undefined) throw new Refusal(400, 'unknown date_type');
  const { pageSizeMax = PAGE_SIZE } = context;
  const limit = Math.max(1, readCount(searchParams.get('limit'), pageSizeMax, pageSizeMax));
  const query = `${filter} ${window.fromMs} ${window.toMs}`;
  const cursor = searchParams.get('cursor_id');
  const rest = cursor === null ? undefined : cursors.get(cursor);
  if (cursor !== null && rest?.query !== query)
    throw new Refusal(400, 'the cursor is unknown or has expired');
  const offset = readCount(searchParams.get('offset'), 0);
  const all = rest?.rows ?? new Random(query).shuffled(context.listed(request, { [filter]: window }));
  const left = rest === undefined ? all.slice(offset) : all;
  const rows = left.slice(0, limit).map(({ row }) => row(nowMs));
  const next = keepRest(cursors, { rows: left.slice(limit), query });
  const link = next && { next_page: linkTo(url, { cursor_id: next }), next_cursor_id: next };
  const body = {
    ...{ count: rows.length, limit },
    start_date_time_utc: printSpaced(window.fromMs),
    end_date_time_utc: printSpaced(window.toMs),
    hypermedia: { pagination: { limit, ...link } },
    conversions: rows,
  };
  return json(body, 200, next === undefined ? {} : { cursor_id: next });
}

/** Keeps the rows of the next pages under a new cursor, and forgets the oldest of too many cursors. */
function keepRest(cursors: Map<string, Rest>, rest: Rest): string | undefined {
  if (rest.rows.length === 0) return undefined;
  const cursor = crypto.randomUUID().replaceAll('-', '');
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

function listSale(ledger: Ledger, sale: NetworkSale, nowMs: number): ListedRow[] {
  const times = { sale: sale.soldMs, changes: ledger.changedMs(sale, nowMs) };
  return [{ times, row: (atMs) => conversionRow(ledger, sale, atMs) }];
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
    item_value: value,
    item_publisher_commission: commission,
    item_status: itemStatus,
    last_update: printSpaced(version.atMs),
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
      conversion_reference: `A-${sale.key}`,
      last_modified: printSpaced(version.atMs),
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
