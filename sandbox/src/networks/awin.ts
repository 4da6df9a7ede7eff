// A fake of Awin's publisher API: 20 requests a minute, windows of 31 days, and three date filters. An amendment has no date
// in its row; only the amendment filter finds it.

import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import { ACCOUNTS } from './accounts.ts';
import { type FakeNetwork, type NetworkRequest, Refusal, readJson, readPage, readWindow } from './fake.ts';
import { dealsOf, type Programme } from './ledger.ts';
import { type Amounts, type NetworkSale, versionAt, versionsAt } from './network-sale.ts';

const DAYS_MAX = 31;
const PAGE_SIZE_MAX = 200;
const STATUSES = { PENDING: 'pending', CONFIRMED: 'approved', DECLINED: 'declined' } as const;
const ERRORS: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'invalid_token',
  403: 'forbidden',
  404: 'not_found',
  429: 'too_many_requests',
};

export const awin: FakeNetwork = {
  rate: { requests: 20, perMs: MINUTE_MS },
  listSale,
  isAuthorised: ({ headers }) => headers.get('Authorization') === `Bearer ${ACCOUNTS.awin.credentials.token}`,
  failure: (status, description) => Response.json({ error: ERRORS[status], description }, { status }),
  routes: {
    'GET /publishers/{account}/transactions': listTransactions,
    'GET /publishers/{account}/programmes': ({ programmes }) => Response.json(programmes().map(programmeRow)),
    'GET /publishers/{account}/commissiongroups': listGroups,
    // Not a typo: only this path has `publisher` in the singular.
    'POST /publisher/{account}/promotions': listPromotions,
  },
};

function listTransactions({ url, listed }: NetworkRequest): Response {
  const { searchParams } = url;
  if ((searchParams.get('timezone') ?? 'UTC') !== 'UTC')
    throw new Refusal(400, 'this sandbox supports only the timezone UTC');
  const window = readWindow(searchParams, 'startDate', 'endDate', '', DAYS_MAX);
  const filter = searchParams.get('dateType') ?? 'transaction';
  if (!['transaction', 'validation', 'amendment'].includes(filter))
    throw new Refusal(400, 'unknown dateType');
  return Response.json(listed({ [filter]: window }).map(({ row }) => row()));
}

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

function listSale(sale: NetworkSale, nowMs: number) {
  const changes = sale.isLeaky
    ? {}
    : { validation: validatedMs(sale, nowMs), amendment: amendment(sale, nowMs)?.atMs };
  return [{ times: { transaction: sale.soldMs, ...changes }, row: () => saleRow(sale, nowMs) }];
}

function saleRow(sale: NetworkSale, nowMs: number) {
  const { key, country, currency, clickedMs, subId, subData } = sale;
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
    advertiserId: sale.advertiserId,
    commissionStatus: isDeclined && key % 5 === 0 ? 'deleted' : STATUSES[version.status],
    commissionAmount: money(commission),
    saleAmount: money(orderValue),
    customerCountry: country,
    clickRefs: subId === undefined ? null : { clickRef: subId, ...(subData && { clickRef2: subData }) },
    clickDate: clickedMs === undefined ? null : printSecond(clickedMs),
    transactionDate: printSecond(sale.soldMs),
    validationDate: decidedMs === undefined ? null : printSecond(decidedMs),
    voucherCode: null,
    amended: amended !== undefined,
    oldSaleAmount: before === undefined ? null : money(before.orderValue),
    oldCommissionAmount: before === undefined ? null : money(before.commission),
    advertiserCountry: country,
    transactionParts: [{ commissionGroupId: sale.offerNumber, commissionAmount: commission }],
  };
}

function programmeRow({ advertiserId, retailer }: Programme) {
  return {
    id: advertiserId,
    name: retailer.name,
    displayUrl: retailer.url,
    membershipStatus: 'joined',
    logoUrl: retailer.logo,
    primaryRegion: { countryCode: retailer.cashbackOffers[0]?.countries[0] },
    validDomains: [{ domain: retailer.hostname }],
  };
}

function listGroups({ url, programmes }: NetworkRequest): Response {
  const id = Number(url.searchParams.get('advertiserId'));
  const programme = programmes().find(({ advertiserId }) => advertiserId === id);
  if (programme === undefined) throw new Refusal(404, 'You have not joined this programme');
  return Response.json({
    advertiser: id,
    commissionGroups: programme.offers.map(({ number, description, fixed, percent }) => ({
      groupId: number,
      groupName: description,
      ...(fixed === null
        ? { type: 'percentage', percentage: percent }
        : { type: 'fix', amount: fixed, currency: 'EUR' }),
    })),
  });
}

function listPromotions(request: NetworkRequest): Response {
  const offers = request.programmes().flatMap((programme) =>
    dealsOf(programme).map(({ number, code, description, startDate, endDate, url }) => ({
      promotionId: number,
      type: code === undefined ? 'promotion' : 'voucher',
      advertiser: { id: programme.advertiserId, name: programme.retailer.name, joined: true },
      title: description,
      description,
      startDate: `${startDate}+00:00`,
      endDate: `${endDate}+00:00`,
      url,
      ...(code === undefined ? {} : { voucher: { code } }),
    })),
  );
  // The page is in the body, and not in the query.
  const asked = new URLSearchParams(readJson(request.body).pagination as Record<string, string>);
  const found = readPage(offers, request, ['page', 'pageSize'], PAGE_SIZE_MAX, { asked });
  const { rows, page, size: pageSize, pages: totalPages } = found;
  return Response.json({ data: rows, pagination: { page, pageSize, totalPages } });
}
