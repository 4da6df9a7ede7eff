// Wire format of transactions, their statuses, and the form in which they are stored. Each field is one line in
// `transactionFields`; everything else here and in the import derives from it.

import { z } from 'zod';
import { orNull, printedObject, withCanonicalForm } from './canonical-form.ts';
import { printJson } from './decimal.ts';
import { countryCode, currencyCode, money, OBJECT, oneOf, text, timestamp, uuid } from './scalars.ts';
import type { Timestamp } from './timestamp.ts';

export const STATUSES = ['PENDING', 'CONFIRMED', 'DECLINED'] as const;
export type Status = (typeof STATUSES)[number];

/** A pending sale becomes confirmed or declined. A later reversal or appeal may switch between those two. */
export function mayBecome(from: Status, to: Status): boolean {
  return to !== 'PENDING' || from === 'PENDING';
}

/** In output order. */
export const transactionFields = {
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
  status: withCanonicalForm(
    oneOf(STATUSES).meta({
      description:
        'Status of the transaction. No status is final: CONFIRMED can still become DECLINED after a late return, and DECLINED can become CONFIRMED, but neither becomes PENDING again. Before you pay users, read /docs/polling#the-life-of-a-status',
      examples: ['PENDING'],
    }),
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

export const TransactionSchema = z.strictObject(transactionFields);
export type Transaction = z.output<typeof TransactionSchema>;
/** A transaction before the import stamps it. */
export type UnstampedTransaction = Omit<Transaction, 'updatedAt'>;

/**
 * Field of import rows that is not part of the transaction: when the source last changed it, if known. The import skips a
 * row whose time is older than the stored one.
 */
export const SOURCE_TIME_FIELD = 'sourceUpdatedAt';
const sourceTime = timestamp('When the source last changed the transaction (UTC)', '2026-11-14T12:04:00');

export interface TransactionRowOptions {
  readonly unknownFields: 'refuse' | 'ignore';
  /** `keep` only for loading history; otherwise the file's updatedAt is not even validated. */
  readonly updatedAt: 'keep' | 'ignore';
}

/** JSON type of a field's value. Lists and objects are missing because CSV cannot represent them. */
export type FieldKind = 'text' | 'number' | 'flag';

/** Parses and prints transactions with the given fields. The program has one instance; tests create others with more fields. */
export class TransactionFormat {
  /** JSON types of the fields that an import row may have. */
  readonly fieldKinds: ReadonlyMap<string, FieldKind>;
  readonly #fields: typeof transactionFields;
  readonly #names: readonly (keyof Transaction)[];
  /** All fields in output order, with their default values. */
  readonly #blank: Transaction;

  constructor(fields: typeof transactionFields) {
    this.#fields = fields;
    this.#names = Object.keys(fields) as (keyof Transaction)[];
    const kinds = this.#names.map((name) => [name, kindOf(fields[name])] as const);
    this.fieldKinds = new Map<string, FieldKind>([...kinds, [SOURCE_TIME_FIELD, 'text']]);
    const defaults = this.#names.map((name) => [name, fields[name].safeParse(undefined).data]);
    this.#blank = Object.fromEntries(defaults);
  }

  /** Schema of an import row. */
  rowSchema({ unknownFields, updatedAt }: TransactionRowOptions) {
    const shape = {
      ...this.#fields,
      updatedAt: updatedAt === 'keep' ? this.#fields.updatedAt : z.unknown().optional(),
      [SOURCE_TIME_FIELD]: sourceTime.nullish(),
    };
    return unknownFields === 'refuse' ? z.strictObject(shape, OBJECT) : z.object(shape, OBJECT);
  }

  /** Test for import rows that the schema would return unchanged. */
  printedRow(updatedAt: TransactionRowOptions['updatedAt']) {
    return printedObject(this.#fields, {
      ignored: updatedAt === 'ignore' ? 'updatedAt' : undefined,
      optional: { name: SOURCE_TIME_FIELD, schema: orNull(sourceTime) },
    });
  }

  /** Prints a transaction for storage and responses: JSON with the fields in schema order. */
  print(transaction: UnstampedTransaction, updatedAt: Timestamp): string {
    // Copying an object that has all fields is faster than adding them one by one.
    const printed: Record<string, unknown> = { ...this.#blank };
    const values: Record<string, unknown> = transaction;
    for (const name of this.#names) printed[name] = values[name];
    printed.updatedAt = updatedAt;
    return printJson(printed);
  }

  /** Parses a stored document. An older program may have omitted fields, and a newer one may have added some. */
  parseStored(document: string): Transaction {
    const stored = JSON.parse(document) as Record<string, unknown>;
    for (const name of this.#names) if (stored[name] === undefined) stored[name] = this.#blank[name];
    return stored as Transaction;
  }

  /** True if all fields except updatedAt are equal. */
  isSame(a: UnstampedTransaction, b: UnstampedTransaction): boolean {
    const [first, second]: [Record<string, unknown>, Record<string, unknown>] = [a, b];
    for (const name of this.#names) {
      if (name === 'updatedAt' || first[name] === second[name]) continue;
      if (!Bun.deepEquals(first[name], second[name])) return false;
    }
    return true;
  }
}

export const TRANSACTION_FORMAT = new TransactionFormat(transactionFields);
export const TRANSACTION_FIELDS = Object.keys(transactionFields) as (keyof Transaction)[];

function kindOf(schema: z.ZodType): FieldKind {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return kindOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodNumber) return 'number';
  return schema instanceof z.ZodBoolean ? 'flag' : 'text';
}
