// A fake of impact.com's partner API: windows of 45 days by last change, pages that drift while rows change, and answers in XML
// unless the client asks for JSON.

import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import { COUNTRIES } from '../countries.ts';
import { ACCOUNTS, basic } from './accounts.ts';
import {
  acceptsJson,
  type FakeNetwork,
  linkTo,
  type NetworkRequest,
  Refusal,
  rateHeaders,
  readPage,
  readWindow,
  xml,
} from './fake.ts';
import type { Programme } from './ledger.ts';
import { changedMs, type NetworkSale, versionAt } from './network-sale.ts';

const DAYS_MAX = 45;
const PAST_DAYS_MAX = 3 * 365;
const PAGE_SIZE = 1_000;
const STATES = { PENDING: 'PENDING', CONFIRMED: 'APPROVED', DECLINED: 'REVERSED' } as const;
/** Bodies of an empty list; undefined stands for the usual envelope. */
const EMPTY = ['null', '{}', '[]', undefined];
/** impact.com's names of countries that are not their ISO names in capitals. */
const REGIONS: Readonly<Record<string, string>> = { GB: 'UK', US: 'US', CZ: 'CZECHREPUBLIC' };

export const impact: FakeNetwork = {
  rate: { requests: 1_000, perMs: HOUR_MS },
  listSale: (sale, nowMs) => [
    {
      times: { changes: changedMs(sale, nowMs), event: sale.soldMs },
      row: () => actionRow(sale, nowMs),
    },
  ],
  isAuthorised: ({ headers, account }) =>
    headers.get('Authorization') === basic(account, ACCOUNTS.impact.credentials.token),
  failure: (status, Message) => Response.json({ Status: 'ERROR', Message }, { status }),
  rateHeaders,
  routes: {
    'GET /Mediapartners/{account}/Actions': (request) => page('Actions', listActions(request), request),
    'GET /Mediapartners/{account}/Campaigns': listOf('Campaigns', campaignRows),
    'GET /Mediapartners/{account}/Contracts': listOf('Contracts', contractRows),
    'GET /Mediapartners/{account}/PromoCodes': listOf('PromoCodes', promoCodeRows),
    'GET /Mediapartners/{account}/Campaigns/*/Deals': listOf('Deals', dealRows),
  },
};

/** Returns the handler of a list: of all programmes, or of the one that the path names. */
function listOf(name: string, rows: (programme: Programme) => readonly unknown[]) {
  return (request: NetworkRequest) => {
    const { segment, programmes } = request;
    const asked = programmes().filter(({ advertiserId }) => ['', `${advertiserId}`].includes(segment));
    return page(name, asked.flatMap(rows), request);
  };
}

function listActions({ url, nowMs, listed }: NetworkRequest): unknown[] {
  const { searchParams } = url;
  const isByEvent = searchParams.has('ActionDateStart');
  const [from, to] = isByEvent ? ['ActionDateStart', 'ActionDateEnd'] : ['StartDate', 'EndDate'];
  const window = readWindow(searchParams, from, to, 'Z', DAYS_MAX);
  if (window.fromMs < nowMs - PAST_DAYS_MAX * DAY_MS)
    throw new Refusal(400, 'The start date is more than 3 years ago');
  return listed({ [isByEvent ? 'event' : 'changes']: window }).map(({ row }) => row());
}

function page(name: string, all: readonly unknown[], request: NetworkRequest): Response {
  const { url, fault } = request;
  if (!acceptsJson(request)) return xml(`<ImpactRadiusResponse uri="${Bun.escapeHTML(url.pathname)}"/>`);
  if (all.length === 0 && fault === 'odd empty') {
    const digits = url.search.match(/\d/g)?.reduce((sum, digit) => sum + Number(digit), 0) ?? 0;
    const body = EMPTY[digits % EMPTY.length] ?? `{"${name}":[]}`;
    return new Response(body, { headers: { 'Content-Type': 'application/json' } });
  }
  const found = readPage(all, request, ['Page', 'PageSize'], PAGE_SIZE);
  const { rows, page: number, size, pages, total, isLast } = found;
  const uriOf = (to: number) => linkTo(url, { Page: String(to), PageSize: String(size) });
  return Response.json({
    '@page': String(number),
    '@numpages': String(pages),
    '@pagesize': String(size),
    '@total': String(total),
    '@uri': uriOf(number),
    '@nextpageuri': fault === 'self link' ? uriOf(number) : isLast ? '' : uriOf(number + 1),
    [name]: rows,
  });
}

/** impact.com prints times in the zone of the account. */
function printZoned(ms: number | undefined): string {
  return ms === undefined ? '' : `${printSecond(ms + HOUR_MS)}+01:00`;
}

function actionRow(sale: NetworkSale, nowMs: number) {
  const version = versionAt(sale, nowMs);
  const isReversed = version.status === 'DECLINED';
  const print = (amount: number) => amount.toFixed(sale.decimals);
  return {
    Id: actionId(sale),
    CampaignId: String(sale.advertiserId),
    ActionTrackerId: String(sale.offerNumber),
    State: STATES[version.status],
    Payout: print(isReversed ? 0 : version.commission),
    IntendedPayout: print(version.commission),
    Amount: print(isReversed ? 0 : version.orderValue),
    IntendedAmount: print(version.orderValue),
    Currency: sale.currency,
    ReferringDate: printZoned(sale.clickedMs),
    EventDate: printZoned(sale.soldMs),
    PromoCode: '',
    CustomerCountry: sale.country,
    SubId1: sale.subId ?? '',
    SubId2: sale.subData ?? '',
  };
}

export function actionId({ advertiserId, key }: NetworkSale): string {
  return `${advertiserId}.4636.${key}`;
}

function campaignRows({ advertiserId, retailer }: Programme) {
  const codes = new Set(retailer.cashbackOffers.flatMap(({ countries }) => countries));
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return [
    {
      AdvertiserUrl: retailer.url,
      CampaignId: String(advertiserId),
      CampaignName: retailer.name,
      CampaignUrl: retailer.url,
      ShippingRegions: COUNTRIES.filter(({ code }) => codes.has(code)).map(
        ({ code }) => REGIONS[code] ?? names.of(code)?.replaceAll(' ', '').toUpperCase(),
      ),
      ContractStatus: 'Active',
    },
  ];
}

function contractRows({ advertiserId, offers }: Programme) {
  return [
    {
      CampaignId: String(advertiserId),
      Status: 'ACTIVE',
      Terms: {
        Currency: 'EUR',
        EventPayouts: offers.map(({ number, description, fixed, percent }) => ({
          EventTypeId: String(number),
          EventTypeName: description,
          EventCategory: 'SALE',
          ...(fixed === null
            ? { DefaultPayoutRate: String(percent) }
            : { DefaultPayoutRate: '0', DefaultPayout: String(fixed) }),
        })),
        SpecialTermsList: [{ TermsContent: '<p>Not on gift cards.</p>' }],
      },
    },
  ];
}

function promoCodeRows({ advertiserId, coupons }: Programme) {
  return coupons.map(({ number, code, description, startDate, endDate }) => ({
    Id: String(number),
    Code: code,
    State: 'ACTIVE',
    Program: { Id: String(advertiserId) },
    Deal: { Name: description },
    MatchMode: 'LI',
    StartDate: `${startDate}Z`,
    EndDate: `${endDate}Z`,
  }));
}

function dealRows({ advertiserId, promotions }: Programme) {
  return promotions.map(({ number, description, startDate, endDate }) => ({
    Id: String(number),
    Name: description,
    Description: description,
    CampaignId: String(advertiserId),
    State: 'ACTIVE',
    DefaultPromoCode: '',
    StartDate: `${startDate}Z`,
    EndDate: `${endDate}Z`,
  }));
}
