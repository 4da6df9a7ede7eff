// CJ: a sale is a group of records. A correction is a new record with negative amounts, so the records of an action are
// summed first. Amounts are in the currency of the account, which records do not contain.

import {
  type Amount,
  isNegative,
  isZero,
  ofPercent,
  parseAmount,
  sum,
  ZERO,
} from '@offerbook/wire/amount.ts';
import { isObject } from '@offerbook/wire/rows/raw-row.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { type CatalogueFact, leftOut, type OfferFact, type Rate, readApart } from '../catalogue/facts.ts';
import { joinTexts } from '../catalogue/texts.ts';
import { Fields, quote, wholeNumber } from '../fields.ts';
import type { PageNote } from '../formats/feed-row.ts';
import type { Network, PartedSaleFeed, Sale, SalePart } from '../network.ts';
import type { SourceOf } from '../source/source-file.ts';
import { latest, parseEnd, parseTime, type TimeReader } from '../zoned-time.ts';
import { CJ } from './cj-words.ts';

export function cj(source: SourceOf<'cj'>): Network {
  const transactions: PartedSaleFeed<CommissionRecord> = {
    shape: { json: [['data', 'publisherCommissions', 'records']], explain: explainAnswer },
    idField: () => 'originalActionId',
    readPart: readRecord,
    joinParts: (records, group) => joinRecords(records, group, source.currency),
  };
  const xml = (...row: string[]) => ({
    xml: { row: ['cj-api', ...row], errorElement: CJ.errorElement },
    explain: explainPage,
  });
  return {
    transactions,
    catalogue: {
      advertisers: { shape: xml('advertisers', 'advertiser'), readFacts: readAdvertiser },
      links: { shape: xml('links', 'link'), readFacts: readLink },
    },
  };
}

function explainAnswer(answer: Record<string, unknown>): PageNote {
  const [error] = Array.isArray(answer.errors) ? (answer.errors as unknown[]) : [];
  if (error !== undefined) {
    return { error: isObject(error) && typeof error.message === 'string' ? error.message : 'no details' };
  }
  const data = isObject(answer.data) ? answer.data : {};
  const list = isObject(data.publisherCommissions) ? data.publisherCommissions : {};
  const { isComplete, lastId, id } = CJ.paging;
  if (typeof list[isComplete] !== 'boolean') return {};
  // Responses by posting date and by locking date are converted together, and each has its own last page.
  const last = wholeNumber(list[lastId]);
  const first = wholeNumber(new Fields(list).list('records')[0]?.find(id));
  return { hasMore: !list[isComplete], rows: last === undefined ? undefined : { first, last } };
}

function explainPage(answer: Record<string, unknown>): PageNote {
  const { page, count, total } = CJ.xmlPaging;
  return {
    page: wholeNumber(answer[page]),
    count: wholeNumber(answer[count]),
    total: wholeNumber(answer[total]),
  };
}

interface CommissionRecord extends SalePart {
  readonly isOriginal: boolean;
  readonly actionStatus: number;
  readonly isDeclined: boolean;
  readonly advertiserId: string;
  readonly tracker: string | undefined;
  readonly country: string | undefined;
  readonly clickedAt: Timestamp | undefined;
  readonly soldAt: Timestamp;
  readonly postedAt: Timestamp | undefined;
  readonly orderValue: Amount;
  readonly commission: Amount;
  readonly shopperId: string | undefined;
  readonly coupon: string | undefined;
}

/** CJ's times end in Z; a time without it is read as UTC. */
const readUtc: TimeReader = (text) => parseTime(text, 'UTC');

function readRecord(row: Fields): CommissionRecord {
  const isOriginal = row.find('original');
  if (typeof isOriginal !== 'boolean') row.fail('original', 'must be true or false');
  const actionStatus = row.word('actionStatus', CJ.actionStatuses) ?? 0;
  const validation = row.findWord('validationStatus', CJ.validationStatuses) ?? 0;
  return {
    saleId: row.text('originalActionId'),
    partId: row.text('commissionId'),
    // The statuses of a record change in place, so the more advanced version is newer.
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
  const originals = records.filter((record) => record.isOriginal);
  const [original, ...others] = originals;
  if (original === undefined)
    group.fail('', 'has corrections only: the file with the original record is missing');
  if (others.length > 0) group.fail('', 'has several original records');
  // Without an original the sale is rejected; any record serves as placeholder.
  const told = original ?? records[0];
  const orderValue = sum(records.map((record) => record.orderValue));
  const commission = sum(records.map((record) => record.commission));
  const isReversed =
    isNegative(commission) || isZero(commission) || records.some((record) => record.isDeclined);
  const isConfirmed = records.some(({ actionStatus }) => actionStatus >= CJ.confirmedFrom);
  return {
    id: told.saleId,
    advertiserId: told.advertiserId,
    status: isReversed ? 'DECLINED' : isConfirmed ? 'CONFIRMED' : 'PENDING',
    country: told.country,
    clickedAt: told.clickedAt,
    soldAt: told.soldAt,
    // A correction is a new record with its own time. Locking changes a record in place, without a time.
    changedAt: latest(records.map((record) => record.postedAt)),
    currency,
    orderValue: isReversed ? told.orderValue : orderValue,
    commissions: [{ amount: isReversed ? told.commission : commission, group: told.tracker }],
    subId: told.shopperId,
    couponCode: told.coupon,
  };
}

function readAdvertiser(row: Fields): CatalogueFact[] {
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
  const lists = readApart(action.list('commission.itemlist'), (list) => [
    offer(list.text('@id'), readRate(list, ''), list.findText('@name')),
  ]);
  if (!action.has('commission.default')) return lists;
  const standard = readApart([action], (alone) => [
    offer(CJ.defaultRate, readRate(alone, 'commission.default'), undefined),
  ]);
  return [...lists, ...standard];
}

function readRate(fields: Fields, path: string): Rate {
  const text = fields.text(path);
  const [, percent] = CJ.percentRate.exec(text) ?? [];
  if (percent !== undefined) {
    return { fraction: ofPercent(parseAmount(percent) ?? ZERO) };
  }
  const [, before, fixed, after] = CJ.fixedRate.exec(text) ?? [];
  if (fixed === undefined) fields.fail(path, `is ${quote(text)}, which is not a recognised rate`);
  return { fixed: parseAmount(fixed ?? '') ?? ZERO, currency: before ?? after };
}

function readLink(row: Fields): CatalogueFact[] {
  if (row.isOther('relationship-status', CJ.joined))
    return leftOut('links of advertisers that you have not joined');
  const code = row.findText('coupon-code');
  const type = row.findText('promotion-type');
  if (code === undefined && (type === undefined || !Object.hasOwn(CJ.promotionTypes, type))) {
    return leftOut('links without a promotion');
  }
  const deal = {
    advertiserId: row.text('advertiser-id'),
    id: row.text('link-id'),
    description: joinTexts(row.findText('link-name'), row.findText('description')),
    startDate: row.findTime('promotion-start-date'),
    endDate: row.findTime('promotion-end-date', parseEnd),
  };
  if (code !== undefined) return [{ kind: 'coupon', ...deal, code }];
  return [{ kind: 'promotion', ...deal, deepLink: row.findText('destination') }];
}
