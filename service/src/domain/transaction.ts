// A transaction on the wire, its states, and the text in which it is stored and printed.

import { z } from 'zod';
import { orNull, printedObject, withPrintedForm } from './printed-form.ts';
import type { Timestamp } from './timestamp.ts';
import { countryCode, currencyCode, money, OBJECT, text, timestamp, uuid } from './wire.ts';

export const STATUSES = ['PENDING', 'CONFIRMED', 'DECLINED'] as const;
export type Status = (typeof STATUSES)[number];

/** A sale is pending until it is confirmed or declined; a late reversal or an appeal may turn it once more. */
export function mayBecome(from: Status, to: Status): boolean {
  return to !== 'PENDING' || from === 'PENDING';
}

const fields = {
  id: uuid('Transaction identifier', '0192d1a0-0000-7000-8000-000000000101'),
  country: countryCode('Country where the transaction was made, ISO 3166-1 alpha-2', 'DE'),
  clickedAt: orNull(timestamp('When the user clicked the link (UTC)', '2026-11-14T11:20:00')),
  soldAt: timestamp('When the user made the purchase (UTC)', '2026-11-14T12:00:00'),
  updatedAt: timestamp('When the transaction was last updated (UTC)', '2026-11-14T12:05:31.482'),
  currencyCode: currencyCode('Currency of the transaction, ISO 4217', 'EUR'),
  orderValue: money('Total value of the order, in currencyCode', 79.9),
  cashback: money('Cashback amount of the transaction, in currencyCode', 3.99),
  activatedAt: orNull(timestamp('When the deal was activated (UTC)', '2026-11-14T11:19:58')),
  passbackUid: orNull(text('The unique identifier that was supplied at retailer activation', 'user-8842')),
  passbackData: orNull(text('The data value that was supplied at retailer activation', 'campaign=autumn')),
  status: withPrintedForm(
    z
      .enum(STATUSES, {
        error: (issue) =>
          issue.input === undefined ? 'is missing' : `must be one of ${STATUSES.join(', ')}`,
      })
      .meta({ description: 'Status of the transaction', examples: ['PENDING'] }),
    (value) => STATUSES.includes(value as Status),
  ),
  cashbackOfferId: orNull(
    uuid(
      "The offer's id when the transaction resulted from a cashback offer activation",
      '0192d1a0-0000-7000-8000-000000000011',
    ),
  ),
  couponId: orNull(
    uuid(
      "The coupon's id when the transaction resulted from a coupon activation",
      '0192d1a0-0000-7000-8000-000000000021',
    ),
  ),
  promotionId: orNull(
    uuid(
      "The promotion's id when the transaction resulted from a promotion activation",
      '0192d1a0-0000-7000-8000-000000000031',
    ),
  ),
};

export const TransactionSchema = z.strictObject(fields);
export type Transaction = z.output<typeof TransactionSchema>;
/** A transaction before the change clock has stamped it. */
export type UnstampedTransaction = Omit<Transaction, 'updatedAt'>;

export const TRANSACTION_FIELDS = Object.keys(fields) as (keyof typeof fields)[];

export interface TransactionRowOptions {
  readonly unknownFields: 'refuse' | 'ignore';
  /** The file's updatedAt counts only in a history load; otherwise it is not even read. */
  readonly updatedAt: 'keep' | 'ignore';
}

/** The schema of an import row. */
export function transactionRowSchema(options: TransactionRowOptions) {
  const shape = {
    ...fields,
    updatedAt: options.updatedAt === 'keep' ? fields.updatedAt : z.unknown().optional(),
  };
  return options.unknownFields === 'refuse' ? z.strictObject(shape, OBJECT) : z.object(shape, OBJECT);
}

/** A test for import rows that the schema would let through just as they are. */
export function printedTransactionRow({ updatedAt }: Pick<TransactionRowOptions, 'updatedAt'>) {
  return printedObject(fields, updatedAt === 'ignore' ? 'updatedAt' : undefined);
}

/** A transaction as it is stored and sent: one JSON text, the fields in the order of the specification. */
export function printTransaction(t: UnstampedTransaction, updatedAt: Timestamp): string {
  return JSON.stringify({
    id: t.id,
    country: t.country,
    clickedAt: t.clickedAt,
    soldAt: t.soldAt,
    updatedAt,
    currencyCode: t.currencyCode,
    orderValue: t.orderValue,
    cashback: t.cashback,
    activatedAt: t.activatedAt,
    passbackUid: t.passbackUid,
    passbackData: t.passbackData,
    status: t.status,
    cashbackOfferId: t.cashbackOfferId,
    couponId: t.couponId,
    promotionId: t.promotionId,
  } satisfies Transaction);
}
