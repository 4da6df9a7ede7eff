// Awin: one row per transaction, with a status. Times are in the time zone that was requested. Responses do not contain the
// zone, so the source file must name it.

import { type Amount, compare, isZero, ofPercent, sum } from '@offerbook/wire/amount.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import { type CatalogueFact, leftOut, type Rate, readSeparately } from '../catalogue/facts.ts';
import { joinTexts } from '../catalogue/texts.ts';
import { type Fields, quote } from '../fields.ts';
import type { FeedFormat, FeedShape, PageInfo } from '../formats/feed-row.ts';
import type { AffiliateNetwork, Commission, NetworkFeeds, Sale } from '../network.ts';
import type { SourceOf } from '../source/source-file.ts';
import { parseEnd, parseTime, patternReader } from '../zoned-time.ts';
import { pullCatalogue, pullSales } from './awin-pull.ts';

export const awin: AffiliateNetwork<'awin'> = { openFeeds, pullSales, pullCatalogue };

const AWIN = {
  statuses: {
    pending: 'PENDING',
    approved: 'CONFIRMED',
    declined: 'DECLINED',
    deleted: 'DECLINED',
  },
  /** C. Fields of error responses, as seen in practice. */
  error: { code: 'error', message: 'description' },
  /** B. */
  joined: ['joined', 'Joined'],
  /** B. Regions that are not countries: Brazilian programmes that pay in US dollars. */
  regions: new Map([['BU', 'BR']]),
  rateTypes: { percentage: 'fraction', fix: 'fixed' },
  /** B. Fields that can contain the offer list. Third-party clients read `data`; `offers` occurs only in the tests of one of them. */
  offerLists: [['data'], ['offers']],
  /** B for the API's values, C for those in the CSV export. */
  offerTypes: {
    voucher: 'coupon',
    promotion: 'promotion',
    Voucher: 'coupon',
    Vouchers: 'coupon',
    Promotion: 'promotion',
    Promotions: 'promotion',
  },
  /** B. Fields of an offer in the API's JSON and in the CSV export of the user interface. */
  offer: {
    id: ['promotionId', 'Promotion ID'],
    advertiserId: ['advertiser.id', 'Advertiser ID'],
    type: ['type', 'Type'],
    code: ['voucher.code', 'Code'],
    title: ['title', 'Title'],
    description: ['description', 'Description'],
    start: ['startDate', 'Starts'],
    end: ['endDate', 'Ends'],
    link: ['url', 'Deeplink'],
  },
  /** B. Offer times are in this zone; the pattern applies to the CSV export. */
  offerTimes: { pattern: 'DD/MM/YYYY HH:mm:ss', zone: 'UTC' },
} as const;

type GroupShares = Readonly<Record<string, number>>;

function openFeeds(source: SourceOf<'awin'>): NetworkFeeds {
  const shape: FeedShape = { json: [], readPageInfo };
  return {
    transactions: { shape, readSale: (row) => readSale(row, source.share.groups) },
    catalogue: {
      programmes: { shape, readFacts: readProgramme },
      'commission-groups': { shape, readFacts: readCommissionGroups },
      offers: {
        shape: {
          json: AWIN.offerLists,
          csv: { columns: Object.values(AWIN.offer).map(([, name]) => name) },
          readPageInfo,
        },
        readFacts: (row, _advertiserId, format) => readOffer(row, format),
      },
    },
  };
}

function readPageInfo(response: Fields): PageInfo {
  const code = response.find(AWIN.error.code);
  if (typeof code === 'string') return { error: joinTexts(code, response.findText(AWIN.error.message)) };
  const page = response.findWholeNumber('pagination.page');
  const pages = response.findWholeNumber('pagination.totalPages');
  return page === undefined || pages === undefined ? {} : { page, hasMore: page < pages };
}

function readSale(row: Fields, groupShares: GroupShares): Sale {
  const status = row.meaning('commissionStatus', AWIN.statuses) ?? 'PENDING';
  const currency = row.text('saleAmount.currency');
  const commissionCurrency = row.text('commissionAmount.currency');
  if (currency !== '' && commissionCurrency !== '' && commissionCurrency !== currency) {
    row.fail('commissionAmount.currency', `is not ${quote(currency)}, the currency of the sale`);
  }
  const isDeclined = status === 'DECLINED';
  const orderValue = keptAmount(row, 'saleAmount', isDeclined, ['oldSaleAmount', 'originalSaleAmount']);
  const commission = keptAmount(row, 'commissionAmount', isDeclined, ['oldCommissionAmount']);
  const parts = readParts(row);
  const validatedAt = row.findTime('validationDate');
  const areEmptied = isDeclined && parts.length > 1 && parts.every((part) => isZero(part.commission));
  return {
    // An amendment has no timestamp of its own, but supersedes the version that it amends.
    version:
      (validatedAt === undefined ? 0 : timestampMs(validatedAt)) + (row.find('amended') === true ? 1 : 0),
    changedAt: status === 'PENDING' ? undefined : validatedAt,
    id: row.text('id'),
    advertiserId: row.text('advertiserId'),
    status,
    country: row.findText('customerCountry') ?? row.findText('advertiserCountry'),
    clickedAt: row.findTime('clickDate'),
    soldAt: row.time('transactionDate'),
    currency,
    orderValue,
    commissions: splitByGroup(row, commission, parts, areEmptied, groupShares),
    subId: row.findText('clickRefs.clickRef'),
    subData: row.findText('clickRefs.clickRef2'),
    offerId: areEmptied ? undefined : largestPart(parts)?.group,
    couponCode: row.findText('voucherCode'),
  };
}

/** A declined sale can have the amount 0; its original amount is then in another field. */
function keptAmount(row: Fields, field: string, isDeclined: boolean, before: readonly string[]): Amount {
  const amount = row.amount(`${field}.amount`);
  if (!isDeclined || !isZero(amount)) return amount;
  for (const name of before) {
    const old = row.findAmount(`${name}.amount`);
    if (old !== undefined && !isZero(old)) return old;
  }
  return amount;
}

type Part = ReturnType<typeof readParts>[number];

function readParts(row: Fields) {
  return row.list('transactionParts').flatMap((part) => {
    const group = part.findText('commissionGroupId');
    const commission = part.findAmount('commissionAmount');
    return group === undefined || commission === undefined ? [] : [{ group, commission }];
  });
}

/** Ties are broken by id, so that the order of the parts does not matter. */
function largestPart(parts: readonly Part[]): Part | undefined {
  return parts.toSorted((a, b) => compare(b.commission, a.commission) || (a.group < b.group ? -1 : 1))[0];
}

/** Splits the commission by group if one of the groups has its own share. */
function splitByGroup(
  row: Fields,
  commission: Amount,
  parts: readonly Part[],
  areEmptied: boolean,
  groupShares: GroupShares,
): Commission[] {
  if (!parts.some(({ group }) => Object.hasOwn(groupShares, group))) return [{ amount: commission }];
  // If the parts of a declined sale are all 0, another version may have their amounts.
  if (areEmptied || compare(sum(parts.map((part) => part.commission)), commission) === 0) {
    return parts.map(({ group, commission: amount }) => ({ group, amount }));
  }
  const [only, ...others] = parts;
  if (others.length === 0) return [{ group: only?.group, amount: commission }];
  row.fail('transactionParts', 'do not add up to the commission, and their groups have different shares');
  return [];
}

function readProgramme(row: Fields): CatalogueFact {
  if (row.isOther('membershipStatus', AWIN.joined)) return leftOut('programmes that you have not joined');
  const region = row.findText('primaryRegion.countryCode');
  return {
    kind: 'retailer',
    advertiserId: row.text('id'),
    name: row.text('name'),
    url: row.text('displayUrl'),
    domains: row.list('validDomains').flatMap((site) => site.findText('domain') ?? []),
    logo: row.findText('logoUrl'),
    countries: region === undefined ? undefined : [AWIN.regions.get(region) ?? region],
  };
}

function readCommissionGroups(row: Fields): CatalogueFact[] {
  const advertiserId = row.text('advertiser');
  return readSeparately(row.list('commissionGroups'), (group) => ({
    kind: 'offer',
    advertiserId,
    id: group.text('groupId'),
    rate: readRate(group),
    description: group.findText('groupName') ?? '',
    terms: printConditions(group),
  }));
}

function readRate(group: Fields): Rate {
  if (group.meaning('type', AWIN.rateTypes) === 'fixed') {
    return { fixed: group.amount('amount'), currency: group.text('currency') };
  }
  return { fraction: ofPercent(group.amount('percentage')) };
}

function printConditions(group: Fields): string | undefined {
  const conditions = group.list('conditions').map((condition) => {
    const values = condition.list('values').map((value) => value.text(''));
    return [condition.findText('type'), condition.findText('operator'), values.join(', ')]
      .filter((text) => text !== undefined && text !== '')
      .join(' ');
  });
  return conditions.length === 0 ? undefined : conditions.join('; ');
}

function readOffer(row: Fields, format: FeedFormat): CatalogueFact {
  const isCsv = format === 'CSV';
  const fields = AWIN.offer;
  const at = isCsv ? 1 : 0;
  if (row.find('advertiser.joined') === false)
    return leftOut('offers of programmes that you have not joined');
  const { pattern, zone } = AWIN.offerTimes;
  const readTime = isCsv ? patternReader(pattern) : parseTime;
  const readEnd = isCsv ? patternReader(pattern, parseEnd) : parseEnd;
  const deal = {
    advertiserId: row.text(fields.advertiserId[at]),
    id: row.text(fields.id[at]),
    description: joinTexts(row.findText(fields.title[at]), row.findText(fields.description[at])),
    startDate: row.findTime(fields.start[at], (text) => readTime(text, zone)),
    endDate: row.findTime(fields.end[at], (text) => readEnd(text, zone)),
  };
  const type = row.meaning(fields.type[at], AWIN.offerTypes);
  if (type === 'coupon') return { kind: 'coupon', ...deal, code: row.text(fields.code[at]) };
  // Awin's tracking link is not used: it has no sub-id, so its sales would have no owner.
  return { kind: 'promotion', ...deal, deepLink: row.findText(fields.link[at]) };
}
