// CJ: a sale is a group of records. A correction is a new record with negative amounts, so the records of an action are
// summed. Amounts are in the account's currency, which records do not contain.

import { isNegative, isZero, ofPercent, parseAmount, sum, ZERO } from '@offerbook/wire/amount.ts';
import {
  type CatalogueFact,
  leftOut,
  type OfferFact,
  type Rate,
  type RowFacts,
  readSeparately,
} from '../catalogue/facts.ts';
import { joinTexts } from '../catalogue/texts.ts';
import { type Fields, quote } from '../fields.ts';
import type { PageInfo } from '../formats/feed-row.ts';
import type { AffiliateNetwork, NetworkFeeds, PartedSaleFeed, Sale } from '../network.ts';
import type { SourceOf } from '../source/source-file.ts';
import { latest, parseEnd, parseTime, type TimeReader } from '../zoned-time.ts';
import { pullCatalogue, pullSales } from './cj-pull.ts';

export const cj: AffiliateNetwork<'cj'> = { openFeeds, pullSales, pullCatalogue };

const CJ = {
  /** Statuses of an action, in order. A record advances through these statuses in place. */
  actionStatuses: { new: 0, extended: 1, locked: 2, closed: 3 },
  /** Sales with this status or a later one are confirmed. */
  confirmedFrom: 2,
  validationStatuses: { PENDING: 0, AUTOMATED: 1, ACCEPTED: 1, DECLINED: 2 },
  declined: 'DECLINED',
  /** C. Error element of the XML services. */
  errorElement: 'error-message',
  joined: ['joined'],
  /** B. Rates are strings: `25.00%`, or a fixed amount with its currency. */
  percentRate: /^(\d+(?:\.\d+)?)\s*%$/,
  /** B. */
  fixedRate: /^(?:([A-Z]{3})\s*)?\$?(\d+(?:\.\d+)?)(?:\s*([A-Z]{3}))?$/,
  /** B. Id of the rate for items that are not in any list. */
  defaultRate: 'default',
  /** Links of these types are promotions; links without a type are not deals. */
  promotionTypes: [
    'coupon',
    'sweepstakes',
    'product',
    'sale/discount',
    'free shipping',
    'seasonal link',
    'site to store',
  ],
} as const;

function openFeeds(source: SourceOf<'cj'>): NetworkFeeds {
  const transactions: PartedSaleFeed<CommissionRecord> = {
    shape: { json: [['data', 'publisherCommissions', 'records']], readPageInfo },
    readPart: readRecord,
    joinParts: (records, group) => joinRecords(records, group, source.currency),
    findLack: (records) =>
      records.some((record) => record.isOriginal) ? undefined : 'corrections of sales before the first pull',
  };
  const xml = (...row: string[]) => ({
    xml: { row: ['cj-api', ...row], errorElement: CJ.errorElement },
    readPageInfo: readXmlPageInfo,
  });
  return {
    transactions,
    catalogue: {
      advertisers: { shape: xml('advertisers', 'advertiser'), readFacts: readAdvertiser },
      links: { shape: xml('links', 'link'), readFacts: readLink },
    },
  };
}

/** If a response is incomplete, the next page starts after its greatest commission id. */
function readPageInfo(response: Fields): PageInfo {
  const [error] = response.list('errors');
  if (error !== undefined) return { error: error.findText('message') ?? 'no details' };
  const list = 'data.publisherCommissions';
  const isComplete = response.find(`${list}.payloadComplete`);
  if (typeof isComplete !== 'boolean') return {};
  // Responses to queries by posting date and by locking date are converted together, and each query has its own last page.
  const last = response.findWholeNumber(`${list}.maxCommissionId`);
  const first = response.list(`${list}.records`)[0]?.findWholeNumber('commissionId');
  return { hasMore: !isComplete, rows: last === undefined ? undefined : { first, last } };
}

function readXmlPageInfo(response: Fields): PageInfo {
  return {
    page: response.findWholeNumber('@page-number'),
    count: response.findWholeNumber('@records-returned'),
    total: response.findWholeNumber('@total-matched'),
  };
}

type CommissionRecord = ReturnType<typeof readRecord>;

/** CJ's times end in Z; a time without Z is also read as UTC. */
const readUtc: TimeReader = (text) => parseTime(text, 'UTC');

function readRecord(row: Fields) {
  const isOriginal = row.find('original');
  if (typeof isOriginal !== 'boolean') row.fail('original', 'must be true or false');
  const actionStatus = row.meaning('actionStatus', CJ.actionStatuses) ?? 0;
  const validation = row.findMeaning('validationStatus', CJ.validationStatuses) ?? 0;
  return {
    saleId: row.text('originalActionId'),
    partId: row.text('commissionId'),
    // A record changes its status in place, so the more advanced version is newer.
    version: actionStatus * 10 + validation,
    isOriginal: isOriginal === true,
    actionStatus,
    isDeclined: row.findText('validationStatus') === CJ.declined,
    advertiserId: row.text('advertiserId'),
    tracker: row.findText('actionTrackerId'),
    country: row.findText('country'),
    clickedAt: row.findTime('clickDate', readUtc),
    soldAt: row.time('eventDate', readUtc),
    postedAt: row.findTime('postingDate', readUtc),
    // A lead has no order value.
    orderValue: row.findAmount('saleAmountPubCurrency') ?? ZERO,
    commission: row.amount('pubCommissionAmountPubCurrency'),
    shopperId: row.findText('shopperId'),
    coupon: row.findText('coupon'),
  };
}

function joinRecords(
  records: readonly [CommissionRecord, ...CommissionRecord[]],
  group: Fields,
  currency: string,
): Sale {
  const [found, ...others] = records.filter((record) => record.isOriginal);
  if (found === undefined)
    group.fail('', 'has only corrections: the file with the original record is missing');
  if (others.length > 0) group.fail('', 'has several original records');
  const original = found ?? records[0];
  const orderValue = sum(records.map((record) => record.orderValue));
  const commission = sum(records.map((record) => record.commission));
  const isReversed =
    isNegative(commission) || isZero(commission) || records.some((record) => record.isDeclined);
  const isConfirmed = records.some(({ actionStatus }) => actionStatus >= CJ.confirmedFrom);
  return {
    id: original.saleId,
    advertiserId: original.advertiserId,
    status: isReversed ? 'DECLINED' : isConfirmed ? 'CONFIRMED' : 'PENDING',
    country: original.country,
    clickedAt: original.clickedAt,
    soldAt: original.soldAt,
    // A correction is a new record with its own time. CJ does not report when a record was locked.
    changedAt: latest(records.map((record) => record.postedAt)),
    currency,
    orderValue: isReversed ? original.orderValue : orderValue,
    commissions: [{ amount: isReversed ? original.commission : commission, group: original.tracker }],
    subId: original.shopperId,
    couponCode: original.coupon,
  };
}

function readAdvertiser(row: Fields): RowFacts {
  if (row.isOther('relationship-status', CJ.joined)) return leftOut('advertisers that you have not joined');
  const advertiserId = row.text('advertiser-id');
  const category = row.findText('primary-category.child') ?? row.findText('primary-category.parent');
  const retailer: CatalogueFact = {
    kind: 'retailer',
    advertiserId,
    name: row.text('advertiser-name'),
    url: row.text('program-url'),
    category,
  };
  return [retailer, ...row.list('actions.action').flatMap((action) => readAction(action, advertiserId))];
}

function readAction(action: Fields, advertiserId: string): CatalogueFact[] {
  const actionId = action.text('id');
  const name = action.findText('name');
  const offer = (listId: string, rate: Rate, listName: string | undefined): OfferFact => ({
    kind: 'offer',
    advertiserId,
    id: `${advertiserId}:${actionId}:${listId}`,
    group: actionId,
    rate,
    description: joinTexts(name, listName),
  });
  const lists = readSeparately(action.list('commission.itemlist'), (list) =>
    offer(list.text('@id'), readRate(list, ''), list.findText('@name')),
  );
  if (!action.has('commission.default')) return lists;
  const standard = readSeparately([action], (fields) =>
    offer(CJ.defaultRate, readRate(fields, 'commission.default'), undefined),
  );
  return [...lists, ...standard];
}

function readRate(fields: Fields, path: string): Rate {
  const text = fields.text(path);
  const [, percent] = CJ.percentRate.exec(text) ?? [];
  if (percent !== undefined) return { fraction: ofPercent(parseAmount(percent) ?? ZERO) };
  const [, before, fixed, after] = CJ.fixedRate.exec(text) ?? [];
  if (fixed === undefined) fields.fail(path, `is ${quote(text)}, which is not a recognised rate`);
  return { fixed: parseAmount(fixed ?? '') ?? ZERO, currency: before ?? after };
}

function readLink(row: Fields): CatalogueFact {
  if (row.isOther('relationship-status', CJ.joined))
    return leftOut('links of advertisers that you have not joined');
  const code = row.findText('coupon-code');
  const type = row.findText('promotion-type');
  if (code === undefined && !CJ.promotionTypes.some((name) => name === type)) {
    return leftOut('links without a promotion');
  }
  const deal = {
    advertiserId: row.text('advertiser-id'),
    id: row.text('link-id'),
    description: joinTexts(row.findText('link-name'), row.findText('description')),
    startDate: row.findTime('promotion-start-date'),
    endDate: row.findTime('promotion-end-date', parseEnd),
  };
  if (code !== undefined) return { kind: 'coupon', ...deal, code };
  return { kind: 'promotion', ...deal, deepLink: row.findText('destination') };
}
