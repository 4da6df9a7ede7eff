// A fake of Rakuten Advertising's API: short-lived tokens, 403 for too many requests, and one row per SKU. Every sale is
// listed twice, as realtime and as batch rows with different ids. Corrections are further rows, and rows disappear after 14
// days.

import { DAY_MS, MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { ACCOUNTS, NETWORKS } from './accounts.ts';
import {
  acceptsJson,
  elements,
  type FakeNetwork,
  type ListedRow,
  type NetworkRequest,
  Refusal,
  readCount,
  readPage,
  readWindow,
  xml,
} from './fake.ts';
import { dealsOf, type Programme } from './ledger.ts';
import { type Amounts, changesOf, type NetworkSale, NOTHING } from './network-sale.ts';

const { credentials } = ACCOUNTS.rakuten;
const DAYS_BACK_MAX = 30;
const KEPT_DAYS = 14;
const PAGE_SIZE = 1_000;
const LIST_SIZE = 200;
const COUPONS_SIZE = 500;
const NETWORK_NUMBERS: Readonly<Record<string, string>> = { GB: '3', CA: '5', FR: '7', DE: '8', AU: '9' };

export const rakuten: FakeNetwork = {
  rate: { requests: 100, perMs: MINUTE_MS },
  tooManyStatus: 403,
  listSale,
  isAuthorised: (request) => request.url.pathname === '/token' || hasToken(request),
  failure: (status, message) => Response.json({ error: String(status), message }, { status }),
  routes: {
    'POST /token': issueToken,
    'GET /events/1.0/transactions': listEvents,
    // All advertisers, whether they are partners or not.
    'GET /v2/advertisers': (request) => {
      const all = NETWORKS.flatMap((network) => request.programmes(network));
      const rows = all.map(({ advertiserId, retailer: { name, url } }) => ({ id: advertiserId, name, url }));
      return list('advertisers', rows, request, 0);
    },
    'GET /v1/partnerships': (request) =>
      list('partnerships', request.programmes().map(partnershipRow), request),
    'GET /v1/offers': (request) => list('offers', request.programmes().flatMap(offerRows), request),
    'GET /coupon/1.0': listCoupons,
  },
};

function hasToken({ headers, nowMs, fault, tokens }: NetworkRequest): boolean {
  const token = headers.get('Authorization')?.replace('Bearer ', '') ?? '';
  if (fault === 'expired token') tokens.set(token, 0);
  return (tokens.get(token) ?? 0) > nowMs;
}

function issueToken(request: NetworkRequest): Response {
  const { headers, body, nowMs, account, tokens, options } = request;
  const { tokenLifeMs = 5 * MINUTE_MS, isSecondTokenRefused = false } = options;
  const expected = `Bearer ${btoa(`${credentials.clientId}:${credentials.clientSecret}`)}`;
  if (headers.get('Authorization') !== expected) throw new Refusal(401, 'Invalid client');
  if (new URLSearchParams(body).get('scope') !== account) throw new Refusal(400, 'Invalid scope');
  if (isSecondTokenRefused && tokens.values().some((endMs) => endMs > nowMs))
    throw new Refusal(403, 'A token is already active');
  const access_token = `sandbox-rakuten-access-${tokens.size + 1}`;
  tokens.set(access_token, nowMs + tokenLifeMs);
  const token = { access_token, token_type: 'bearer', expires_in: Math.floor(tokenLifeMs / SECOND_MS) };
  return acceptsJson(request) ? Response.json(token) : xml(`<response>${elements(token)}</response>`);
}

function list(name: string, rows: readonly unknown[], request: NetworkRequest, first: 0 | 1 = 1): Response {
  const found = readPage(rows, request, ['page', 'limit'], LIST_SIZE, { first });
  const { page, size: limit, total, isLast } = found;
  const uriOf = (to: number) => `${request.url.pathname}?page=${to}&limit=${limit}`;
  const links = { self: uriOf(page), ...(isLast ? {} : { next: uriOf(page + 1) }) };
  return Response.json({ _metadata: { page, limit, total, _links: links }, [name]: found.rows });
}

function listCoupons(request: NetworkRequest): Response {
  const links = request.programmes().flatMap(linksOf);
  const found = readPage(links, request, ['pagenumber', 'resultsperpage'], COUPONS_SIZE);
  const { total: TotalMatches, pages: TotalPages, page: PageNumberRequested } = found;
  const counts = elements({ TotalMatches, TotalPages, PageNumberRequested });
  return xml(`<couponfeed>${counts}${found.rows.join('\n')}</couponfeed>`);
}

function listEvents({ url, nowMs, fault, listed }: NetworkRequest): Response {
  const { searchParams } = url;
  const window = readWindow(searchParams, 'process_date_start', 'process_date_end', '');
  if (window.fromMs < nowMs - DAYS_BACK_MAX * DAY_MS)
    throw new Refusal(400, `process_date_start must be within the last ${DAYS_BACK_MAX} days`);
  const type = searchParams.get('type');
  const process = { ...window, fromMs: Math.max(window.fromMs, nowMs - KEPT_DAYS * DAY_MS) };
  const events = listed({ process })
    .sort((a, b) => (a.times.process ?? 0) - (b.times.process ?? 0))
    .map(({ row }) => row())
    .filter(({ transaction_type }) => type === null || transaction_type === type);
  const page = Math.max(1, readCount(searchParams.get('page'), 1));
  const size = Math.max(1, readCount(searchParams.get('limit'), 100, PAGE_SIZE));
  const start = (page - 1) * size - (fault === 'repeated row' && page > 1 ? 1 : 0);
  return Response.json(events.slice(start, page * size));
}

export function orderId({ key }: NetworkSale): string {
  return `A-${key}`;
}

function listSale(sale: NetworkSale, nowMs: number): ListedRow[] {
  const event = (
    name: string,
    processedMs: number,
    { orderValue, commission }: Amounts,
    changes: Record<string, unknown> = {},
  ): ListedRow => ({
    times: { process: processedMs },
    row: () => ({
      etransaction_id: Bun.hash.xxHash64(`${sale.id} ${name}`).toString(16).toUpperCase().padStart(32, '0'),
      advertiser_id: String(sale.advertiserId),
      order_id: orderId(sale),
      offer_id: String(sale.offerNumber),
      sale_amount: orderValue,
      commissions: commission,
      process_date: printEventTime(processedMs),
      transaction_date: printEventTime(sale.soldMs),
      transaction_type: 'batch',
      u1: sale.subId ?? '',
      currency: sale.currency,
      is_event: 'N',
      ...changes,
    }),
  });
  const [first] = sale.versions;
  const bought = (name: string, changes: Record<string, unknown> = {}) =>
    splitInTwo(first, sale.decimals).map((part, index) =>
      event(`${name} ${index}`, first.atMs, part, changes),
    );
  const events = bought('batch');
  events.push(...bought('realtime', { transaction_type: 'realtime', order_id: `R-${sale.key}` }));
  if (sale.key % 20 === 0) {
    events.push(event('event', first.atMs, NOTHING, { is_event: 'Y', order_id: `E-${sale.key}`, u1: '' }));
  }
  for (const { atMs, index, before, after } of changesOf(sale, nowMs).slice(1)) {
    const change = difference(after, before, sale.decimals);
    // A reversal can lack the sub-id.
    const changes = change.orderValue < 0 ? { u1: '' } : {};
    events.push(event(`change ${index - 1}`, sale.isLeaky ? first.atMs : atMs, change, changes));
  }
  return events;
}

export function difference(after: Amounts, before: Amounts, decimals: 0 | 2): Amounts {
  const subtract = (a: number, b: number) => Number((a - b).toFixed(decimals));
  return {
    orderValue: subtract(after.orderValue, before.orderValue),
    commission: subtract(after.commission, before.commission),
  };
}

/** Two SKUs, if the commission can be split. */
function splitInTwo(whole: Amounts, decimals: 0 | 2): Amounts[] {
  const unit = 10 ** decimals;
  const half = (amount: number) => Math.floor((amount * unit) / 2) / unit;
  const part = { orderValue: half(whole.orderValue), commission: half(whole.commission) };
  return part.orderValue === 0 || part.commission === 0 ? [whole] : [part, difference(whole, part, decimals)];
}

/** `Sat Nov 14 2026 12:05:00 GMT+0000 (UTC)` */
function printEventTime(ms: number): string {
  const [, weekday, day, month, year, time] =
    /^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/.exec(new Date(ms).toUTCString()) ?? [];
  return `${weekday} ${month} ${day} ${year} ${time} GMT+0000 (UTC)`;
}

function partnershipRow({ advertiserId }: Programme) {
  return { advertiser: { id: advertiserId }, status: 'active' };
}

function offerRows({ advertiserId, retailer, offers }: Programme): unknown[] {
  const network = NETWORK_NUMBERS[retailer.cashbackOffers[0]?.countries[0] ?? ''] ?? '1';
  return offers
    .filter(({ fixed }) => fixed === null)
    .map(({ number, description, percent }) => ({
      advertiser: { id: advertiserId, network },
      name: description,
      terms_url: `${retailer.url}terms`,
      offer_rules: [
        {
          oid: number,
          sku_list_name: '',
          commissions: [
            { commission_type: 'percentage', description: 'Base', tiers: [{ commission: percent }] },
          ],
        },
      ],
    }));
}

function linksOf(programme: Programme): string[] {
  const click = 'https://click.linksynergy.com/deeplink?id=AAA&murl=';
  return dealsOf(programme).map(({ description, code, startDate, endDate, url }) => {
    const texts = {
      offerdescription: description,
      offerstartdate: startDate.slice(0, 10),
      offerenddate: endDate.slice(0, 10),
      ...(code === undefined ? {} : { couponcode: code }),
      clickurl: `${click}${encodeURIComponent(url)}`,
      advertiserid: programme.advertiserId,
    };
    return `<link type="TEXT">${elements(texts)}</link>`;
  });
}
