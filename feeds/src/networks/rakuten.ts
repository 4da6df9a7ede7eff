// Rakuten Advertising: an order has one row per SKU and no status. A sale is pending until the operator's rule confirms it,
// and declined if the sum of its commissions is zero or less.

import { isNegative, isZero, ofPercent, sum } from '@offerbook/wire/amount.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import { type CatalogueFact, leftOut, readSeparately } from '../catalogue/facts.ts';
import { joinTexts } from '../catalogue/texts.ts';
import type { Fields } from '../fields.ts';
import type { FeedShape, PageInfo } from '../formats/feed-row.ts';
import type { AffiliateNetwork, LeftOutRow, NetworkFeeds, PartedSaleFeed, Sale } from '../network.ts';
import type { SourceOf } from '../source/source-file.ts';
import { latest, parseEnd, parseTime } from '../zoned-time.ts';
import { pullCatalogue, pullSales } from './rakuten-pull.ts';

export const rakuten: AffiliateNetwork<'rakuten'> = { openFeeds, pullSales, pullCatalogue };

const RAKUTEN = {
  /** `Sat Nov 14 2026 12:00:00 GMT+0000 (UTC)` */
  eventTime:
    /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT([+-]\d{4})(?: \([^)]*\))?$/,
  /** Values of `is_event`: "Y" marks media-optimisation events, which never earn a commission. */
  events: { Y: true, N: false },
  rateTypes: { percentage: true },
  activePartners: ['active'],
  /** C. Rakuten's networks, with their countries. Responses have the number, the name, or both: `1 - United States`. */
  networks: [
    { number: '1', name: 'United States', country: 'US' },
    { number: '3', name: 'United Kingdom', country: 'GB' },
    { number: '5', name: 'Canada', country: 'CA' },
    { number: '7', name: 'France', country: 'FR' },
    { number: '8', name: 'Germany', country: 'DE' },
    { number: '9', name: 'Australia', country: 'AU' },
    { number: '41', name: 'Brazil', country: 'BR' },
  ],
  /** C. Parameters of Rakuten's links that contain the retailer's URL. */
  linkTargets: ['murl', 'u', 'RD_PARM1'],
} as const;

function openFeeds(source: SourceOf<'rakuten'>, nowMs: number): NetworkFeeds {
  const transactions: PartedSaleFeed<SkuRow> = {
    shape: { json: [], readPageInfo },
    readPart: (row) => findLeftOut(row, source.transactionType) ?? readSku(row),
    joinParts: (rows, group) => joinSkus(rows, group, source, nowMs),
    findLack: (rows) => (rows.some(isPurchase) ? undefined : 'reversals of sales before the first pull'),
    findConflict: (rows) => (source.transactionType === undefined ? findMixedTypes(rows) : undefined),
  };
  const shape = (list: string): FeedShape => ({ json: [[list]], readPageInfo });
  return {
    transactions,
    catalogue: {
      advertisers: { shape: shape('advertisers'), readFacts: readAdvertiser },
      partnerships: { shape: shape('partnerships'), readFacts: readPartnership, listsPartners: true },
      offers: { shape: shape('offers'), readFacts: readOffer },
      coupons: {
        shape: { xml: { row: ['couponfeed', 'link'] }, readPageInfo: readCouponPageInfo },
        readFacts: readCoupon,
      },
    },
  };
}

function readPageInfo(response: Fields): PageInfo {
  const error = response.find('error');
  if (typeof error === 'string') return { error: response.findText('message') ?? error };
  if (!response.has('_metadata')) return {};
  return {
    page: response.findWholeNumber('_metadata.page'),
    total: response.findWholeNumber('_metadata.total'),
    hasMore: response.has('_metadata._links.next'),
  };
}

function readCouponPageInfo(response: Fields): PageInfo {
  const page = response.findWholeNumber('PageNumberRequested');
  const pages = response.findWholeNumber('TotalPages');
  if (page === undefined || pages === undefined) return {};
  return { page, hasMore: page < pages, total: response.findWholeNumber('TotalMatches') };
}

function findLeftOut(row: Fields, wantedType = 'any'): LeftOutRow | undefined {
  if (row.findMeaning('is_event', RAKUTEN.events) === true) {
    return { leftOut: 'media-optimisation events, which are not sales' };
  }
  if (wantedType === 'any' || row.findText('transaction_type') === wantedType) return undefined;
  return { leftOut: 'rows of a different transaction type' };
}

type SkuRow = ReturnType<typeof readSku>;

function readSku(row: Fields) {
  const advertiserId = row.text('advertiser_id');
  const orderId = row.text('order_id');
  const processedAt = row.findTime('process_date', readEventTime);
  return {
    saleId: advertiserId === '' || orderId === '' ? '' : `${advertiserId}:${orderId}`,
    version: processedAt === undefined ? 0 : timestampMs(processedAt),
    processedAt,
    partId: row.text('etransaction_id'),
    advertiserId,
    type: row.findText('transaction_type'),
    soldAt: row.time('transaction_date', readEventTime),
    currency: row.text('currency'),
    orderValue: row.amount('sale_amount'),
    commission: row.amount('commissions'),
    offerId: row.findText('offer_id'),
    subId: row.findText('u1'),
  };
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function readEventTime(text: string): Timestamp | undefined {
  const [, month = '', day, year, time, offset] = RAKUTEN.eventTime.exec(text) ?? [];
  const number = MONTHS.indexOf(month) + 1;
  if (number === 0) return undefined;
  return parseTime(`${year}-${String(number).padStart(2, '0')}-${day}T${time}${offset}`, 'UTC');
}

function findMixedTypes(rows: Iterable<SkuRow>): string | undefined {
  const types = new Set(Iterator.from(rows).map(({ type }) => type));
  if (types.size < 2) return undefined;
  return 'the files contain realtime and batch rows, which can be the same sales under different ids; set "transactionType" in the source file to "batch", "realtime" or "any"';
}

function joinSkus(rows: readonly SkuRow[], group: Fields, source: SourceOf<'rakuten'>, nowMs: number): Sale {
  // Reversals are rows with negative amounts.
  const bought = rows.filter(isPurchase);
  if (bought.length === 0) group.fail('', 'has only reversals: the file with the purchase is missing');
  const earliest = (bought.length > 0 ? bought : rows).reduce((a, b) => (b.soldAt < a.soldAt ? b : a));
  if (rows.some(({ currency }) => currency !== earliest.currency))
    group.fail('currency', 'differs between the rows');
  // Reversals can lack the sub-id, and a stored row without a user has only the organisation and the separator.
  const subIds = new Set(rows.flatMap(({ subId }) => (subId === undefined ? [] : [subId])));
  const { separator } = source;
  const users = [...subIds].filter((subId) => separator === undefined || !subId.endsWith(separator));
  if (users.length > 1) group.fail('u1', 'differs between the rows');
  const commission = sum(rows.map((row) => row.commission));
  const isReversed = isNegative(commission) || isZero(commission);
  const counted = isReversed ? bought : rows;
  return {
    id: earliest.saleId,
    advertiserId: earliest.advertiserId,
    status: isReversed ? 'DECLINED' : statusByAge(earliest.soldAt, source.confirmAfterDays, nowMs),
    country: source.country,
    clickedAt: undefined,
    soldAt: earliest.soldAt,
    changedAt: latest(rows.map((row) => row.processedAt)),
    currency: earliest.currency,
    orderValue: sum(counted.map((row) => row.orderValue)),
    commissions: counted.map((row) => ({ amount: row.commission, group: row.offerId })),
    subId: users[0] ?? [...subIds][0],
  };
}

function isPurchase({ commission, orderValue }: SkuRow): boolean {
  return !isNegative(commission) && !isNegative(orderValue);
}

/**
 * The network never confirms sales, so the source file can set a number of days after which a sale without a reversal
 * counts as confirmed.
 */
function statusByAge(soldAt: Timestamp, confirmAfterDays: number | undefined, nowMs: number): Status {
  if (confirmAfterDays === undefined) return 'PENDING';
  return nowMs - timestampMs(soldAt) >= confirmAfterDays * DAY_MS ? 'CONFIRMED' : 'PENDING';
}

function readAdvertiser(row: Fields): CatalogueFact {
  return { kind: 'retailer', advertiserId: row.text('id'), name: row.text('name'), url: row.text('url') };
}

function readPartnership(row: Fields): CatalogueFact {
  if (row.isOther('status', RAKUTEN.activePartners)) return leftOut('partnerships that are not active');
  return { kind: 'partnership', advertiserId: row.text('advertiser.id') };
}

function readOffer(row: Fields): CatalogueFact[] {
  const advertiserId = row.text('advertiser.id');
  const [network] = row.findText('advertiser.network')?.split(' - ') ?? [];
  const found = RAKUTEN.networks.find(({ number, name }) => network === number || network === name);
  return readSeparately(row.list('offer_rules'), (rule) => {
    const [commission] = rule.list('commissions');
    const [tier] = commission?.list('tiers') ?? [];
    if (commission === undefined || tier === undefined) return leftOut('offer rules without a rate');
    commission.meaning('commission_type', RAKUTEN.rateTypes);
    return {
      kind: 'offer',
      advertiserId,
      id: rule.text('oid'),
      rate: { fraction: ofPercent(tier.amount('commission')) },
      description: joinTexts(row.findText('name'), commission.findText('description')),
      countries: found && [found.country],
      terms: joinTexts(rule.findText('sku_list_name'), row.findText('terms_url')),
    };
  });
}

function readCoupon(row: Fields): CatalogueFact {
  const advertiserId = row.text('advertiserid');
  const description = row.findText('offerdescription') ?? '';
  const code = row.findText('couponcode');
  const start = row.findText('offerstartdate');
  const deal = {
    advertiserId,
    // Coupons have no ids; these four fields identify them.
    id: [advertiserId, code ?? '', start ?? '', description].join(':'),
    description: joinTexts(description, row.findText('couponrestriction')),
    startDate: row.findTime('offerstartdate'),
    endDate: row.findTime('offerenddate', parseEnd),
  };
  if (code !== undefined) return { kind: 'coupon', ...deal, code };
  return { kind: 'promotion', ...deal, deepLink: unwrapLink(row.findText('clickurl')) };
}

/** Extracts the retailer's URL from a tracking link. The link itself is not used, because it has no sub-id. */
function unwrapLink(link: string | undefined): string | undefined {
  if (link === undefined || !URL.canParse(link)) return undefined;
  const { searchParams } = new URL(link);
  for (const name of RAKUTEN.linkTargets) {
    const target = searchParams.get(name);
    if (target !== null && /^https?:\/\//.test(target) && URL.canParse(target)) return target;
  }
  return undefined;
}
