// A fake of Partnerize's API: reports of 300 rows a page in no particular order. A cursor refers to the list of rows that the
// first page was cut from. A page at an offset is cut from the current list, so rows can move between such pages.

import { MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import { Random } from '../random.ts';
import { ACCOUNTS, basic } from './accounts.ts';
import {
  driftedList,
  type FakeNetwork,
  linkTo,
  type NetworkRequest,
  Refusal,
  rateHeaders,
  readCount,
  readWindow,
} from './fake.ts';
import type { Programme } from './ledger.ts';
import { changedMs, type NetworkSale, versionAt } from './network-sale.ts';

const { applicationKey, apiKey } = ACCOUNTS.partnerize.credentials;
const PAGE_SIZE = 300;
const STATUSES = { PENDING: 'pending', CONFIRMED: 'approved', DECLINED: 'rejected' } as const;
/** Our names of the date filters. */
const FILTERS: Readonly<Record<string, string>> = {
  standard: 'sale',
  last_updated: 'changes',
  last_modified: 'changes',
};

export const partnerize: FakeNetwork = {
  rate: { requests: 300, perMs: MINUTE_MS },
  listSale: (sale, nowMs) => [
    {
      times: { sale: sale.soldMs, changes: changedMs(sale, nowMs) },
      row: () => conversionRow(sale, nowMs),
    },
  ],
  isAuthorised: ({ headers }) => headers.get('Authorization') === basic(applicationKey, apiKey),
  failure: (status, message) => Response.json({ error: { message } }, { status }),
  rateHeaders: (left, waitMs, rate) => ({
    ...rateHeaders(left, waitMs, rate),
    ...(left === 0 && { 'X-RateLimit-Retry-After': String(Math.ceil(waitMs / SECOND_MS)) }),
  }),
  routes: {
    'GET /reporting/report_publisher/publisher/{account}/conversion.json': report,
    'GET /user/publisher/{account}/campaign/a.json': (request) =>
      list('campaigns', request.programmes().map(campaignRow), request),
    'GET /v2/campaigns/*/publishers/{account}/commissions/active': (request) =>
      Response.json(commissions(programmeOf(request))),
    'GET /user/publisher/{account}/campaign/*/voucher': (request) =>
      list('voucher_codes', vouchers(programmeOf(request)), request),
  },
};

function programmeOf({ segment, programmes }: NetworkRequest): Programme {
  const found = programmes().find(({ advertiserId }) => campaignId(advertiserId) === segment);
  if (found === undefined) throw new Refusal(404, 'No such campaign');
  return found;
}

function readLimit({ url, options: { pageSizeMax = PAGE_SIZE } }: NetworkRequest): number {
  return Math.max(1, readCount(url.searchParams.get('limit'), pageSizeMax, pageSizeMax));
}

/** A list of version 1 of the API: pages have offsets, and a link to the next page. */
function list(name: string, whole: readonly unknown[], request: NetworkRequest): Response {
  const { url, fault } = request;
  const limit = readLimit(request);
  const offset = readCount(url.searchParams.get('offset'), 0);
  const all = offset > 0 ? driftedList(whole, fault) : whole;
  const end = offset + limit;
  const next = end < all.length ? { next_page: linkTo(url, { offset: String(end) }) } : {};
  return Response.json({ hypermedia: { pagination: { limit, ...next } }, [name]: all.slice(offset, end) });
}

function report(request: NetworkRequest): Response {
  const { url, nowMs, listed } = request;
  const { searchParams } = url;
  const window = readWindow(searchParams, 'start_date', 'end_date', '');
  const filter = FILTERS[searchParams.get('date_type') ?? 'standard'];
  if (filter === undefined) throw new Refusal(400, 'unknown date_type');
  const limit = readLimit(request);
  // A cursor contains the time of the first page, because the ledger can list the rows of any time.
  const cursor = searchParams.get('cursor_id');
  const [, firstMs, place] = /^(\d+)l(\d+)$/.exec(cursor ?? `${nowMs}l0`) ?? [];
  if (place === undefined) throw new Refusal(400, 'the cursor is unknown or has expired');
  const found = listed({ [filter]: window }, Number(firstMs));
  const all = new Random(`${filter} ${window.fromMs} ${window.toMs}`).shuffled(found);
  const start = Number(place);
  const end = start + limit;
  const next = end < all.length ? `${firstMs}l${end}` : undefined;
  const link = next && { next_page: linkTo(url, { cursor_id: next }), next_cursor_id: next };
  const conversions = all.slice(start, end).map(({ row }) => row());
  const body = { hypermedia: { pagination: { limit, ...link } }, conversions };
  return Response.json(body, { headers: next === undefined ? {} : { cursor_id: next } });
}

export function conversionId({ key }: NetworkSale): string {
  return `1011l${key}`;
}

export function campaignId(advertiserId: number): string {
  return `1011l${advertiserId}`;
}

/** `2026-11-14 12:00:00` */
function printSpaced(ms: number): string {
  return printSecond(ms).replace('T', ' ');
}

function conversionRow(sale: NetworkSale, nowMs: number) {
  const version = versionAt(sale, nowMs);
  const [first] = sale.versions;
  const isRejected = version.status === 'DECLINED';
  // A confirmed sale with returned goods keeps its total; only the approved items count.
  const isMixed = version.status === 'CONFIRMED' && version.orderValue < first.orderValue;
  // Some rejected conversions lose their amounts, but their items keep them.
  const isEmptied = isRejected && sale.key % 2 === 0;
  const total = isMixed ? first : isEmptied ? { orderValue: 0, commission: 0 } : version;
  const status = STATUSES[version.status];
  const item = (value: number, commission: number, itemStatus: string) => ({
    item_value: value,
    item_publisher_commission: commission,
    item_status: itemStatus,
  });
  const returned = (whole: number, kept: number) => Number((whole - kept).toFixed(sale.decimals));
  const [value, commission] = [
    returned(first.orderValue, version.orderValue),
    returned(first.commission, version.commission),
  ];
  return {
    conversion_data: {
      conversion_id: conversionId(sale),
      campaign_id: campaignId(sale.advertiserId),
      conversion_time: printSpaced(sale.soldMs),
      currency: sale.currency,
      publisher_reference: sale.subId ?? '',
      last_modified: printSpaced(version.atMs),
      country: sale.country,
      click: sale.clickedMs === undefined ? null : { set_time: printSpaced(sale.clickedMs) },
      conversion_value: {
        conversion_status: isMixed ? 'mixed' : status,
        value: total.orderValue,
        publisher_commission: total.commission,
      },
      conversion_items: [
        item(version.orderValue, version.commission, status),
        ...(isMixed ? [item(value, commission, 'rejected')] : []),
      ],
    },
  };
}

function campaignRow({ advertiserId, retailer, offers }: Programme) {
  const [offer] = retailer.cashbackOffers;
  return {
    campaign: {
      campaign_id: campaignId(advertiserId),
      title: retailer.name,
      destination_url: retailer.url,
      campaign_logo: retailer.logo,
      terms: { en: { terms: offer?.termsAndExclusions ?? '' } },
      default_commission_rate: String(offers[0]?.percent ?? 0),
      default_currency: 'EUR',
      vertical_name: offer?.category ?? '',
      publisher_status: 'a',
    },
  };
}

function commissions({ offers }: Programme) {
  return {
    active_commissions: offers.map(({ number, description, fixed, percent }) => ({
      id: String(number),
      description,
      rates: [
        {
          id: ACCOUNTS.partnerize.account,
          ...(fixed === null
            ? { performance_model: 'percentage_cpa', performance_value: percent }
            : { performance_model: 'fixed_cpa', performance_value: fixed }),
        },
      ],
    })),
  };
}

function vouchers({ advertiserId, coupons }: Programme) {
  return coupons.map(({ number, code, description, startDate, endDate }) => ({
    voucher_code: {
      active: 'y',
      campaign_id: campaignId(advertiserId),
      description,
      voucher_code: code,
      voucher_code_id: `1011l${number}`,
      start_date_time: startDate.replace('T', ' '),
      end_date_time: endDate.replace('T', ' '),
    },
  }));
}
