// A fake of CJ's APIs: commissions by GraphQL, advertisers and links in XML. A sale is one record, and each correction is
// another record. Locking changes a record in place. Errors of the GraphQL API have status 200.

import { DAY_MS, MINUTE_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import { getCountry, roundMoney } from '../countries.ts';
import { ACCOUNTS } from './accounts.ts';
import {
  elements,
  type FakeNetwork,
  type ListedRow,
  type NetworkRequest,
  Refusal,
  type Row,
  readJson,
  readPage,
  readWindow,
  type Window,
  xml,
} from './fake.ts';
import { dealsOf, type Programme } from './ledger.ts';
import { type Amounts, changesOf, type NetworkSale, NOTHING } from './network-sale.ts';

const { website, credentials } = ACCOUNTS.cj;
const DAYS_MAX = 31;
const RECORDS_MAX = 10_000;
const PAGE_SIZE_MAX = 100;
/** The date filters of a query, and our names of them. */
const FILTERS = { PostingDate: 'posting', LockingDate: 'locking', EventDate: 'event' };

export const cj: FakeNetwork = {
  rate: { requests: 25, perMs: MINUTE_MS },
  // Each service has its own budget. CJ publishes no limit for GraphQL.
  rates: {
    'POST /query': { requests: 120, perMs: MINUTE_MS },
    'GET /v2/link-search': { requests: 25, perMs: MINUTE_MS },
  },
  listSale,
  isAuthorised: ({ headers }) => headers.get('Authorization') === `Bearer ${credentials.token}`,
  failure: (status, message, { url }) => {
    if (url.pathname !== '/query')
      return xml(`<cj-api>${elements({ 'error-message': message })}</cj-api>`, status);
    if (status !== 400) return new Response(message, { status });
    return Response.json({ data: null, errors: [{ message, path: ['publisherCommissions'] }] });
  },
  routes: {
    'POST /query': listCommissions,
    'GET /v2/advertiser-lookup': (request) => {
      require(request, 'requestor-cid', request.account);
      return list('advertisers', joined(request).map(advertiserXml), request);
    },
    'GET /v2/link-search': (request) => {
      require(request, 'website-id', website);
      return list('links', joined(request).flatMap(linksOf), request);
    },
  },
};

function require({ url }: NetworkRequest, name: string, value: string): void {
  if (url.searchParams.get(name) !== value) throw new Refusal(400, `${name} is invalid`);
}

/** Without `advertiser-ids`, CJ returns nothing. */
function joined({ url, programmes }: NetworkRequest): readonly Programme[] {
  return url.searchParams.get('advertiser-ids') === 'joined' ? programmes() : [];
}

function listCommissions({ body, fault, account, options, listed }: NetworkRequest): Response {
  if (fault === 'query error') throw new Refusal(400, 'Internal server error');
  const { values, fields } = parseQuery(body);
  if (!values.get('forPublishers')?.includes(account)) throw new Refusal(400, 'forPublishers is invalid');
  const filters: Record<string, Window> = {};
  for (const [name, filter] of Object.entries(FILTERS)) {
    const [from, to] = [`since${name}`, `before${name}`];
    if (!values.has(from) && !values.has(to)) continue;
    filters[filter] = readWindow(values, from, to, 'Z', DAYS_MAX);
  }
  if (Object.keys(filters).length === 0) throw new Refusal(400, 'a date range is required');
  const sinceId = Number(values.get('sinceCommissionId') ?? 0);
  const found = listed(filters)
    .map(({ row }) => row())
    .filter(({ commissionId }) => Number(commissionId) > sinceId)
    .sort((a, b) => Number(a.commissionId) - Number(b.commissionId));
  const { pageSizeMax: limit = RECORDS_MAX } = options;
  const records = found.slice(0, fault === 'incomplete' ? Math.max(1, Math.floor(found.length / 2)) : limit);
  const publisherCommissions = {
    count: records.length,
    limit,
    payloadComplete: records.length === found.length,
    maxCommissionId: records.at(-1)?.commissionId ?? null,
    records: records.map((record) => pick(record, fields)),
  };
  return Response.json({ data: { publisherCommissions } });
}

/** Reads the arguments and the fields of the records. Throws Refusal. */
function parseQuery(body: string): { values: ReadonlyMap<string, string>; fields: ReadonlySet<string> } {
  const { query } = readJson(body);
  const [, args] = /publisherCommissions\s*\(([^)]*)\)/.exec(String(query)) ?? [];
  const [, fields] = /records\s*\{([^}]*)\}/.exec(String(query)) ?? [];
  if (args === undefined || fields === undefined)
    throw new Refusal(400, 'Syntax Error: expected publisherCommissions and its records');
  const matches = args.matchAll(/(\w+)\s*:\s*(?:"([^"]*)"|(\[[^\]]*\]))/g);
  const values = matches.map(([, name = '', text, list = '']) => [name, text ?? list] as const);
  return { values: new Map(values), fields: new Set(fields.match(/\w+/g)) };
}

function pick(row: Row, fields: ReadonlySet<string>): Row {
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
function listSale(sale: NetworkSale, nowMs: number): ListedRow[] {
  const [first] = sale.versions;
  const settled = sale.versions.find(({ status }) => status !== 'PENDING') ?? first;
  const isLocked = settled.atMs <= nowMs;
  const isClosed = settled.atMs + 30 * DAY_MS <= nowMs;
  const common = () => ({
    originalActionId: actionIdOf(sale),
    actionStatus: isClosed ? 'closed' : isLocked ? 'locked' : 'new',
    actionTrackerId: String(sale.offerNumber),
    validationStatus: 'AUTOMATED',
    advertiserId: String(sale.advertiserId),
    clickDate: sale.clickedMs === undefined ? null : `${printSecond(sale.clickedMs)}Z`,
    eventDate: `${printSecond(sale.soldMs)}Z`,
    lockingDate: `${printSecond(settled.atMs)}Z`,
    country: sale.country,
    coupon: null,
    shopperId: sale.subId ?? null,
  });
  const changes = changesOf(sale, nowMs, (version) => inAccountCurrency(sale, version));
  return changes.flatMap(({ atMs, index, before, after }) => {
    // If the change filters omit the sale, a correction has the posting date of the first record.
    const postedMs = sale.isLeaky ? first.atMs : atMs;
    const records = [
      { sign: '-', amounts: before },
      { sign: '', amounts: after },
    ];
    return records.flatMap(({ sign, amounts }, place) => {
      if (amounts === NOTHING) return [];
      // Later records have greater ids. The index makes ids unique: two versions can be from the same second.
      const number =
        (atMs / SECOND_MS) * 1_000_000 + (Bun.hash.xxHash32(sale.id) % 100_000) * 10 + index * 2 + place;
      const print = (amount: number) => sign + amount.toFixed(2);
      const original = index === 0;
      return {
        times: { posting: postedMs, locking: settled.atMs, event: sale.soldMs },
        row: () => ({
          commissionId: String(number),
          ...common(),
          original,
          postingDate: `${printSecond(postedMs)}Z`,
          saleAmountPubCurrency: print(amounts.orderValue),
          pubCommissionAmountPubCurrency: print(amounts.commission),
        }),
      };
    });
  });
}

function list(name: string, items: readonly string[], request: NetworkRequest): Response {
  const names = ['page-number', 'records-per-page'] as const;
  const { rows, total, page } = readPage(items, request, names, PAGE_SIZE_MAX);
  const counts = `total-matched="${total}" records-returned="${rows.length}" page-number="${page}"`;
  return xml(`<cj-api><${name} ${counts}>${rows.join('\n')}</${name}></cj-api>`);
}

function advertiserXml({ advertiserId, retailer, offers }: Programme): string {
  const actions = offers.map(({ number, description, fixed, percent }) => {
    const rate = fixed === null ? `${percent.toFixed(2)}%` : `EUR ${fixed.toFixed(2)}`;
    const texts = elements({ name: description, id: number });
    return `<action>${texts}<commission>${elements({ default: rate })}</commission></action>`;
  });
  const texts = {
    'advertiser-id': advertiserId,
    'advertiser-name': retailer.name,
    'program-url': retailer.url,
    'relationship-status': 'joined',
  };
  const category = elements({ parent: 'Shops', child: retailer.cashbackOffers[0]?.category ?? '' });
  return `<advertiser>${elements(texts)}<primary-category>${category}</primary-category><actions>${actions.join('')}</actions></advertiser>`;
}

/** The links of a programme: its deals, and a link without a promotion. */
function linksOf(programme: Programme): string[] {
  const { advertiserId, retailer } = programme;
  const link = (id: number, name: string, destination: string, promotion: Record<string, string>) => {
    const texts = {
      'advertiser-id': advertiserId,
      description: name,
      destination,
      'link-id': id,
      'link-name': name,
      'relationship-status': 'joined',
    };
    return `<link>${elements({ ...texts, ...promotion })}</link>`;
  };
  const deals = dealsOf(programme).map(({ number, description, code, startDate, endDate, url }) =>
    link(number, description, url, {
      'promotion-type': code === undefined ? 'sale/discount' : 'coupon',
      'promotion-start-date': `${startDate.replace('T', ' ')}.0`,
      'promotion-end-date': `${endDate.replace('T', ' ')}.0`,
      'coupon-code': code ?? '',
    }),
  );
  return [link(advertiserId, retailer.name, retailer.url, { 'promotion-type': '' }), ...deals];
}
