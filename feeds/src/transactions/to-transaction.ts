// Converts a sale to a row for `offerbook import transactions`: adds our ids, the user's share, and the owner. Validates
// every row with the import schema.

import { toNumber } from '@offerbook/wire/amount.ts';
import type { FieldProblem } from '@offerbook/wire/rows/raw-row.ts';
import { checkRow } from '@offerbook/wire/rows/row-problem.ts';
import { passbackUidProblem, TEXT_LENGTH_MAX, textProblem } from '@offerbook/wire/text.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import {
  RETAILER_FIELD,
  SOURCE_TIME_FIELD,
  transactionRowSchema,
  type UnstampedTransaction,
} from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Sale } from '../network.ts';
import type { Overlay } from '../source/overlay.ts';
import type { Shares } from '../source/share.ts';
import { deriveId, type Source } from '../source/source-file.ts';
import type { CouponCodes } from './coupon-codes.ts';

/** Fields are in output order. */
export type ConvertedRow = (UnstampedTransaction | ReturnType<typeof withClick>) & {
  readonly [RETAILER_FIELD]: Uuid;
  readonly [SOURCE_TIME_FIELD]?: Timestamp | undefined;
};

export interface TransactionRules {
  readonly source: Source;
  readonly overlay: Overlay;
  /** Undefined without --catalogue. */
  readonly coupons: CouponCodes | undefined;
  /** Organisation whose sales are converted, if sub-ids contain an organisation. */
  readonly organisation: string | undefined;
}

export type SaleRules = TransactionRules & { readonly shares: Shares };

const ROW_SCHEMA = transactionRowSchema('refuse', 'ignore');
const NO_COUNTRY = { field: 'country', reason: 'is missing from both the network and the source file' };

/**
 * Returns the row, or its problems. `lacksCoupon` means that the sale has a coupon code but no coupon was found; `lacksUser`, that
 * its user cannot be imported.
 */
export function toTransaction(sale: Sale, rules: SaleRules) {
  const owner = findOwner(sale, rules);
  if (owner === 'other organisation') return owner;
  if ('reason' in owner) return { problems: [owner] };
  const row = buildRow(sale, rules, 'clickId' in owner ? NO_USER : owner);
  const problems = findProblems(row);
  if (problems !== undefined) return { problems };
  const source = {
    [RETAILER_FIELD]: deriveId(rules.source, 'retailer', sale.advertiserId),
    ...(sale.changedAt === undefined ? {} : { [SOURCE_TIME_FIELD]: sale.changedAt }),
  };
  if ('clickId' in owner)
    return { row: { ...withClick(row, owner.clickId), ...source }, lacksCoupon: false, lacksUser: false };
  const isCouponExpected = sale.couponCode !== undefined && rules.coupons !== undefined;
  const lacksCoupon = isCouponExpected && row.couponId === null;
  return { row: { ...row, ...source }, lacksCoupon, lacksUser: owner.isRefused };
}

function buildRow(sale: Sale, rules: SaleRules, user: User): UnstampedTransaction {
  const { source, shares } = rules;
  const row = {
    id: deriveId(source, 'transaction', sale.id),
    country: sale.country ?? source.country,
    clickedAt: sale.clickedAt ?? null,
    soldAt: sale.soldAt,
    currencyCode: sale.currency,
    orderValue: toNumber(sale.orderValue),
    cashback: shares.apply(sale.advertiserId, sale.commissions, sale.currency),
    activatedAt: null,
    passbackUid: user.passbackUid,
    passbackData: user.passbackData,
    status: sale.status,
    cashbackOfferId: sale.offerId === undefined ? null : deriveId(source, 'offer', sale.offerId),
    couponId: findCoupon(sale, rules),
    promotionId: null,
  };
  // The country can be missing; validation reports it.
  return row as UnstampedTransaction;
}

function findCoupon(sale: Sale, { source, coupons }: TransactionRules): Uuid | null {
  if (sale.couponCode === undefined || coupons === undefined) return null;
  return coupons.find(deriveId(source, 'retailer', sale.advertiserId), sale.couponCode, sale.soldAt);
}

/** Problems that the import would report; undefined for a valid row. */
function findProblems(row: UnstampedTransaction): readonly FieldProblem[] | undefined {
  const { problems } = checkRow({ place: { line: 1 }, value: row }, ROW_SCHEMA);
  return problems?.map(({ field, reason }) =>
    field === 'country' && row.country === undefined ? NO_COUNTRY : { field, reason },
  );
}

interface User {
  readonly passbackUid: string | null;
  readonly passbackData: string | null;
  /** True if the sub-id cannot be a passbackUid. */
  readonly isRefused: boolean;
}
const NO_USER: User = { passbackUid: null, passbackData: null, isRefused: false };

/** Reads the owner from the sub-id, which must never appear in a message, because it can be personal data. */
function findOwner(
  { subId, subData }: Sale,
  { source, organisation }: TransactionRules,
): User | { readonly clickId: string } | 'other organisation' | FieldProblem {
  const data = subData ?? '';
  const isText = data !== '' && data.length <= TEXT_LENGTH_MAX && textProblem(data) === undefined;
  const passbackData = isText ? data : null;
  // A visitor can put anything into a link, and must not stop a pull.
  const user = (uid = ''): User => {
    const isRefused = passbackUidProblem(uid) !== undefined;
    return { passbackUid: uid === '' || isRefused ? null : uid, passbackData, isRefused };
  };
  if (source.subId === 'uid') return user(subId);
  // The import decides what to do with a sale that has no click.
  if (source.subId === 'click') return subId === undefined ? user() : { clickId: subId };
  const { separator = '' } = source;
  const [owner, ...rest] = subId?.split(separator) ?? [];
  if (owner === undefined || owner === '' || rest.length === 0) {
    const reason = `must be an organisation, ${JSON.stringify(separator)} and a passbackUid`;
    return { field: 'the sub-id', reason };
  }
  return owner === organisation ? user(rest.join(separator)) : 'other organisation';
}

/** The import takes the other fields from the click: the organisation, the user, the click times and the deal. */
function withClick(row: UnstampedTransaction, clickId: string) {
  const { id, country, soldAt, currencyCode, orderValue, cashback, status } = row;
  return { id, clickId, country, soldAt, currencyCode, orderValue, cashback, status };
}
