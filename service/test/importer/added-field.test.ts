// A field that is added to a schema: what is imported with it, what is stored without it, and what is read of both.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { RetailerFormat, retailerFields } from '@offerbook/wire/catalogue.ts';
import { orNull } from '@offerbook/wire/printed-form.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { flag, money, optionalText, text } from '@offerbook/wire/scalars.ts';
import { TransactionFormat, transactionFields } from '@offerbook/wire/transaction.ts';
import { ADDED_FIELDS, type AllAddedFields } from '../../src/domain/added-fields.ts';
import type { StoredDocument } from '../../src/domain/stores.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { completeCatalogue, completeTransactions } from '../../src/storage/stores/complete-documents.ts';
import {
  closeBooks,
  complaintOf,
  contentOf,
  countsOf,
  coupon,
  NOW,
  NOW_MS,
  ndjson,
  newBook,
  retailer,
  type TestBook,
  transaction,
} from './fixture.ts';

let book: TestBook;
let nowMs = NOW_MS;

beforeEach(async () => {
  nowMs = Date.UTC(2026, 9, 1);
  book = await newBook(() => nowMs);
  nowMs = NOW_MS;
});
afterAll(closeBooks);

/** One line in the schema for each field, and one for what older documents have. */
const LATER_TRANSACTION = new TransactionFormat({
  ...transactionFields,
  voucher: orNull(text('Voucher', 'V1')),
  tip: orNull(money('Tip', 1)),
  gift: orNull(flag('Whether it was a gift', true)),
} as typeof transactionFields);
const LATER_RETAILER = new RetailerFormat({
  ...retailerFields,
  retailer: { ...retailerFields.retailer, slogan: optionalText('Slogan', 'Buy!') },
  coupons: { ...retailerFields.coupons, minimum: orNull(money('Minimum', 5)) },
} as typeof retailerFields);
const ADDED: AllAddedFields = {
  transaction: { voucher: null, tip: null, gift: null },
  retailer: { slogan: '' },
  deals: { ...ADDED_FIELDS.deals, coupons: { minimum: null } },
};

const COUNTS = { read: 0, added: 0, changed: 0, unchanged: 0, withdrawn: 0, invalid: 0 };
const NONE = { voucher: null, tip: null, gift: null };
const LATER = '2026-11-14T12:00:05';

describe('transactions with new fields', () => {
  function load(file: string, format?: TransactionFormat) {
    return importTransactions(book.stores.transactions, book.org, sourceFrom(file), () => nowMs, {}, format);
  }

  /** A page and an export, as a server and a command of the later version read them. */
  async function read() {
    const store = completeTransactions(book.stores.transactions, ADDED);
    const window = { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER };
    const { data } = await store.page({ orgId: book.org.id, cursor: undefined, window, limit: 100 });
    const exported: StoredDocument[] = [];
    await store.read(book.org.id, async (batch) => void exported.push(...batch));
    const page = new TextDecoder().decode(data);
    expect(exported.map(({ document }) => document).join()).toBe(page);
    return JSON.parse(`[${page}]`);
  }

  const first = ndjson(transaction(1), transaction(2, { passbackData: '€,"voucher":1}, {"id":"x"' }));
  const row2 = { updatedAt: NOW, passbackData: '€,"voucher":1}, {"id":"x"' };

  test('have their defaults in rows that were stored before, which are neither rewritten nor stamped again', async () => {
    await load(first);
    const before = await contentOf(book);
    nowMs += 5_000;
    expect(countsOf(await load(first, LATER_TRANSACTION))).toEqual({ ...COUNTS, read: 2, unchanged: 2 });
    expect(await contentOf(book)).toEqual(before);
    expect(await read()).toEqual([
      { ...transaction(1, { updatedAt: NOW }), ...NONE },
      { ...transaction(2, row2), ...NONE },
    ]);
  });

  test('are imported, stored, served and exported, side by side with rows that lack them', async () => {
    await load(first);
    nowMs += 5_000;
    const values = { voucher: 'Ü1', tip: 0.5, gift: true };
    const file = ndjson({ ...transaction(1), ...values }, transaction(2), { ...transaction(3), gift: false });
    expect(countsOf(await load(file, LATER_TRANSACTION))).toEqual({
      ...COUNTS,
      read: 3,
      added: 1,
      changed: 2,
    });
    const expected = [
      { ...transaction(1, { updatedAt: LATER }), ...values },
      { ...transaction(2, { updatedAt: LATER }), ...NONE },
      { ...transaction(3, { updatedAt: LATER }), ...NONE, gift: false },
    ];
    expect(await read()).toEqual(expected);
    expect((await contentOf(book)).transactions.documents).toEqual(
      expected.map((row) => JSON.stringify(row)),
    );
    expect(countsOf(await load(file, LATER_TRANSACTION))).toEqual({ ...COUNTS, read: 3, unchanged: 3 });
  });

  test('are columns of CSV, as what they are', async () => {
    const header = 'id,country,soldAt,currencyCode,orderValue,cashback,status,voucher,tip,gift';
    const csv = (cells: string) =>
      `${header}\n${transaction(1).id},DE,2026-11-01T12:00:00,EUR,1,1,PENDING,${cells}\n`;
    await load(csv('7,7,true'), LATER_TRANSACTION);
    expect((await read())[0]).toMatchObject({ voucher: '7', tip: 7, gift: true });
    expect(await complaintOf(load(csv('7,x,yes'), LATER_TRANSACTION))).toBe(
      [
        'line 2: tip must be a number',
        'line 2: gift must be true or false',
        'Nothing was imported: 1 of 1 row is bad.',
      ].join('\n'),
    );
  });

  test('mean no change to an older program that imports the same row without them', async () => {
    await load(ndjson({ ...transaction(1), voucher: 'V1' }), LATER_TRANSACTION);
    const before = await contentOf(book);
    expect((await load(ndjson(transaction(1)))).unchanged).toBe(1);
    expect(await contentOf(book)).toEqual(before);
  });

  test('are missing nowhere on an empty page', async () => {
    expect(await read()).toEqual([]);
  });
});

describe('retailers with new fields', () => {
  function load(file: string, format?: RetailerFormat, merge = false) {
    return importCatalogue(book.stores.catalogue, sourceFrom(file), { merge }, format);
  }

  async function read() {
    const documents: string[] = [];
    await completeCatalogue(book.stores.catalogue, ADDED).read(async (batch) => {
      documents.push(...batch.map(({ document }) => document));
    });
    return documents.map((document) => JSON.parse(document));
  }

  const first = ndjson(retailer(1), retailer(2));
  const completed = (n: number, changes = {}) => ({
    ...retailer(n, { coupons: [{ ...coupon(n), minimum: null }] }),
    slogan: '',
    ...changes,
  });

  test('have their defaults in retailers that were stored before, which are unchanged by the same file', async () => {
    await load(first);
    const before = await contentOf(book);
    expect(countsOf(await load(first, LATER_RETAILER))).toEqual({ ...COUNTS, read: 2, unchanged: 2 });
    expect(await contentOf(book)).toEqual(before);
    expect(await read()).toEqual([completed(1), completed(2)]);
  });

  test('are imported, stored and read, side by side with retailers that lack them', async () => {
    await load(first);
    const coupons = [{ ...coupon(2), minimum: 0.0000001 }];
    const file = ndjson(retailer(1), { ...retailer(2, { coupons }), slogan: 'Buy!' });
    expect(countsOf(await load(file, LATER_RETAILER))).toEqual({
      ...COUNTS,
      read: 2,
      changed: 1,
      unchanged: 1,
    });
    expect(await read()).toEqual([completed(1), completed(2, { coupons, slogan: 'Buy!' })]);
    expect((await contentOf(book)).retailers[1]).toContain('"minimum":0.0000001}');
  });

  test('are there in deals that a merge keeps', async () => {
    await load(first);
    const file = ndjson({ ...retailer(1, { coupons: [] }), slogan: 'Buy!' });
    expect((await load(file, LATER_RETAILER, true)).changed).toBe(1);
    expect(JSON.parse((await contentOf(book)).retailers[0] ?? '')).toEqual(completed(1, { slogan: 'Buy!' }));
  });

  test('mean no change to an older program that imports the same retailer without them', async () => {
    await load(ndjson({ ...retailer(1), slogan: 'Buy!' }), LATER_RETAILER);
    const before = await contentOf(book);
    expect((await load(ndjson(retailer(1)))).unchanged).toBe(1);
    expect(await contentOf(book)).toEqual(before);
  });
});
