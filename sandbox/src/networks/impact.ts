// A fake of impact.com's partner API: windows of 45 days by last change, pages that drift while rows change, and answers in XML
// unless the client asks for JSON.

import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import { COUNTRIES } from '../countries.ts';
import { printSecond } from '../wire.ts';
import { ACCOUNTS, basic } from './accounts.ts';
import {
  type Answer,
  acceptsJson,
  type FakeContext,
  type FakeNetwork,
  get,
  json,
  type ListedRow,
  linkTo,
  type NetworkRequest,
  type NetworkRoute,
  Refusal,
  rateHeaders,
  readPage,
  readWindow,
  xml,
} from './fake.ts';
import { type Ledger, numberOf, type Programme, percent } from './ledger.ts';
import { type NetworkSale, versionAt, versionsAt } from './network-sale.ts';

const { credentials } = ACCOUNTS.impact;
const DAYS_MAX = 45;
const PAST_DAYS_MAX = 3 * 365;
const PAGE_SIZE = 1_000;
const STATES = { PENDING: 'PENDING', CONFIRMED: 'APPROVED', DECLINED: 'REVERSED' } as const;
/** Bodies of an empty list; undefined stands for the usual envelope. */
const EMPTY = ['null', '{}', '[]', undefined];
/** impact.com's names of countries that are not their ISO names in capitals. */
const REGIONS: Readonly<Record<string, string>> = { GB: 'UK', US: 'US', CZ: 'CZECHREPUBLIC' };

export function fakeImpact(context: FakeContext): FakeNetwork {
  const { ledger, account } = context;
  const route = (path: string, answer: NetworkRoute['answer']) =>
    get(`/Mediapartners/${account}/${path}`, (request, segment) =>
      acceptsJson(request)
        ? answer(request, segment)
        : xml(`<ImpactRadiusResponse uri="${Bun.escapeHTML(request.url.pathname)}"/>`),
    );
  const list = (path: string, name: string, rows: (programme: Programme) => readonly unknown[]) =>
    route(path, (request, segment) => {
      const programmes = ledger.programmes('impact', request.nowMs);
      const asked = programmes.filter(({ advertiserId }) => segment === '' || segment === `${advertiserId}`);
      return page(name, asked.flatMap(rows), request, context);
    });
  return {
    rate: { name: 'impact', requests: 1_000, perMs: HOUR_MS },
    listSale: (sale, nowMs) => listSale(ledger, sale, nowMs),
    isAuthorised: ({ headers }) => headers.get('Authorization') === basic(account, credentials.token),
    failure: (status, Message) => json({ Status: 'ERROR', Message }, status),
    rateHeaders,
    routes: [
      route('Actions', (request) => page('Actions', listActions(context, request), request, context)),
      list('Campaigns', 'Campaigns', campaignRows),
      list('Contracts', 'Contracts', contractRows),
      list('PromoCodes', 'PromoCodes', promoCodeRows),
      list('Campaigns/*/Deals', 'Deals', dealRows),
    ],
  };
}

function listActions({ listed }: FakeContext, request: NetworkRequest): unknown[] {
  const { url, nowMs } = request;
  const read = (from: string, to: string) =>
    url.searchParams.has(from) || url.searchParams.has(to)
      ? readWindow((name) => url.searchParams.get(name), from, to, { isZoned: true, daysMax: DAYS_MAX })
      : undefined;
  const changes = read('StartDate', 'EndDate');
  const event = read('ActionDateStart', 'ActionDateEnd');
  const standard = { changes: { fromMs: nowMs - 7 * DAY_MS, toMs: nowMs } };
  const filters = changes === undefined ? event && { event } : { changes };
  const oldestMs = nowMs - PAST_DAYS_MAX * DAY_MS;
  if (Math.min(changes?.fromMs ?? nowMs, event?.fromMs ?? nowMs) < oldestMs)
    throw new Refusal(400, 'The start date is more than 3 years ago');
  return listed(request, filters ?? standard).map(({ row }) => row(nowMs));
}

function page(
  name: string,
  all: readonly unknown[],
  request: NetworkRequest,
  { pageSizeMax = PAGE_SIZE }: FakeContext,
): Answer {
  const { url, fault } = request;
  if (all.length === 0 && fault === 'odd empty') {
    const digits = url.search.match(/\d/g)?.reduce((sum, digit) => sum + Number(digit), 0) ?? 0;
    const body = EMPTY[digits % EMPTY.length] ?? `{"${name}":[]}`;
    return { status: 200, body, headers: { 'Content-Type': 'application/json' } };
  }
  const rules = { standard: PAGE_SIZE, sizeMax: pageSizeMax };
  const found = readPage(all, request, ['Page', 'PageSize'], rules);
  const { rows, page: number, size, pages, total, isLast } = found;
  const uriOf = (to: number) => linkTo(url, { Page: String(to), PageSize: String(size) });
  return json({
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

function listSale(ledger: Ledger, sale: NetworkSale, nowMs: number): ListedRow[] {
  const times = { changes: ledger.changedMs(sale, nowMs), event: sale.soldMs };
  return [{ times, row: (atMs) => actionRow(ledger, sale, atMs) }];
}

function actionRow(ledger: Ledger, sale: NetworkSale, nowMs: number) {
  const { key, soldMs, decimals } = sale;
  const version = versionAt(sale, nowMs);
  const isReversed = version.status === 'DECLINED';
  const [first] = sale.versions;
  const settled = versionsAt(sale, nowMs).find(({ status }) => status !== 'PENDING');
  const campaign = ledger.advertiserId(sale.retailerId);
  const print = (amount: number) => amount.toFixed(decimals);
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
    ReferringType: 'CLICK_COOKIE',
    PromoCode: '',
    Oid: `A-${key}`,
    CustomerCountry: sale.country,
    SubId1: sale.subId ?? '',
    SubId2: sale.subData ?? '',
    SubId3: '',
    SharedId: '',
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
    DefaultPromoCode: '',
    StartDate: `${promotion.startDate}Z`,
    EndDate: `${promotion.endDate}Z`,
  }));
}
