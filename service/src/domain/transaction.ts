// A transaction on the wire, its states, and the text in which it is stored and printed.

import { z } from 'zod';
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
  clickedAt: timestamp('When the user clicked the link (UTC)', '2026-11-14T11:20:00')
    .nullable()
    .default(null),
  soldAt: timestamp('When the user made the purchase (UTC)', '2026-11-14T12:00:00'),
  updatedAt: timestamp('When the transaction was last updated (UTC)', '2026-11-14T12:05:31.482'),
  currencyCode: currencyCode('Currency of the transaction, ISO 4217', 'EUR'),
  orderValue: money('Total value of the order, in currencyCode', 79.9),
  cashback: money('Cashback amount of the transaction, in currencyCode', 3.99),
  activatedAt: timestamp('When the deal was activated (UTC)', '2026-11-14T11:19:58').nullable().default(null),
  passbackUid: text('The unique identifier that was supplied at retailer activation', 'user-8842')
    .nullable()
    .default(null),
  passbackData: text('The data value that was supplied at retailer activation', 'campaign=autumn')
    .nullable()
    .default(null),
  status: z
    .enum(STATUSES, {
      error: (issue) => (issue.input === undefined ? 'is missing' : `must be one of ${STATUSES.join(', ')}`),
    })
    .meta({ description: 'Status of the transaction', examples: ['PENDING'] }),
  cashbackOfferId: uuid(
    "The offer's id when the transaction resulted from a cashback offer activation",
    '0192d1a0-0000-7000-8000-000000000011',
  )
    .nullable()
    .default(null),
  couponId: uuid(
    "The coupon's id when the transaction resulted from a coupon activation",
    '0192d1a0-0000-7000-8000-000000000021',
  )
    .nullable()
    .default(null),
  promotionId: uuid(
    "The promotion's id when the transaction resulted from a promotion activation",
    '0192d1a0-0000-7000-8000-000000000031',
  )
    .nullable()
    .default(null),
};

export const TransactionSchema = z.strictObject(fields);
export type Transaction = z.output<typeof TransactionSchema>;
/** A transaction before the change clock has stamped it. */
export type UnstampedTransaction = Omit<Transaction, 'updatedAt'>;

export const TRANSACTION_FIELDS = Object.keys(fields) as (keyof typeof fields)[];

/** The schema of an import row. The file's updatedAt counts only in a history load; otherwise it is not even read. */
export function transactionRowSchema(options: {
  unknownFields: 'refuse' | 'ignore';
  updatedAt: 'keep' | 'ignore';
}) {
  const shape = {
    ...fields,
    updatedAt: options.updatedAt === 'keep' ? fields.updatedAt : z.unknown().optional(),
  };
  return options.unknownFields === 'refuse' ? z.strictObject(shape, OBJECT) : z.object(shape, OBJECT);
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
