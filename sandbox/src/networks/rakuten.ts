// A fake of Rakuten Advertising's API: short-lived tokens, 403 for too many requests, and one row per SKU. Every sale is
// listed twice, as realtime and as batch rows with different ids. Corrections are further rows, and rows disappear after 14
// days.

import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { ACCOUNTS, type NetworkName } from './accounts.ts';
import {
  type Answer,
  acceptsJson,
  element,
  type FakeNetwork,
  get,
  isIn,
  json,
  type NetworkRequest,
  pageOf,
  post,
  readCount,
  readPageChoice,
  readWindow,
  xml,
} from './answer.ts';
import { dealsOf, type Ledger, numberOf, type Programme, percent } from './ledger.ts';
import type { Amounts, NetworkSale, Version } from './network-sale.ts';

const { account, credentials } = ACCOUNTS.rakuten;
const RATE = { name: 'rakuten', requests: 100, perMs: MINUTE_MS };
const DAYS_BACK_MAX = 30;
const KEPT_DAYS = 14;
const PAGE_SIZE = 1_000;
const LIST_SIZE = 200;
const COUPONS_SIZE = 500;
const NETWORK_NUMBERS: Readonly<Record<string, string>> = { GB: '3', CA: '5', FR: '7', DE: '8', AU: '9' };

export interface RakutenOptions {
  /** Default: 5 minutes. */
  readonly tokenLifeMs?: number;
  /** True if the network refuses a second token while the first one is valid. Default: false. */
  readonly isSecondTokenRefused?: boolean;
  /** Rows per page of the catalogue. */
  readonly pageSizeMax?: number;
}

export function fakeRakuten(ledger: Ledger, options: RakutenOptions = {}): FakeNetwork {
  const { tokenLifeMs = 5 * MINUTE_MS, isSecondTokenRefused = false, pageSizeMax = PAGE_SIZE } = options;
  /** Tokens, with the times at which they expire. */
  const tokens = new Map<string, number>();
  let issued = 0;

  function issue(request: NetworkRequest): Answer {
    const { headers, body, nowMs } = request;
    const expected = `Bearer ${btoa(`${credentials.clientId}:${credentials.clientSecret}`)}`;
    if (headers.get('Authorization') !== expected) return failure(401, 'Invalid client');
    if (new URLSearchParams(body).get('scope') !== account) return failure(400, 'Invalid scope');
    for (const [token, endMs] of tokens) if (endMs <= nowMs) tokens.delete(token);
    if (isSecondTokenRefused && tokens.size > 0) return failure(403, 'A token is already active');
    issued++;
    const token = `sandbox-rakuten-access-${issued}`;
    tokens.set(token, nowMs + tokenLifeMs);
    const life = Math.floor(tokenLifeMs / 1000);
    return acceptsJson(request)
      ? json({
          access_token: token,
          token_type: 'bearer',
          expires_in: life,
          refresh_token: `refresh-${issued}`,
        })
      : xml(`<response>${element('access_token', token)}${element('expires_in', life)}</response>`);
  }

  const list = (path: string, name: string, first: 0 | 1, rows: (request: NetworkRequest) => unknown[]) =>
    get(new RegExp(`^${path}/?$`), RATE, (request) =>
      numbered(name, first, rows(request), request, pageSizeMax),
    );
  const programmes = ({ nowMs }: NetworkRequest) => ledger.programmes('rakuten', nowMs);
  return {
    name: 'rakuten',
    refuse({ url, headers, nowMs, fault }) {
      if (url.pathname === '/token') return undefined;
      const token = headers.get('Authorization')?.replace('Bearer ', '') ?? '';
      if (fault === 'expired token') tokens.delete(token);
      return (tokens.get(token) ?? 0) > nowMs ? undefined : failure(401, 'Access token expired');
    },
    tooMany: () => failure(403, 'Too many requests'),
    routes: [
      post(/^\/token\/?$/, RATE, issue),
      get(/^\/events\/1\.0\/transactions\/?$/, RATE, (request) => listEvents(ledger, request)),
      // All advertisers, whether they are partners or not.
      list('/v2/advertisers', 'advertisers', 0, ({ nowMs }) =>
        ledger.allProgrammes(nowMs).map(({ advertiserId, retailer }) => ({
          ...{ id: advertiserId, name: retailer.name, url: retailer.url, can_partner: true },
        })),
      ),
      list('/v1/partnerships', 'partnerships', 1, (request) => partnerships(ledger, request)),
      list('/v1/offers', 'offers', 1, (request) => programmes(request).flatMap(offerRows)),
      get(/^\/coupon\/1\.0\/?$/, RATE, (request) =>
        listCoupons(programmes(request).flatMap(linksOf), request, pageSizeMax),
      ),
    ],
  };
}

/** Without a status, advertisers that have declined the publisher are listed, too. */
function partnerships(ledger: Ledger, { url, nowMs }: NetworkRequest) {
  const rows = (network: NetworkName, status: string) =>
    ledger.programmes(network, nowMs).map(({ advertiserId, retailer }) => ({
      advertiser: { id: advertiserId, network: 1, name: retailer.name },
      status,
    }));
  const isActiveOnly = url.searchParams.get('partner_status') === 'active';
  return [...rows('rakuten', 'active'), ...(isActiveOnly ? [] : rows('cj', 'declined'))];
}

function failure(status: number, message: string): Answer {
  return json({ error: String(status), message }, status);
}

function listEvents(ledger: Ledger, { url, nowMs, fault }: NetworkRequest): Answer {
  const { searchParams } = url;
  const [from, to] = [searchParams.get('process_date_start'), searchParams.get('process_date_end')];
  const window = readWindow(from, to);
  if ((from !== null || to !== null) && window === undefined)
    return failure(400, 'process_date_start and process_date_end must be given together');
  if (window !== undefined && window.fromMs < nowMs - DAYS_BACK_MAX * DAY_MS)
    return failure(400, `process_date_start must be within the last ${DAYS_BACK_MAX} days`);
  const type = searchParams.get('type');
  const keptFromMs = nowMs - KEPT_DAYS * DAY_MS;
  const events = ledger
    .sales('rakuten', nowMs)
    .flatMap((sale) => eventsOf(ledger, sale, nowMs))
    .filter(
      ({ processedMs }) => processedMs >= keptFromMs && (window === undefined || isIn(window, processedMs)),
    )
    .sort((a, b) => a.processedMs - b.processedMs)
    .map(({ row }) => row())
    .filter((row) => type === null || row.transaction_type === type);
  if (window === undefined) return json(events.slice(-100));
  const page = Math.max(1, readCount(searchParams.get('page'), 1));
  const size = Math.max(1, readCount(searchParams.get('limit'), 100, PAGE_SIZE));
  const start = (page - 1) * size - (fault === 'repeated row' && page > 1 ? 1 : 0);
  return json(events.slice(start, page * size));
}

interface RakutenEvent {
  readonly processedMs: number;
  /** Most events are outside the window and need no row. */
  readonly row: () => Readonly<Record<string, unknown>>;
}

export function orderId({ key }: NetworkSale): string {
  return `A-${key}`;
}

function eventsOf(ledger: Ledger, sale: NetworkSale, nowMs: number): RakutenEvent[] {
  const advertiserId = String(ledger.advertiserId(sale.retailerId));
  const event = (
    name: string,
    processedMs: number,
    sku: number,
    { orderValue, commission }: Amounts,
    changes: Record<string, unknown> = {},
  ): RakutenEvent => ({
    processedMs,
    row: () => ({
      etransaction_id: Bun.hash.xxHash64(`${sale.id} ${name}`).toString(16).toUpperCase().padStart(32, '0'),
      advertiser_id: advertiserId,
      sid: account,
      order_id: orderId(sale),
      offer_id: String(numberOf(sale.offerId)),
      sku_number: `sku-${sku}`,
      sale_amount: orderValue,
      quantity: 1,
      commissions: commission,
      process_date: printEventTime(processedMs),
      transaction_date: printEventTime(sale.soldMs),
      transaction_type: 'batch',
      product_name: 'Goods',
      u1: sale.subId ?? '',
      currency: sale.currency,
      is_event: 'N',
      commissions_list_id: '',
      ...changes,
    }),
  });
  const [first, ...later] = sale.versions;
  const bought = (name: string, changes: Record<string, unknown> = {}) =>
    splitInTwo(first, sale.decimals).map((part, index) =>
      event(`${name} ${index}`, first.atMs, index + 1, part, changes),
    );
  const events = bought('batch');
  events.push(...bought('realtime', { transaction_type: 'realtime', order_id: `R-${sale.key}` }));
  if (sale.key % 20 === 0) {
    const nothing = { orderValue: 0, commission: 0 };
    events.push(event('event', first.atMs, 1, nothing, { is_event: 'Y', order_id: `E-${sale.key}`, u1: '' }));
  }
  let standing: Amounts = first;
  for (const [index, version] of later.entries()) {
    if (version.atMs > nowMs) break;
    const amounts = standingAmounts(version);
    const change = difference(amounts, standing, sale.decimals);
    if (change.orderValue !== 0 || change.commission !== 0) {
      const processedMs = ledger.leaks(sale) ? first.atMs : version.atMs;
      // A reversal can lack the sub-id.
      events.push(event(`change ${index}`, processedMs, 1, change, change.orderValue < 0 ? { u1: '' } : {}));
    }
    standing = amounts;
  }
  return events;
}

function standingAmounts(version: Version): Amounts {
  return version.status === 'DECLINED' ? { orderValue: 0, commission: 0 } : version;
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

function numbered(
  name: string,
  first: 0 | 1,
  all: readonly unknown[],
  { url, fault }: NetworkRequest,
  sizeMax: number,
): Answer {
  const max = Math.min(sizeMax, LIST_SIZE);
  const choice = readPageChoice(url, ['page', 'limit'], { standard: LIST_SIZE, max, first });
  const { page, size: limit } = choice;
  const { rows, total, pages } = pageOf(all, choice, fault);
  const uriOf = (to: number) => `${url.pathname}?page=${to}&limit=${limit}`;
  const isLast = page - first + 1 >= pages;
  const links = { self: uriOf(page), ...(isLast ? {} : { next: uriOf(page + 1) }) };
  return json({ _metadata: { page, limit, total, _links: links }, [name]: rows });
}

function offerRows({ advertiserId, retailer }: Programme): unknown[] {
  const number = NETWORK_NUMBERS[retailer.cashbackOffers[0]?.countries[0] ?? ''] ?? '1';
  return retailer.cashbackOffers
    .filter(({ maximumFixedCommissionFee }) => maximumFixedCommissionFee === null)
    .map((offer) => ({
      advertiser: { id: advertiserId, network: number, name: retailer.name },
      goid: numberOf(offer.id),
      name: offer.description,
      terms_url: `${retailer.url}terms`,
      offer_rules: [
        {
          oid: numberOf(offer.id),
          is_base_commission: true,
          sku_list_name: '',
          commissions: [
            {
              commission_type: 'percentage',
              description: 'Base',
              tiers: [{ commission: percent(offer.cashbackPercentage), threshold: 0, upper_threshold: 1000 }],
            },
          ],
        },
      ],
    }));
}

function listCoupons(links: readonly string[], { url, fault }: NetworkRequest, sizeMax: number): Answer {
  const max = Math.min(sizeMax, COUPONS_SIZE);
  const choice = readPageChoice(url, ['pagenumber', 'resultsperpage'], { standard: COUPONS_SIZE, max });
  const { rows, total, pages } = pageOf(links, choice, fault);
  const counts =
    element('TotalMatches', total) +
    element('TotalPages', pages) +
    element('PageNumberRequested', choice.page);
  return xml(`<couponfeed>${counts}${rows.join('\n')}</couponfeed>`);
}

function linksOf({ advertiserId, retailer }: Programme): string[] {
  const click = 'https://click.linksynergy.com/deeplink?id=AAA&murl=';
  return dealsOf(retailer).map(({ deal, code, url }) =>
    [
      '<link type="TEXT">',
      element('offerdescription', deal.description),
      element('offerstartdate', deal.startDate.slice(0, 10)),
      element('offerenddate', deal.endDate.slice(0, 10)),
      code === undefined ? '' : element('couponcode', code),
      element('clickurl', `${click}${encodeURIComponent(url)}`),
      element('advertiserid', advertiserId),
      element('advertisername', retailer.name),
      '<network id="1">US Network</network></link>',
    ].join(''),
  );
}
