// Every kind of invalid row, one at a time: the error message is exact, and nothing changes.

import { afterAll, expect, test } from 'bun:test';
import {
  closeBooks,
  complaintOf,
  contentOf,
  coupon,
  id,
  loadCatalogue,
  loadTransactions,
  ndjson,
  newBook,
  offer,
  promotion,
  retailer,
  transaction,
} from './fixture.ts';

const book = await newBook();
await loadCatalogue(book, ndjson(retailer(1), retailer(2)));
const sold = [
  transaction(1),
  transaction(2, { status: 'CONFIRMED' }),
  transaction(3, { status: 'DECLINED' }),
];
await loadTransactions(book, ndjson(...sold));
await loadTransactions({ ...book, org: book.otherOrg }, ndjson(transaction(9)));

afterAll(closeBooks);

/** Imports a valid row on line 1 and an invalid one on line 2; returns the error message for line 2. */
async function complaint(kind: 'catalogue' | 'transactions', changes: object | string): Promise<string> {
  const before = await contentOf(book);
  const isCatalogue = kind === 'catalogue';
  const good = isCatalogue ? retailer(1, { name: 'New name' }) : transaction(1, { cashback: 1 });
  const row = isCatalogue ? RETAILER : SALE;
  const bad = typeof changes === 'string' ? changes : { ...JSON.parse(row), ...changes };
  const load = isCatalogue ? loadCatalogue : loadTransactions;
  const text = await complaintOf(load(book, ndjson(good, bad)));
  expect(await contentOf(book)).toEqual(before);
  expect(text).toEndWith('\nNothing was imported: 1 of 2 rows is invalid.');
  expect(text).toStartWith('line 2: ');
  return text.slice('line 2: '.length, text.lastIndexOf('\n'));
}

type Row = Record<string, unknown>;

const RETAILER = JSON.stringify(retailer(2));
const SALE = JSON.stringify(transaction(4));

const withOffer = (changes: Row) => ({ cashbackOffers: [offer(2, changes)] });
const withCoupon = (changes: Row) => ({ coupons: [coupon(2, changes)] });
const withPromotion = (changes: Row) => ({ promotions: [promotion(2, changes)] });

/** Changes to a valid row, or the text of a row. */
const BAD_RETAILERS: [complaint: string, changes: object | string][] = [
  ['the row is not JSON (Unexpected identifier "oops")', '{"id": oops}'],
  ['the row is not JSON (Unterminated string)', '{"id":"0192d1a0-'],
  ['the row is not JSON (Unable to parse JSON string)', '{} {}'],
  ['the row must be a JSON object', '7'],
  ['the row must be a JSON object', 'null'],
  ['the row must be a JSON object', '[]'],
  ['id is missing', { id: undefined }],
  ['name is missing', { name: undefined }],
  ['name must not be empty', { name: '' }],
  ['name must have at most 65,536 characters', { name: 'n'.repeat(65_537) }],
  [
    'cashbackOffers[0].description must have at most 65,536 characters',
    withOffer({ description: 'd'.repeat(65_537) }),
  ],
  ['url must have at most 65,536 characters', { url: `https://shop.example/${'u'.repeat(65_536)}` }],
  ['name is not valid Unicode', { name: 'Shop \ud83d' }],
  ['url is not valid Unicode', { url: 'https://shop.example/\ude00' }],
  ['coupons[0].code is not valid Unicode', withCoupon({ code: '\ud800' })],
  [
    'cashbackOffers[0].description must not contain a NUL character',
    withOffer({ description: 'On\0everything' }),
  ],
  ['name must be a string', { name: 7 }],
  ['name must be a string', { name: null }],
  ['id must be a UUID', { id: 'shop-2' }],
  ['colour is an unknown field', { colour: 'red' }],
  ['coupons[1].colour is an unknown field', { coupons: [coupon(2), coupon(3, { colour: 'red' })] }],
  ['__proto__ is an unknown field', `{"__proto__":{"name":"x"},${RETAILER.slice(1)}`],
  ['name appears twice in the same object', RETAILER.replace('"name":', '"name":"first","name":')],
  ['coupons is missing', { coupons: undefined }],
  ['coupons must be a list', { coupons: {} }],
  ['url must be a URL that starts with http:// or https://', { url: 'javascript:alert(1)' }],
  ['logo must be a URL that starts with http:// or https://', { logo: 'logo.svg' }],
  [
    'promotions[0].deepLink must be a URL that starts with http:// or https://',
    withPromotion({ deepLink: 'ftp://shop.example/' }),
  ],
  ['url must not contain a user name or password', { url: 'https://user:pw@shop.example/' }],
  ['logo must not contain a user name or password', { logo: 'HTTPS://user@shop.example' }],
  [
    'promotions[0].deepLink must not contain a user name or password',
    withPromotion({ deepLink: 'https://shop.example:443@evil.example/' }),
  ],
  ['coupons[0].endDate must be after startDate', withCoupon({ endDate: '2026-03-01T00:00:00' })],
  [
    'promotions[1].endDate must be after startDate',
    { promotions: [promotion(2), promotion(3, { endDate: '2026-02-01T00:00:00' })] },
  ],
  [
    'coupons[0].startDate is a date-time that does not exist',
    withCoupon({ startDate: '2026-02-30T00:00:00' }),
  ],
  ['cashbackOffers[0].cashbackPercentage must be between 0 and 1', withOffer({ cashbackPercentage: 5 })],
  ['cashbackOffers[0].cashbackPercentage must be between 0 and 1', withOffer({ cashbackPercentage: -0.1 })],
  [
    'cashbackOffers[0].maximumFixedCommissionFee must not be negative',
    withOffer({ maximumFixedCommissionFee: -1 }),
  ],
  [
    'cashbackOffers[0].countries[1] must be a country code of two capital letters (ISO 3166-1 alpha-2)',
    withOffer({ countries: ['DE', 'at'] }),
  ],
  [
    'cashbackOffers[0].countries[1] must be GB, which is the code of the United Kingdom (ISO 3166-1 alpha-2)',
    withOffer({ countries: ['DE', 'UK'] }),
  ],
  ['cashbackOffers[0].featured must be true or false', withOffer({ featured: 'yes' })],
  ['id was already used on line 1', { id: id('retailer', 1).toUpperCase() }],
  ['cashbackOffers[1].id was already used on line 1', { cashbackOffers: [offer(2), offer(1)] }],
  ['coupons[0].id was already used on line 1', { coupons: [coupon(1)] }],
  ['promotions[0].id was already used on line 1', { promotions: [promotion(1)] }],
  ['coupons[1].id was already used in this row', { coupons: [coupon(2), coupon(2, { code: 'OTHER' })] }],
];

const LONG = '0.10000000000000000555';
const TOO_MANY_DIGITS =
  'must have at most 15 significant digits, and at most 15 on either side of the decimal point';

const BAD_TRANSACTIONS: [complaint: string, changes: object | string][] = [
  ['the row is not JSON (Unexpected identifier "oops")', 'oops'],
  ['the row must be a JSON object', '"text"'],
  ['passbackData must have at most 65,536 characters', { passbackData: 'p'.repeat(65_537) }],
  ['passbackUid is not valid Unicode', { passbackUid: '\ud800' }],
  ['passbackData is not valid Unicode', { passbackData: '\ude00\ud83d' }],
  ['passbackUid must not contain a NUL character', { passbackUid: 'user\0' }],
  ['passbackUid must not be longer than 255 bytes in UTF-8', { passbackUid: 'ü'.repeat(128) }],
  ['passbackUid must not contain control characters', { passbackUid: 'user\u0085' }],
  ['passbackUid must be valid UTF-8', { passbackUid: 'M\uFFFDller' }],
  ['status is missing', { status: undefined }],
  ['status must be one of PENDING, CONFIRMED, DECLINED', { status: 'pending' }],
  ['cashback is missing', { cashback: undefined }],
  ['orderValue must be a number', { orderValue: '79.90' }],
  ['orderValue must be a number', { orderValue: null }],
  ['orderValue must not be negative', { orderValue: -0.01 }],
  [`cashback ${TOO_MANY_DIGITS}`, { cashback: 1234567890.123456 }],
  [`cashback ${TOO_MANY_DIGITS}`, SALE.replace('3.99', LONG)],
  [`cashback ${TOO_MANY_DIGITS}`, SALE.replace('3.99', '1e-400')],
  [`cashback ${TOO_MANY_DIGITS}`, { cashback: 1e-16 }],
  ['country must be a country code of two capital letters (ISO 3166-1 alpha-2)', { country: 'DEU' }],
  ['country must be GR, which is the code of Greece (ISO 3166-1 alpha-2)', { country: 'EL' }],
  ['currencyCode must be a currency code of three capital letters (ISO 4217)', { currencyCode: 'EU' }],
  ['soldAt is a date-time that does not exist', { soldAt: '2016-12-31T23:59:60' }],
  ['clickedAt is a date-time that does not exist', { clickedAt: '2026-02-29T00:00:00' }],
  [
    'soldAt must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00',
    { soldAt: '2026-11-14T14:00:00 02:00' },
  ],
  ['soldAt is missing', { soldAt: undefined }],
  ['couponId must be a UUID', { couponId: '' }],
  ['retailerId must be a UUID', { retailerId: 'shop' }],
  ['retailerId must be a UUID', { retailerId: '' }],
  ['retailerId must be a UUID', { retailerId: 7 }],
  ['colour is an unknown field', { colour: 'red' }],
  ['\u{fffd}[31m\u{fffd} is an unknown field', { '\u001b[31m\n': 1 }],
  [
    'cashback appears twice in the same object',
    SALE.replace('"cashback":', '"\\u0063ashback" :1,"cashback":'),
  ],
  ['id was already used on line 1', { id: id('transaction', 1).toUpperCase() }],
  ['id belongs to another organisation', { id: id('transaction', 9) }],
  ['status must not change from CONFIRMED back to PENDING', { id: id('transaction', 2), status: 'PENDING' }],
  ['status must not change from DECLINED back to PENDING', { id: id('transaction', 3), status: 'PENDING' }],
];

test.each(BAD_RETAILERS)('a catalogue is rejected and nothing changes: %s', async (expected, changes) => {
  expect(await complaint('catalogue', changes)).toBe(expected);
});

test.each(BAD_TRANSACTIONS)(
  'transactions are rejected and nothing changes: %s',
  async (expected, changes) => {
    expect(await complaint('transactions', changes)).toBe(expected);
  },
);

test('the error lists the first twenty problems by line and counts the rest', async () => {
  const before = await contentOf(book);
  // Several batches with two kinds of invalid rows, which the import detects at different times.
  const rows = Array.from({ length: 1234 }, (_, n) =>
    n % 2 === 0 ? transaction(9) : transaction(1000 + n, { country: 'xx' }),
  );
  const lines = (await complaintOf(loadTransactions(book, ndjson(...rows)))).split('\n');
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
