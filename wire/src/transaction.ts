// Wire format of transactions. Each field is one line in `transactionFields`; import rows, CSV columns and stored documents
// derive from it.

import { z } from 'zod';
import { canonicalText, orNull, withCanonicalForm } from './canonical-form.ts';
import { CanonicalRow, canonicalLine } from './canonical-row.ts';
import { printJson } from './decimal.ts';
import type { Columns } from './rows/csv.ts';
import {
  countryCode,
  currencyCode,
  money,
  OBJECT,
  oneOf,
  passbackUid,
  text,
  timestamp,
  uuid,
} from './scalars.ts';
import type { Timestamp } from './timestamp.ts';

export const STATUSES = ['PENDING', 'CONFIRMED', 'DECLINED'] as const;
export type Status = (typeof STATUSES)[number];

/**
 * A pending sale becomes confirmed or declined. A reversal or an appeal can later turn confirmed into declined, or declined
 * into confirmed.
 */
export function mayBecome(from: Status, to: Status): boolean {
  return to !== 'PENDING' || from === 'PENDING';
}

/** In output order. */
const transactionFields = {
  id: uuid('Transaction identifier', '0192d1a0-0000-7000-8000-000000000101'),
  country: countryCode('Country where the transaction was made, ISO 3166-1 alpha-2', 'DE'),
  clickedAt: orNull(timestamp('When the user clicked the link (UTC)', '2026-11-14T11:20:00')),
  soldAt: timestamp('When the user made the purchase (UTC)', '2026-11-14T12:00:00'),
  updatedAt: timestamp('When the transaction was last updated (UTC)', '2026-11-14T12:05:31.482'),
  currencyCode: currencyCode('Currency of the transaction, ISO 4217', 'EUR'),
  orderValue: money('Total value of the order, in `currencyCode`', 79.9),
  cashback: money('Cashback amount of the transaction, in `currencyCode`', 3.99),
  activatedAt: orNull(timestamp('When the deal was activated (UTC)', '2026-11-14T11:19:58')),
  passbackUid: orNull(
    passbackUid('The unique identifier that was supplied at retailer activation', 'user-8842'),
  ),
  passbackData: orNull(text('The data value that was supplied at retailer activation', 'campaign=autumn')),
  status: withCanonicalForm(
    oneOf(STATUSES).meta({
      description:
        'Status of the transaction. No status is final: `CONFIRMED` can still become `DECLINED` after a late return, and `DECLINED` can become `CONFIRMED`, but neither becomes `PENDING` again. Before you pay users, read /docs/polling#the-life-of-a-status',
      examples: ['PENDING'],
    }),
    canonicalText(new RegExp(`^(?:${STATUSES.join('|')})$`)),
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

export const TransactionSchema = z.strictObject(transactionFields);
export type Transaction = z.output<typeof TransactionSchema>;
/** A transaction without its stamp, which the import sets. */
export type UnstampedTransaction = Omit<Transaction, 'updatedAt'>;

/** Import field that is not part of the transaction. The import skips a row whose source time is older than the stored one. */
export const SOURCE_TIME_FIELD = 'sourceUpdatedAt';
const sourceTime = timestamp('When the source last changed the transaction (UTC)', '2026-11-14T12:04:00');

/** Import field that is not part of the transaction; clients get the retailer with `expand=retailer`. */
export const RETAILER_FIELD = 'retailerId';
const retailer = uuid('The retailer of the sale', '0192d1a0-0000-7000-8000-000000000001');

export const TRANSACTION_FIELDS = Object.keys(transactionFields) as (keyof Transaction)[];

/** Fields that an import row can have, as CSV columns. */
export const TRANSACTION_COLUMNS: Columns = new Map([
  ...TRANSACTION_FIELDS.map((name) => {
    return [name, transactionFields[name] instanceof z.ZodNumber ? 'number' : 'text'] as const;
  }),
  [SOURCE_TIME_FIELD, 'text'],
  [RETAILER_FIELD, 'text'],
]);

/** `keep` is only for history loads. `ignore` does not even validate the file's updatedAt. */
type UpdatedAtRule = 'keep' | 'ignore';

/** Schema of an import row. `unknownFields` selects whether unknown fields are errors. */
export function transactionRowSchema(unknownFields: 'refuse' | 'ignore', updatedAt: UpdatedAtRule) {
  const shape = {
    ...transactionFields,
    updatedAt: updatedAt === 'keep' ? transactionFields.updatedAt : z.unknown().optional(),
    [SOURCE_TIME_FIELD]: sourceTime.nullish(),
    [RETAILER_FIELD]: retailer.nullish(),
  };
  return unknownFields === 'refuse' ? z.strictObject(shape, OBJECT) : z.object(shape, OBJECT);
}

/** Returns a function that reads a line if it is in canonical form: as in an export, or as `offerbook convert` writes it. */
export function canonicalTransactionLine(updatedAt: UpdatedAtRule) {
  return canonicalLine({
    fields: transactionFields,
    stampField: 'updatedAt',
    needsStamp: updatedAt === 'keep',
    // In the order in which `offerbook convert` writes them.
    optional: { [RETAILER_FIELD]: orNull(retailer), [SOURCE_TIME_FIELD]: orNull(sourceTime) },
  });
}

const EMPTY = Object.fromEntries(TRANSACTION_FIELDS.map((name) => [name, null]));

/** Returns the stored document of a transaction: JSON with the fields in schema order. */
export function printTransaction(transaction: UnstampedTransaction, updatedAt: Timestamp): string {
  if (transaction instanceof CanonicalRow) return transaction.print(updatedAt);
  // Copying an object that has all fields is faster than adding them one by one.
  const printed: Record<string, unknown> = { ...EMPTY };
  const values: Record<string, unknown> = transaction;
  for (const name of TRANSACTION_FIELDS) printed[name] = values[name];
  printed.updatedAt = updatedAt;
  return printJson(printed);
}
