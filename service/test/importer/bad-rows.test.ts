// Every kind of invalid row, one at a time: the error message is exact, and nothing changes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import {
  closeBooks,
  complaintOf,
  contentOf,
  coupon,
  id,
  NOW_MS,
  ndjson,
  newBook,
  offer,
  promotion,
  retailer,
  type TestBook,
  transaction,
  without,
} from './fixture.ts';

let book: TestBook;

beforeAll(async () => {
  book = await newBook();
  const { stores, org, otherOrg } = book;
  await importCatalogue(stores.catalogue, sourceFrom(ndjson(retailer(1), retailer(2))), {});
  const sold = [
    transaction(1),
    transaction(2, { status: 'CONFIRMED' }),
    transaction(3, { status: 'DECLINED' }),
  ];
  await importTransactions(stores.transactions, org, sourceFrom(ndjson(...sold)), () => NOW_MS, {});
  const foreign = sourceFrom(ndjson(transaction(9)));
  await importTransactions(stores.transactions, otherOrg, foreign, () => NOW_MS, {});
});

afterAll(closeBooks);

/** Imports a valid row on line 1 and an invalid one on line 2; returns the error message. */
async function complaint(kind: 'catalogue' | 'transactions', bad: unknown): Promise<string> {
  const { stores, org } = book;
  const before = await contentOf(book);
  const good = kind === 'catalogue' ? retailer(1, { name: 'New name' }) : transaction(1, { cashback: 1 });
  const source = sourceFrom(ndjson(good, bad));
  const text = await complaintOf(
    kind === 'catalogue'
      ? importCatalogue(stores.catalogue, source, {})
      : importTransactions(stores.transactions, org, source, () => NOW_MS, {}),
  );
  expect(await contentOf(book)).toEqual(before);
  expect(text).toEndWith('\nNothing was imported: 1 of 2 rows is invalid.');
  return text.slice(0, text.lastIndexOf('\n'));
}

const BAD_RETAILERS: [what: string, row: unknown, complaint: string][] = [
  ['a row that is not JSON', '{"id": oops}', 'line 2: the row is not JSON (Unexpected identifier "oops")'],
  ['a truncated row', '{"id":"0192d1a0-', 'line 2: the row is not JSON (Unterminated string)'],
  ['two rows on a line', '{} {}', 'line 2: the row is not JSON (Unable to parse JSON string)'],
  ['a number instead of an object', '7', 'line 2: the row must be a JSON object'],
  ['null instead of an object', 'null', 'line 2: the row must be a JSON object'],
  ['a list instead of an object', '[]', 'line 2: the row must be a JSON object'],
  ['a missing id', without(retailer(2), 'id'), 'line 2: id is missing'],
  ['a missing name', without(retailer(2), 'name'), 'line 2: name is missing'],
  ['an empty name', retailer(2, { name: '' }), 'line 2: name must not be empty'],
  [
    'a name that is too long',
    retailer(2, { name: 'n'.repeat(65_537) }),
    'line 2: name must have at most 65,536 characters',
  ],
  [
    'a description that is too long',
    retailer(2, { cashbackOffers: [offer(3, { description: 'd'.repeat(65_537) })] }),
    'line 2: cashbackOffers[0].description must have at most 65,536 characters',
  ],
  [
    'a URL that is too long',
    retailer(2, { url: `https://shop.example/${'u'.repeat(65_536)}` }),
    'line 2: url must have at most 65,536 characters',
  ],
  [
    'half a surrogate pair in a name',
    retailer(2, { name: 'Shop \ud83d' }),
    'line 2: name is not valid Unicode',
  ],
  [
    'half a surrogate pair in a URL',
    retailer(2, { url: 'https://shop.example/\ude00' }),
    'line 2: url is not valid Unicode',
  ],
  [
    'half a surrogate pair in a code',
    retailer(2, { coupons: [coupon(2, { code: '\ud800' })] }),
    'line 2: coupons[0].code is not valid Unicode',
  ],
  [
    'NUL in a description',
    retailer(2, { cashbackOffers: [offer(2, { description: 'On\0everything' })] }),
    'line 2: cashbackOffers[0].description must not contain a NUL character',
  ],
  ['a name that is not a string', retailer(2, { name: 7 }), 'line 2: name must be a string'],
  ['a null name', retailer(2, { name: null }), 'line 2: name must be a string'],
  ['an id that is not a UUID', retailer(2, { id: 'shop-2' }), 'line 2: id must be a UUID'],
  ['an unknown field', retailer(2, { colour: 'red' }), 'line 2: colour is an unknown field'],
  [
    'an unknown field of a deal',
    retailer(2, { coupons: [coupon(2), coupon(3, { colour: 'red' })] }),
    'line 2: coupons[1].colour is an unknown field',
  ],
  [
    'a __proto__ field',
    `{"__proto__":{"name":"x"},${JSON.stringify(retailer(2)).slice(1)}`,
    'line 2: __proto__ is an unknown field',
  ],
  [
    'a field given twice',
    JSON.stringify(retailer(2)).replace('"name":', '"name":"first","name":'),
    'line 2: name appears twice in the same object',
  ],
  ['a missing list', without(retailer(2), 'coupons'), 'line 2: coupons is missing'],
  ['an object instead of a list', retailer(2, { coupons: {} }), 'line 2: coupons must be a list'],
  [
    'a URL with another scheme',
    retailer(2, { url: 'javascript:alert(1)' }),
    'line 2: url must be a URL that starts with http:// or https://',
  ],
  [
    'a logo that is not a URL',
    retailer(2, { logo: 'logo.svg' }),
    'line 2: logo must be a URL that starts with http:// or https://',
  ],
  [
    'a deep link with another scheme',
    retailer(2, { promotions: [promotion(2, { deepLink: 'ftp://shop.example/' })] }),
    'line 2: promotions[0].deepLink must be a URL that starts with http:// or https://',
  ],
  [
    'a URL with a password',
    retailer(2, { url: 'https://user:pw@shop.example/' }),
    'line 2: url must not contain a user name or password',
  ],
  [
    'a logo with a user name',
    retailer(2, { logo: 'HTTPS://user@shop.example' }),
    'line 2: logo must not contain a user name or password',
  ],
  [
    'a deep link whose user info looks like a host',
    retailer(2, { promotions: [promotion(2, { deepLink: 'https://shop.example:443@evil.example/' })] }),
    'line 2: promotions[0].deepLink must not contain a user name or password',
  ],
  [
    'a coupon that ends when it starts',
    retailer(2, { coupons: [coupon(2, { endDate: '2026-03-01T00:00:00' })] }),
    'line 2: coupons[0].endDate must be after startDate',
  ],
  [
    'a promotion that ends before it starts',
    retailer(2, { promotions: [promotion(2), promotion(3, { endDate: '2026-02-01T00:00:00' })] }),
    'line 2: promotions[1].endDate must be after startDate',
  ],
  [
    'a date that does not exist',
    retailer(2, { coupons: [coupon(2, { startDate: '2026-02-30T00:00:00' })] }),
    'line 2: coupons[0].startDate is a date-time that does not exist',
  ],
  [
    'a percentage above 1',
    retailer(2, { cashbackOffers: [offer(2, { cashbackPercentage: 5 })] }),
    'line 2: cashbackOffers[0].cashbackPercentage must be between 0 and 1',
  ],
  [
    'a percentage below 0',
    retailer(2, { cashbackOffers: [offer(2, { cashbackPercentage: -0.1 })] }),
    'line 2: cashbackOffers[0].cashbackPercentage must be between 0 and 1',
  ],
  [
    'a negative fee',
    retailer(2, { cashbackOffers: [offer(2, { maximumFixedCommissionFee: -1 })] }),
    'line 2: cashbackOffers[0].maximumFixedCommissionFee must not be negative',
  ],
  [
    'a country code in lower case',
    retailer(2, { cashbackOffers: [offer(2, { countries: ['DE', 'at'] })] }),
    'line 2: cashbackOffers[0].countries[1] must be a country code of two capital letters (ISO 3166-1 alpha-2)',
  ],
  [
    'the country code UK instead of GB',
    retailer(2, { cashbackOffers: [offer(2, { countries: ['DE', 'UK'] })] }),
    'line 2: cashbackOffers[0].countries[1] must be GB, which is the code of the United Kingdom (ISO 3166-1 alpha-2)',
  ],
  [
    'a boolean given as a string',
    retailer(2, { cashbackOffers: [offer(2, { featured: 'yes' })] }),
    'line 2: cashbackOffers[0].featured must be true or false',
  ],
  [
    'a repeated retailer id in another case',
    retailer(2, { id: id('retailer', 1).toUpperCase() }),
    'line 2: id was already used on line 1',
  ],
  [
    'an offer id that another row already uses',
    retailer(2, { cashbackOffers: [offer(2), offer(1)] }),
    'line 2: cashbackOffers[1].id was already used on line 1',
  ],
  [
    'a coupon id that another row already uses',
    retailer(2, { coupons: [coupon(1)] }),
    'line 2: coupons[0].id was already used on line 1',
  ],
  [
    'a promotion id that another row already uses',
    retailer(2, { promotions: [promotion(1)] }),
    'line 2: promotions[0].id was already used on line 1',
  ],
  [
    'a coupon id that appears twice in a row',
    retailer(2, { coupons: [coupon(2), coupon(2, { code: 'OTHER' })] }),
    'line 2: coupons[1].id was already used in this row',
  ],
];

const LONG = '0.10000000000000000555';
const TOO_MANY_DIGITS =
  'must have at most 15 significant digits, and at most 15 on either side of the decimal point';

const BAD_TRANSACTIONS: [what: string, row: unknown, complaint: string][] = [
  ['a row that is not JSON', 'oops', 'line 2: the row is not JSON (Unexpected identifier "oops")'],
  ['a string instead of an object', '"text"', 'line 2: the row must be a JSON object'],
  [
    'a passbackData that is too long',
    transaction(4, { passbackData: 'p'.repeat(65_537) }),
    'line 2: passbackData must have at most 65,536 characters',
  ],
  [
    'half a surrogate pair in a passbackUid',
    transaction(4, { passbackUid: '\ud800' }),
    'line 2: passbackUid is not valid Unicode',
  ],
  [
    'a reversed surrogate pair in passbackData',
    transaction(4, { passbackData: '\ude00\ud83d' }),
    'line 2: passbackData is not valid Unicode',
  ],
  [
    'NUL in a passbackUid',
    transaction(4, { passbackUid: 'user\0' }),
    'line 2: passbackUid must not contain a NUL character',
  ],
  ['a missing status', without(transaction(4), 'status'), 'line 2: status is missing'],
  [
    'an unknown status',
    transaction(4, { status: 'pending' }),
    'line 2: status must be one of PENDING, CONFIRMED, DECLINED',
  ],
  ['a missing amount', without(transaction(4), 'cashback'), 'line 2: cashback is missing'],
  [
    'an amount given as a string',
    transaction(4, { orderValue: '79.90' }),
    'line 2: orderValue must be a number',
  ],
  ['an amount that is null', transaction(4, { orderValue: null }), 'line 2: orderValue must be a number'],
  ['a negative amount', transaction(4, { orderValue: -0.01 }), 'line 2: orderValue must not be negative'],
  [
    'an amount with more digits than a double prints',
    transaction(4, { cashback: 1234567890.123456 }),
    `line 2: cashback ${TOO_MANY_DIGITS}`,
  ],
  [
    'an amount with more digits than a double can hold',
    JSON.stringify(transaction(4)).replace('3.99', LONG),
    `line 2: cashback ${TOO_MANY_DIGITS}`,
  ],
  [
    'an amount with decimals that a double would round',
    JSON.stringify(transaction(4)).replace('3.99', '12345678.10000000000000001'),
    `line 2: cashback ${TOO_MANY_DIGITS}`,
  ],
  [
    'an amount too small for a double',
    JSON.stringify(transaction(4)).replace('3.99', '1e-400'),
    `line 2: cashback ${TOO_MANY_DIGITS}`,
  ],
  [
    'an amount too large for a double',
    JSON.stringify(transaction(4)).replace('3.99', '1e400'),
    `line 2: cashback ${TOO_MANY_DIGITS}`,
  ],
  [
    'an integer of 16 digits, including trailing zeros',
    transaction(4, { cashback: 1e15 }),
    `line 2: cashback ${TOO_MANY_DIGITS}`,
  ],
  [
    'an amount with a 16th decimal place',
    transaction(4, { cashback: 1e-16 }),
    `line 2: cashback ${TOO_MANY_DIGITS}`,
  ],
  [
    'a country code of three letters',
    transaction(4, { country: 'DEU' }),
    'line 2: country must be a country code of two capital letters (ISO 3166-1 alpha-2)',
  ],
  [
    'the country code EL instead of GR',
    transaction(4, { country: 'EL' }),
    'line 2: country must be GR, which is the code of Greece (ISO 3166-1 alpha-2)',
  ],
  [
    'a currency code of two letters',
    transaction(4, { currencyCode: 'EU' }),
    'line 2: currencyCode must be a currency code of three capital letters (ISO 4217)',
  ],
  [
    'a leap second',
    transaction(4, { soldAt: '2016-12-31T23:59:60' }),
    'line 2: soldAt is a date-time that does not exist',
  ],
  [
    'a date that does not exist',
    transaction(4, { clickedAt: '2026-02-29T00:00:00' }),
    'line 2: clickedAt is a date-time that does not exist',
  ],
  [
    'a UTC offset without its sign',
    transaction(4, { soldAt: '2026-11-14T14:00:00 02:00' }),
    'line 2: soldAt must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00',
  ],
  ['a missing time of sale', without(transaction(4), 'soldAt'), 'line 2: soldAt is missing'],
  ['a coupon id that is not a UUID', transaction(4, { couponId: '' }), 'line 2: couponId must be a UUID'],
  ['an unknown field', transaction(4, { colour: 'red' }), 'line 2: colour is an unknown field'],
  [
    'an unknown field with control characters in its name',
    transaction(4, { '\u001b[31m\n': 1 }),
    'line 2: \u{fffd}[31m\u{fffd} is an unknown field',
  ],
  [
    'a field given twice, once with escape sequences',
    JSON.stringify(transaction(4)).replace('"cashback":', '"\\u0063ashback" :1,"cashback":'),
    'line 2: cashback appears twice in the same object',
  ],
  [
    'a repeated transaction id in another case',
    transaction(4, { id: id('transaction', 1).toUpperCase() }),
    'line 2: id was already used on line 1',
  ],
  ["another organisation's transaction", transaction(9), 'line 2: id belongs to another organisation'],
  [
    'a confirmed sale that becomes pending again',
    transaction(2, { status: 'PENDING' }),
    'line 2: status must not change from CONFIRMED back to PENDING',
  ],
  [
    'a declined sale that becomes pending again',
    transaction(3, { status: 'PENDING' }),
    'line 2: status must not change from DECLINED back to PENDING',
  ],
];

describe('a catalogue import', () => {
  test.each(BAD_RETAILERS)(
    'rejects the file and changes nothing because of %s',
    async (_what, row, expected) => {
      expect(await complaint('catalogue', row)).toBe(expected);
    },
  );
});

describe('a transaction import', () => {
  test.each(BAD_TRANSACTIONS)(
    'rejects the file and changes nothing because of %s',
    async (_what, row, expected) => {
      expect(await complaint('transactions', row)).toBe(expected);
    },
  );
});

test('the error lists every problem in every invalid row', async () => {
  const { stores, org } = book;
  const bad = transaction(5, { country: 'de', cashback: -1, colour: 'red' });
  const file = ndjson(bad, transaction(6), '', 'oops');
  const run = importTransactions(stores.transactions, org, sourceFrom(file), () => NOW_MS, {});
  expect(await complaintOf(run)).toBe(
    [
      'line 1: country must be a country code of two capital letters (ISO 3166-1 alpha-2)',
      'line 1: cashback must not be negative',
      'line 1: colour is an unknown field',
      'line 4: the row is not JSON (Unexpected identifier "oops")',
      'Nothing was imported: 2 of 3 rows are invalid.',
    ].join('\n'),
  );
});

test('the error lists the first twenty problems by line and counts the rest', async () => {
  const { stores, org } = book;
  const before = await contentOf(book);
  // Several batches with two kinds of invalid rows, which the import detects at different times.
  const rows = Array.from({ length: 1234 }, (_, n) =>
    n % 2 === 0 ? transaction(9) : transaction(1000 + n, { country: 'xx' }),
  );
  const run = importTransactions(stores.transactions, org, sourceFrom(ndjson(...rows)), () => NOW_MS, {});
  const lines = (await complaintOf(run)).split('\n');
  expect(lines.slice(0, 3)).toEqual([
    'line 1: id belongs to another organisation',
    'line 2: country must be a country code of two capital letters (ISO 3166-1 alpha-2)',
    'line 3: id was already used on line 1',
  ]);
  expect(lines.slice(0, 20).map((line) => Number(/^line (\d+):/.exec(line)?.[1]))).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  expect(lines.slice(20)).toEqual([
    '… and 1,214 more',
    'Nothing was imported: 1,234 of 1,234 rows are invalid.',
  ]);
  expect(await contentOf(book)).toEqual(before);
});

test('a row that is not UTF-8 is rejected with its line number', async () => {
  const { stores, org } = book;
  const before = await contentOf(book);
  const latin1 = Buffer.from(ndjson(transaction(5), transaction(6, { passbackUid: 'käse' })), 'latin1');
  const run = importTransactions(stores.transactions, org, sourceFrom(latin1), () => NOW_MS, {});
  expect(await complaintOf(run)).toBe(
    'line 2: the row is not UTF-8\nNothing was imported: 1 of 2 rows is invalid.',
  );
  expect(await contentOf(book)).toEqual(before);
});
