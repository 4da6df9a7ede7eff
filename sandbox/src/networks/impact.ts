// A fake of impact.com's partner API: windows of 45 days by last change, pages that drift while rows change, and answers in XML
// unless the client asks for JSON.

import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { COUNTRIES } from '../countries.ts';
import { printSecond } from '../wire.ts';
import { ACCOUNTS, basic } from './accounts.ts';
import {
  type Answer,
  acceptsJson,
  daysOf,
  escapeXml,
  type FakeNetwork,
  get,
  isIn,
  json,
  type NetworkRequest,
  type NetworkRoute,
  pageOf,
  rateHeaders,
  readPageChoice,
  readWindow,
  type Window,
  xml,
} from './answer.ts';
import { type Ledger, numberOf, type Programme, percent } from './ledger.ts';
import { type NetworkSale, versionAt, versionsAt } from './network-sale.ts';

const { account, credentials } = ACCOUNTS.impact;
const RATE = { name: 'impact', requests: 1_000, perMs: 60 * MINUTE_MS };
const DAYS_MAX = 45;
const PAST_DAYS_MAX = 3 * 365;
const PAGE_SIZE = 1_000;
const STATES = { PENDING: 'PENDING', CONFIRMED: 'APPROVED', DECLINED: 'REVERSED' } as const;
/** An empty list has one of these forms, or its usual one. */
const EMPTY = ['null', '{}', '[]', undefined];
/** impact.com's names of countries that are not their ISO names in capitals. */
const REGIONS: Readonly<Record<string, string>> = { GB: 'UK', US: 'US', CZ: 'CZECHREPUBLIC' };

export function fakeImpact(ledger: Ledger, pageSizeMax = PAGE_SIZE): FakeNetwork {
  const route = (path: string, answer: NetworkRoute['answer']) =>
    get(new RegExp(`^/Mediapartners/${account}/${path}/?$`), RATE, (request, ...parts) =>
      acceptsJson(request)
        ? answer(request, ...parts)
        : xml(`<ImpactRadiusResponse uri="${escapeXml(request.url.pathname)}"/>`),
    );
  const list = (path: string, name: string, rows: (programme: Programme) => readonly unknown[]) =>
    route(path, (request) =>
      page(name, ledger.programmes('impact', request.nowMs).flatMap(rows), request, pageSizeMax),
    );
  return {
    name: 'impact',
    refuse: ({ headers }) =>
      headers.get('Authorization') === basic(account, credentials.token)
        ? undefined
        : failure(401, 'Authentication failed'),
    tooMany: (waitMs, rate) => ({
      ...failure(429, 'Rate limit exceeded'),
      headers: { 'Content-Type': 'application/json', ...rateHeaders(0, waitMs, rate) },
    }),
    rateHeaders,
    routes: [
      route('Actions', (request) => listActions(ledger, request, pageSizeMax)),
      list('Campaigns', 'Campaigns', campaignRows),
      list('Contracts', 'Contracts', contractRows),
      list('PromoCodes', 'PromoCodes', promoCodeRows),
      route('Campaigns/(\\d+)/Deals', (request, campaign) => {
        const found = ledger.programme('impact', Number(campaign), request.nowMs);
        return page('Deals', found === undefined ? [] : dealRows(found), request, pageSizeMax);
      }),
    ],
  };
}

function failure(status: number, message: string): Answer {
  return json({ Status: 'ERROR', Message: message }, status);
}

function listActions(ledger: Ledger, request: NetworkRequest, pageSizeMax: number): Answer {
  const { url, nowMs, fault } = request;
  const { searchParams } = url;
  const names = ['StartDate', 'EndDate', 'ActionDateStart', 'ActionDateEnd'];
  const byChange = readWindow(searchParams.get('StartDate'), searchParams.get('EndDate'), true);
  const byEvent = readWindow(searchParams.get('ActionDateStart'), searchParams.get('ActionDateEnd'), true);
  if (names.some((name) => searchParams.has(name)) && byChange === undefined && byEvent === undefined)
    return failure(400, 'The dates are invalid');
  const window: Window = byChange ?? byEvent ?? { fromMs: nowMs - 7 * DAY_MS, toMs: nowMs };
  if (daysOf(window) > DAYS_MAX)
    return failure(400, `The date range must not be longer than ${DAYS_MAX} days`);
  if (window.fromMs < nowMs - PAST_DAYS_MAX * DAY_MS)
    return failure(400, 'The start date is more than 3 years ago');
  const find = () =>
    ledger
      .sales('impact', nowMs)
      .filter((sale) => isIn(window, byEvent === undefined ? ledger.changedMs(sale, nowMs) : sale.soldMs));
  const [first] = find();
  if (fault === 'drift' && first !== undefined && searchParams.has('Page')) ledger.touch(first, nowMs);
  const rows = find().map((sale) => actionRow(ledger, sale, nowMs));
  return page('Actions', rows, fault === 'drift' ? { ...request, fault: undefined } : request, pageSizeMax);
}

function page(name: string, all: readonly unknown[], request: NetworkRequest, sizeMax: number): Answer {
  const { url, fault } = request;
  if (all.length === 0 && fault === 'odd empty') {
    const body = EMPTY[digitSum(url.search) % EMPTY.length] ?? `{"${name}":[]}`;
    return { status: 200, body, headers: { 'Content-Type': 'application/json' } };
  }
  const choice = readPageChoice(url, ['Page', 'PageSize'], { standard: PAGE_SIZE, max: sizeMax });
  const { page: number, size } = choice;
  const { rows, total, pages } = pageOf(all, choice, fault);
  const uriOf = (to: number) => {
    const query = new URLSearchParams(url.searchParams);
    query.set('Page', String(to));
    query.set('PageSize', String(size));
    return `${url.pathname}?${query}`;
  };
  const next = fault === 'self link' ? uriOf(number) : number < pages ? uriOf(number + 1) : '';
  return json({
    '@page': String(number),
    '@numpages': String(pages),
    '@pagesize': String(size),
    '@total': String(total),
    '@start': String((number - 1) * size),
    '@uri': uriOf(number),
    '@firstpageuri': uriOf(1),
    '@previouspageuri': number > 1 ? uriOf(number - 1) : '',
    '@nextpageuri': next,
    '@lastpageuri': uriOf(pages),
    [name]: rows,
  });
}

function digitSum(text: string): number {
  return text.match(/\d/g)?.reduce((sum, digit) => sum + Number(digit), 0) ?? 0;
}

/** impact.com prints times in the zone of the account. */
function printZoned(ms: number | undefined): string {
  return ms === undefined ? '' : `${printSecond(ms + 3_600_000)}+01:00`;
}

function actionRow(ledger: Ledger, sale: NetworkSale, nowMs: number) {
  const { key, soldMs, decimals } = sale;
  const version = versionAt(sale, nowMs);
  const isReversed = version.status === 'DECLINED';
  const [first] = sale.versions;
  const settled = versionsAt(sale, nowMs).find(({ status }) => status !== 'PENDING');
  const campaign = ledger.advertiserId(sale.retailerId);
  const print = (amount: number) => amount.toFixed(decimals === 0 ? 0 : 2);
  return {
    Id: actionId(ledger, sale),
    CampaignId: String(campaign),
    CampaignName: `Campaign ${campaign}`,
    ActionTrackerId: String(numberOf(sale.offerId)),
    ActionTrackerName: 'Online Sale',
    State: STATES[version.status],
    AdId: '506720',
    Payout: print(isReversed ? 0 : version.commission),
    DeltaPayout: print(isReversed ? -version.commission : version.commission - first.commission),
    IntendedPayout: print(version.commission),
    Amount: print(isReversed ? 0 : version.orderValue),
    DeltaAmount: print(isReversed ? -version.orderValue : version.orderValue - first.orderValue),
    IntendedAmount: print(version.orderValue),
    Currency: sale.currency,
    ReferringDate: printZoned(sale.clickedMs),
    EventDate: printZoned(soldMs),
    CreationDate: printZoned(first.atMs),
    LockingDate: printZoned(settled?.atMs ?? soldMs + 30 * DAY_MS),
    ClearedDate: '',
    ReferringType: 'CLICK_COOKIE',
    PromoCode: '',
    Oid: `A-${key}`,
    CustomerCountry: sale.country,
    SubId1: sale.subId ?? '',
    SubId2: sale.subData ?? '',
    SubId3: '',
    SharedId: '',
    Uri: `/Mediapartners/${account}/Actions/${key}`,
  };
}

export function actionId(ledger: Ledger, { key, retailerId }: NetworkSale): string {
  return `${ledger.advertiserId(retailerId)}.4636.${key}`;
}

function campaignRows({ advertiserId, retailer }: Programme) {
  const codes = new Set(retailer.cashbackOffers.flatMap(({ countries }) => countries));
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return [
    {
      AdvertiserId: String(advertiserId),
      AdvertiserName: retailer.name,
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

function contractRows({ advertiserId, retailer }: Programme) {
  return [
    {
      Id: `S-${advertiserId}`,
      CampaignId: String(advertiserId),
      Status: 'ACTIVE',
      Terms: {
        Currency: 'EUR',
        EventPayouts: retailer.cashbackOffers.map((offer) => ({
          EventTypeId: String(numberOf(offer.id)),
          EventTypeName: offer.description,
          EventCategory: 'SALE',
          ...(offer.maximumFixedCommissionFee === null
            ? { DefaultPayoutRate: String(percent(offer.cashbackPercentage)) }
            : { DefaultPayoutRate: '0', DefaultPayout: String(offer.maximumFixedCommissionFee) }),
        })),
        SpecialTermsList: [{ TermsContent: '<p>Not on gift cards.</p>' }],
      },
    },
  ];
}

function promoCodeRows({ advertiserId, retailer }: Programme) {
  return retailer.coupons.map((coupon) => ({
    Id: String(numberOf(coupon.id)),
    Code: coupon.code,
    State: 'ACTIVE',
    Program: { Id: String(advertiserId), Name: retailer.name },
    Deal: { Id: String(numberOf(coupon.id)), Name: coupon.description },
    MatchMode: 'LI',
    StartDate: `${coupon.startDate}Z`,
    EndDate: `${coupon.endDate}Z`,
  }));
}

function dealRows({ advertiserId, retailer }: Programme) {
  return retailer.promotions.map((promotion) => ({
    Id: String(numberOf(promotion.id)),
    Name: promotion.description,
    Description: promotion.description,
    CampaignId: String(advertiserId),
    State: 'ACTIVE',
    Type: 'GENERAL_SALE',
    DefaultPromoCode: '',
    StartDate: `${promotion.startDate}Z`,
    EndDate: `${promotion.endDate}Z`,
  }));
}
