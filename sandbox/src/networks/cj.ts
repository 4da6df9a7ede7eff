// A fake of CJ's APIs: commissions by GraphQL, advertisers and links in XML. A sale is one record, and each correction is
// another record. Locking changes a record in place. Errors of the GraphQL API have status 200.

import { DAY_MS, MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { getCountry, roundMoney } from '../countries.ts';
import { printSecond } from '../wire.ts';
import { ACCOUNTS } from './accounts.ts';
import {
  type Answer,
  daysOf,
  element,
  type FakeNetwork,
  get,
  isIn,
  json,
  type NetworkRequest,
  pageOf,
  post,
  readPageChoice,
  readWindow,
  type Window,
  xml,
} from './answer.ts';
import { dealsOf, type Ledger, numberOf, type Programme, percent } from './ledger.ts';
import type { Amounts, NetworkSale, Version } from './network-sale.ts';

const { account, website, credentials } = ACCOUNTS.cj;
const DAYS_MAX = 31;
const RECORDS_MAX = 10_000;
const PAGE_SIZE_MAX = 100;
const RATES = {
  /** CJ publishes no limit for GraphQL. */
  query: { name: 'cj query', requests: 120, perMs: MINUTE_MS },
  advertisers: { name: 'cj advertisers', requests: 25, perMs: MINUTE_MS },
  links: { name: 'cj links', requests: 25, perMs: MINUTE_MS },
};

export function fakeCj(ledger: Ledger, sizeMax = RECORDS_MAX): FakeNetwork {
  return {
    name: 'cj',
    refuse: ({ headers, url }) => {
      if (headers.get('Authorization') === `Bearer ${credentials.token}`) return undefined;
      return url.pathname === '/query'
        ? { status: 401, body: 'Not authorised' }
        : failure(401, 'Not authorised');
    },
    tooMany: () => ({ status: 429, body: 'You have exceeded your rate limit' }),
    routes: [
      post(/^\/query\/?$/, RATES.query, (request) => listCommissions(ledger, request, sizeMax)),
      get(/^\/v2\/advertiser-lookup\/?$/, RATES.advertisers, (request) => {
        if (request.url.searchParams.get('requestor-cid') !== account)
          return failure(400, 'requestor-cid is invalid');
        return list('advertisers', joined(ledger, request).map(advertiserXml), request, sizeMax);
      }),
      get(/^\/v2\/link-search\/?$/, RATES.links, (request) => listLinks(ledger, request, sizeMax)),
    ],
  };
}

function failure(status: number, message: string): Answer {
  return xml(`<cj-api>${element('error-message', message)}</cj-api>`, status);
}

/** Without `advertiser-ids`, CJ returns nothing. */
function joined(ledger: Ledger, { url, nowMs }: NetworkRequest): readonly Programme[] {
  return url.searchParams.get('advertiser-ids') === 'joined' ? ledger.programmes('cj', nowMs) : [];
}

function queryError(message: string): Answer {
  return json({ data: null, errors: [{ message, path: ['publisherCommissions'] }] });
}

function listCommissions(ledger: Ledger, { body, nowMs, fault }: NetworkRequest, recordsMax: number): Answer {
  if (fault === 'query error') return queryError('Internal server error');
  const query = parseQuery(body);
  if (query === undefined) return queryError('Syntax Error: expected publisherCommissions and its records');
  const { values, fields } = query;
  if (!values.get('forPublishers')?.includes(account)) return queryError('forPublishers is invalid');
  const filters = FILTERS.flatMap(({ name, dateOf }) => {
    const [from, to] = [values.get(`since${name}`), values.get(`before${name}`)];
    return from === undefined && to === undefined
      ? []
      : [{ name, window: readWindow(from ?? null, to ?? null, true), dateOf }];
  });
  if (filters.length === 0) return queryError('a date range is required');
  for (const { name, window } of filters) {
    if (window === undefined) return queryError(`since${name} and before${name} must be times`);
    if (daysOf(window) > DAYS_MAX) return queryError(`the ${name} range must not exceed ${DAYS_MAX} days`);
  }
  const sinceId = Number(values.get('sinceCommissionId') ?? 0);
  const found = ledger
    .sales('cj', nowMs)
    .flatMap((sale) => recordsOf(ledger, sale, nowMs))
    .filter(
      (record) =>
        record.number > sinceId &&
        filters.every(({ window, dateOf }) => isIn(window as Window, dateOf(record))),
    )
    .sort((a, b) => a.number - b.number);
  const limit = fault === 'incomplete' ? Math.max(1, Math.floor(found.length / 2)) : recordsMax;
  const records = found.slice(0, limit);
  return json({
    data: {
      publisherCommissions: {
        count: records.length,
        limit: recordsMax,
        payloadComplete: records.length === found.length,
        maxCommissionId: records.at(-1)?.number.toString() ?? null,
        records: records.map(({ row }) => pick(row(), fields)),
      },
    },
  });
}

interface CommissionRecord {
  readonly number: number;
  readonly postedMs: number;
  readonly lockedMs: number;
  readonly soldMs: number;
  /** Most records are outside the window and need no row. */
  readonly row: () => Readonly<Record<string, unknown>>;
}

const FILTERS: readonly { name: string; dateOf: (record: CommissionRecord) => number }[] = [
  { name: 'PostingDate', dateOf: ({ postedMs }) => postedMs },
  { name: 'LockingDate', dateOf: ({ lockedMs }) => lockedMs },
  { name: 'EventDate', dateOf: ({ soldMs }) => soldMs },
];

/** Reads the arguments and the fields of the records. Arguments may be variables. */
function parseQuery(
  body: string,
): { values: ReadonlyMap<string, string>; fields: ReadonlySet<string> } | undefined {
  let query: string;
  let variables: Record<string, unknown>;
  try {
    const parsed = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
    ({ query } = parsed);
    variables = parsed.variables ?? {};
  } catch {
    return undefined;
  }
  const [, args] = /publisherCommissions\s*\(([^)]*)\)/.exec(query) ?? [];
  const [, fields] = /records\s*\{([^}]*)\}/.exec(query) ?? [];
  if (args === undefined || fields === undefined) return undefined;
  const values = new Map<string, string>();
  for (const [, name = '', text, list, variable] of args.matchAll(
    /(\w+)\s*:\s*(?:"([^"]*)"|(\[[^\]]*\])|\$(\w+))/g,
  )) {
    const value = variable === undefined ? (text ?? list) : variables[variable];
    if (value !== undefined && value !== null)
      values.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return { values, fields: new Set(fields.match(/\w+/g)) };
}

function pick(row: Readonly<Record<string, unknown>>, fields: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(row).filter(([name]) => fields.has(name)));
}

/** CJ reports all amounts in the account's currency. */
export function inAccountCurrency(sale: NetworkSale, { orderValue, commission }: Amounts): Amounts {
  const { unitsPerEuro } = getCountry(sale.country);
  const convert = (amount: number) => Math.max(0.01, roundMoney(amount / unitsPerEuro, 2));
  return { orderValue: convert(orderValue), commission: convert(commission) };
}

export function actionIdOf({ key }: NetworkSale): string {
  return `17${key}`;
}

/**
 * The records of a sale at this time. A correction consists of two records: one reverses the previous amounts, and the other
 * has the new amounts.
 */
function recordsOf(ledger: Ledger, sale: NetworkSale, nowMs: number): CommissionRecord[] {
  const [first] = sale.versions;
  const settled = sale.versions.find(({ status }) => status !== 'PENDING') ?? first;
  const isLocked = settled.atMs <= nowMs;
  const isClosed = settled.atMs + 30 * DAY_MS <= nowMs;
  const common = () => ({
    originalActionId: actionIdOf(sale),
    actionStatus: isClosed ? 'closed' : isLocked ? 'locked' : 'new',
    actionType: 'item_sale',
    actionTrackerId: String(numberOf(sale.offerId)),
    actionTrackerName: 'Online Sale',
    validationStatus: 'AUTOMATED',
    advertiserId: String(ledger.advertiserId(sale.retailerId)),
    advertiserName: 'Sandbox',
    publisherId: account,
    websiteId: website,
    aid: '10000001',
    clickDate: sale.clickedMs === undefined ? null : `${printSecond(sale.clickedMs)}Z`,
    eventDate: `${printSecond(sale.soldMs)}Z`,
    lockingDate: `${printSecond(settled.atMs)}Z`,
    orderId: `A-${sale.key}`,
    country: sale.country,
    coupon: null,
    shopperId: sale.subId ?? null,
  });
  const records: CommissionRecord[] = [];
  const post = (version: Version, place: number, amounts: Amounts, sign: 1 | -1) => {
    // Later records have greater ids. If the change filter leaks, a correction has the posting date of the first record.
    const postedMs = ledger.leaks(sale) ? first.atMs : version.atMs;
    const number =
      (version.atMs / SECOND_MS) * 1_000_000 + (Bun.hash.xxHash32(sale.id) % 100_000) * 10 + place;
    const print = (amount: number) => `${sign < 0 ? '-' : ''}${amount.toFixed(2)}`;
    const original = records.length === 0;
    records.push({
      number,
      postedMs,
      lockedMs: settled.atMs,
      soldMs: sale.soldMs,
      row: () => ({
        commissionId: String(number),
        ...common(),
        original,
        postingDate: `${printSecond(postedMs)}Z`,
        saleAmountPubCurrency: print(amounts.orderValue),
        pubCommissionAmountPubCurrency: print(amounts.commission),
        correctionReason: original ? null : 'RETURNED_MERCHANDISE',
      }),
    });
  };
  let standing: Amounts | undefined;
  for (const [index, version] of sale.versions.entries()) {
    if (version.atMs > nowMs) break;
    const amounts = version.status === 'DECLINED' ? undefined : inAccountCurrency(sale, version);
    const isSame =
      standing?.orderValue === amounts?.orderValue && standing?.commission === amounts?.commission;
    if (isSame) continue;
    // The index makes ids unique: two versions can be from the same second.
    if (standing !== undefined) post(version, index * 2, standing, -1);
    if (amounts !== undefined) post(version, index * 2 + 1, amounts, 1);
    standing = amounts;
  }
  return records;
}

function list(name: string, items: readonly string[], request: NetworkRequest, sizeMax: number): Answer {
  const max = Math.min(sizeMax, PAGE_SIZE_MAX);
  const choice = readPageChoice(request.url, ['page-number', 'records-per-page'], { standard: 25, max });
  const { rows, total } = pageOf(items, choice, request.fault);
  const counts = `total-matched="${total}" records-returned="${rows.length}" page-number="${choice.page}"`;
  return xml(`<cj-api><${name} ${counts}>${rows.join('\n')}</${name}></cj-api>`);
}

function advertiserXml({ advertiserId, retailer }: Programme): string {
  const actions = retailer.cashbackOffers.map((offer) => {
    const { maximumFixedCommissionFee: fixed } = offer;
    const rate =
      fixed === null ? `${percent(offer.cashbackPercentage).toFixed(2)}%` : `EUR ${fixed.toFixed(2)}`;
    const id = element('id', numberOf(offer.id));
    return `<action>${element('name', offer.description)}<type>advanced sale</type>${id}<commission>${element('default', rate)}</commission></action>`;
  });
  const [offer] = retailer.cashbackOffers;
  return [
    '<advertiser>',
    element('advertiser-id', advertiserId),
    '<account-status>Active</account-status><language>en</language>',
    element('advertiser-name', retailer.name),
    element('program-url', retailer.url),
    '<relationship-status>joined</relationship-status>',
    `<primary-category><parent>Shops</parent>${element('child', offer?.category ?? '')}</primary-category>`,
    `<actions>${actions.join('')}</actions>`,
    '</advertiser>',
  ].join('');
}

function listLinks(ledger: Ledger, request: NetworkRequest, sizeMax: number): Answer {
  const { searchParams } = request.url;
  if (searchParams.get('website-id') !== website) return failure(400, 'website-id is invalid');
  const type = searchParams.get('promotion-type');
  const links = joined(ledger, request)
    .flatMap(linksOf)
    .filter((link) => type === null || link.type === type)
    .map(({ text }) => text);
  return list('links', links, request, sizeMax);
}

/** The links of a programme: its deals, and a link without a promotion. */
function linksOf({ advertiserId, retailer }: Programme): { type: string; text: string }[] {
  const link = (type: string, id: number, name: string, destination: string, more: string) => ({
    type,
    text: [
      '<link>',
      element('advertiser-id', advertiserId),
      element('advertiser-name', retailer.name),
      element('description', name),
      element('destination', destination),
      element('link-id', id),
      element('link-name', name),
      '<link-type>Text Link</link-type>',
      element('promotion-type', type),
      more,
      '<relationship-status>joined</relationship-status>',
      '</link>',
    ].join(''),
  });
  const deals = dealsOf(retailer).map(({ deal, code, url }) => {
    const period =
      element('promotion-start-date', `${deal.startDate.replace('T', ' ')}.0`) +
      element('promotion-end-date', `${deal.endDate.replace('T', ' ')}.0`);
    const type = code === undefined ? 'sale/discount' : 'coupon';
    return link(type, numberOf(deal.id), deal.description, url, period + element('coupon-code', code ?? ''));
  });
  return [link('', advertiserId, retailer.name, retailer.url, ''), ...deals];
}
