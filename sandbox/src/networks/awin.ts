// A fake of Awin's publisher API: 20 requests a minute, windows of 31 days, and three date filters. An amendment has no date
// in its row; only the amendment filter finds it.

import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '../wire.ts';
import { ACCOUNTS } from './accounts.ts';
import {
  type Answer,
  daysOf,
  type FakeNetwork,
  get,
  isIn,
  json,
  type NetworkRequest,
  type NetworkRoute,
  type PageChoice,
  pageOf,
  post,
  readCount,
  readWindow,
} from './answer.ts';
import { dealsOf, type Ledger, numberOf, type Programme, percent } from './ledger.ts';
import { type Amounts, type NetworkSale, versionAt, versionsAt } from './network-sale.ts';

const { account, credentials } = ACCOUNTS.awin;
const RATE = { name: 'awin', requests: 20, perMs: MINUTE_MS };
const DAYS_MAX = 31;
const PAGE_SIZE_MAX = 200;
const STATUSES = { PENDING: 'pending', CONFIRMED: 'approved', DECLINED: 'declined' } as const;

export function fakeAwin(ledger: Ledger, pageSizeMax = PAGE_SIZE_MAX): FakeNetwork {
  return {
    name: 'awin',
    refuse: ({ headers }) =>
      headers.get('Authorization') === `Bearer ${credentials.token}`
        ? undefined
        : failure(401, 'invalid_token', 'The access token is invalid'),
    tooMany: () => failure(429, 'too_many_requests', 'You have exceeded the API throttling limit'),
    routes: [
      get(/^\/accounts\/?$/, RATE, () =>
        json({
          userId: 1,
          accounts: [
            {
              accountId: Number(account),
              accountName: 'Sandbox',
              accountType: 'publisher',
              userRole: 'Owner',
            },
          ],
        }),
      ),
      list('transactions', (request) => listTransactions(ledger, request)),
      list('programmes', (request) => listProgrammes(ledger, request)),
      list('commissiongroups', (request) => listGroups(ledger, request)),
      // Not a typo: only this path has `publisher` in the singular.
      post(/^\/publisher\/(\d+)\/promotions\/?$/, RATE, (request, publisher) =>
        forAccount(publisher, () => listPromotions(ledger, request, pageSizeMax)),
      ),
    ],
  };
}

function list(name: string, answer: (request: NetworkRequest) => Answer): NetworkRoute {
  const path = new RegExp(`^/publishers/(\\d+)/${name}/?$`);
  return get(path, RATE, (request, publisher) => forAccount(publisher, () => answer(request)));
}

function forAccount(publisher: string | undefined, answer: () => Answer): Answer {
  return publisher === account
    ? answer()
    : failure(403, 'forbidden', 'You do not have access to this account');
}

function failure(status: number, error: string, description: string): Answer {
  return json({ error, description }, status);
}

function listTransactions(ledger: Ledger, { url, nowMs }: NetworkRequest): Answer {
  const { searchParams } = url;
  const sales = ledger.sales('awin', nowMs);
  const ids = searchParams.get('ids');
  if (ids !== null) {
    const wanted = new Set(ids.split(','));
    return json(sales.filter(({ key }) => wanted.has(String(key))).map((sale) => row(ledger, sale, nowMs)));
  }
  if ((searchParams.get('timezone') ?? 'UTC') !== 'UTC')
    return failure(400, 'bad_request', 'this sandbox supports only the timezone UTC');
  const window = readWindow(searchParams.get('startDate'), searchParams.get('endDate'));
  if (window === undefined) return failure(400, 'bad_request', 'startDate and endDate are required');
  if (daysOf(window) > DAYS_MAX)
    return failure(400, 'bad_request', `The period must not be longer than ${DAYS_MAX} days`);
  const dateOf = DATES[searchParams.get('dateType') ?? 'transaction'];
  if (dateOf === undefined) return failure(400, 'bad_request', 'unknown dateType');
  const status = searchParams.get('status');
  const rows = sales
    .filter((sale) => isIn(window, dateOf(sale, nowMs, ledger)))
    .map((sale) => row(ledger, sale, nowMs));
  return json(status === null ? rows : rows.filter(({ commissionStatus }) => commissionStatus === status));
}

type DateOf = (sale: NetworkSale, nowMs: number, ledger: Ledger) => number | undefined;

const DATES: Readonly<Record<string, DateOf>> = {
  transaction: ({ soldMs }) => soldMs,
  validation: (sale, nowMs, ledger) => (ledger.leaks(sale) ? undefined : validatedMs(sale, nowMs)),
  amendment: (sale, nowMs, ledger) => (ledger.leaks(sale) ? undefined : amendment(sale, nowMs)?.atMs),
};

/** When the sale was last confirmed or declined. */
function validatedMs(sale: NetworkSale, nowMs: number): number | undefined {
  const versions = versionsAt(sale, nowMs);
  return versions.findLast(({ status }, index) => status !== (versions[index - 1]?.status ?? 'PENDING'))
    ?.atMs;
}

/** The last change of the amounts. */
function amendment(sale: NetworkSale, nowMs: number): { atMs: number; before: Amounts } | undefined {
  const versions = versionsAt(sale, nowMs);
  const index = versions.findLastIndex(
    ({ orderValue }, number) => orderValue !== (versions[number - 1]?.orderValue ?? orderValue),
  );
  const [before, after] = [versions[index - 1], versions[index]];
  return before === undefined || after === undefined ? undefined : { atMs: after.atMs, before };
}

function row(ledger: Ledger, sale: NetworkSale, nowMs: number) {
  const { key, currency, soldMs, clickedMs } = sale;
  const version = versionAt(sale, nowMs);
  const isDeclined = version.status === 'DECLINED';
  // Some declined sales lose their amounts, and some are called deleted.
  const isEmptied = isDeclined && key % 2 === 0;
  const { orderValue, commission } = isEmptied ? { orderValue: 0, commission: 0 } : version;
  const amended = amendment(sale, nowMs);
  const before = isEmptied ? version : amended?.before;
  const decidedMs = validatedMs(sale, nowMs);
  const money = (amount: number) => ({ amount, currency });
  return {
    id: key,
    url: 'https://cashback.example',
    advertiserId: ledger.advertiserId(sale.retailerId),
    publisherId: Number(account),
    commissionSharingPublisherId: 0,
    campaign: '',
    siteName: 'Sandbox',
    commissionStatus: isDeclined && key % 5 === 0 ? 'deleted' : STATUSES[version.status],
    commissionAmount: money(commission),
    saleAmount: money(orderValue),
    ipHash: String(key % 1_000_003),
    customerCountry: sale.country,
    clickRefs:
      sale.subId === undefined
        ? null
        : { clickRef: sale.subId, ...(sale.subData && { clickRef2: sale.subData }) },
    clickDate: clickedMs === undefined ? null : printSecond(clickedMs),
    transactionDate: printSecond(soldMs),
    validationDate: decidedMs === undefined ? null : printSecond(decidedMs),
    type: 'Commission group transaction',
    declineReason: isDeclined ? 'Returned' : null,
    voucherCodeUsed: false,
    voucherCode: null,
    lapseTime: clickedMs === undefined ? 0 : (soldMs - clickedMs) / 1000,
    amended: amended !== undefined,
    amendReason: amended === undefined ? null : 'Partial return',
    oldSaleAmount: before === undefined ? null : money(before.orderValue),
    oldCommissionAmount: before === undefined ? null : money(before.commission),
    clickDevice: 'Windows',
    transactionDevice: 'Windows',
    publisherUrl: 'https://cashback.example/',
    advertiserCountry: sale.country,
    orderRef: `A-${key}`,
    customParameters: null,
    transactionParts: [
      {
        commissionGroupId: numberOf(sale.offerId),
        amount: orderValue,
        commissionAmount: commission,
        commissionGroupCode: 'DEFAULT',
        commissionGroupName: 'Default',
      },
    ],
    paidToPublisher: false,
    paymentId: 0,
    transactionQueryId: 0,
    originalSaleAmount: null,
  };
}

/** Without a relationship, Awin also lists programmes that the publisher has not joined. */
function listProgrammes(ledger: Ledger, { url, nowMs }: NetworkRequest): Answer {
  const joined = ledger.programmes('awin', nowMs).map((programme) => programmeRow(programme, 'joined'));
  if (url.searchParams.get('relationship') === 'joined') return json(joined);
  const others = ledger.programmes('cj', nowMs).map((programme) => programmeRow(programme, 'notjoined'));
  return json([...joined, ...others]);
}

function programmeRow({ advertiserId, retailer }: Programme, membershipStatus: string) {
  const countryCode = retailer.cashbackOffers[0]?.countries[0];
  return {
    id: advertiserId,
    name: retailer.name,
    displayUrl: retailer.url,
    clickThroughUrl: `https://www.awin1.com/awclick.php?mid=${advertiserId}&id=${account}`,
    membershipStatus,
    logoUrl: retailer.logo,
    currencyCode: 'EUR',
    primaryRegion: { name: countryCode, countryCode },
    validDomains: [{ domain: retailer.hostname }],
  };
}

function listGroups(ledger: Ledger, { url, nowMs }: NetworkRequest): Answer {
  const id = Number(url.searchParams.get('advertiserId'));
  const programme = ledger.programme('awin', id, nowMs);
  if (programme === undefined) return failure(404, 'not_found', 'You have not joined this programme');
  return json({
    advertiser: id,
    publisher: Number(account),
    commissionGroups: programme.retailer.cashbackOffers.map((offer, number) => ({
      groupId: numberOf(offer.id),
      groupCode: number === 0 ? 'DEFAULT' : `GROUP${number}`,
      groupName: offer.description,
      ...(offer.maximumFixedCommissionFee === null
        ? { type: 'percentage', percentage: percent(offer.cashbackPercentage) }
        : { type: 'fix', amount: offer.maximumFixedCommissionFee, currency: 'EUR' }),
    })),
  });
}

function listPromotions(ledger: Ledger, { body, nowMs, fault }: NetworkRequest, pageSizeMax: number): Answer {
  const choice = parsePagination(body, pageSizeMax);
  if (choice === undefined) return failure(400, 'bad_request', 'the body must be a JSON object');
  const offers = ledger.programmes('awin', nowMs).flatMap(({ advertiserId, retailer }) =>
    dealsOf(retailer).map(({ deal, code, url }) => ({
      promotionId: numberOf(deal.id),
      type: code === undefined ? 'promotion' : 'voucher',
      advertiser: { id: advertiserId, name: retailer.name, joined: true },
      title: deal.description,
      description: deal.description,
      terms: '',
      startDate: `${deal.startDate}+00:00`,
      endDate: `${deal.endDate}+00:00`,
      url,
      campaign: '',
      regions: { all: true, list: [] },
      ...(code === undefined ? {} : { voucher: { code, exclusive: false, attributable: false } }),
    })),
  );
  const { rows, pages } = pageOf(offers, choice, fault);
  const { page, size: pageSize } = choice;
  return json({ data: rows, pagination: { page, pageSize, totalPages: pages } });
}

function parsePagination(body: string, sizeMax: number): PageChoice | undefined {
  try {
    const { pagination } = JSON.parse(body) as { pagination?: { page?: number; pageSize?: number } };
    return {
      page: Math.max(1, readCount(String(pagination?.page), 1)),
      size: Math.max(1, readCount(String(pagination?.pageSize), 10, sizeMax)),
    };
  } catch {
    return undefined;
  }
}
