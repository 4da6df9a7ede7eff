// Pitfalls in the files of affiliate networks, one test for each.

import { describe, expect, test } from 'bun:test';
import {
  awinSale,
  cjAnswer,
  cjCorrection,
  cjRecord,
  convertSales,
  errorOf,
  idOf,
  impactAction,
  impactPage,
  partnerizeConversion,
  partnerizeItem,
  partnerizePage,
  type Row,
  rakutenSku,
  sourceFor,
} from './fixture.ts';

/** Returns some fields of the only converted transaction. */
async function only(work: ReturnType<typeof convertSales>, ...fields: string[]): Promise<unknown[]> {
  const { rows } = await work;
  expect(rows).toHaveLength(1);
  return fields.map((field) => rows[0]?.[field]);
}

const awin = (rows: readonly Row[], changes: Row = {}) =>
  convertSales(sourceFor('awin', changes), JSON.stringify(rows));
const impact = (rows: readonly Row[]) => convertSales(sourceFor('impact'), impactPage('Actions', rows));
const partnerize = (rows: readonly Row[]) => convertSales(sourceFor('partnerize'), partnerizePage(rows));
const cj = (rows: readonly Row[]) => convertSales(sourceFor('cj'), cjAnswer(rows));
const rakuten = (rows: readonly Row[], changes: Row = {}) =>
  convertSales(sourceFor('rakuten', changes), JSON.stringify(rows));

const MINUS_30 = { saleAmountPubCurrency: '-30.00', pubCommissionAmountPubCurrency: '-1.50' };
const RESTATED = {
  commissionId: '2900000003',
  saleAmountPubCurrency: '60.00',
  pubCommissionAmountPubCurrency: '3.00',
};
const secondSku = rakutenSku({
  etransaction_id: '71BCF6217AE356AE46E8A0D64BCD693D',
  sku_number: 'bulb-2',
  sale_amount: 19.5,
  commissions: 0.95,
  transaction_date: 'Sat Nov 14 2026 12:00:03 GMT+0000 (UTC)',
});
const back = (sale_amount: number, commissions: number, changes: Row = {}) => ({
  ...secondSku,
  sale_amount,
  commissions,
  ...changes,
});
const money = (amount: number, currency = 'EUR') => ({ amount, currency });
const ZERO = money(0);
/** An Awin decline without amounts. */
const declined = (changes: Row = {}) =>
  awinSale({ commissionStatus: 'declined', commissionAmount: ZERO, saleAmount: ZERO, ...changes });
const paid = (changes: Row = {}) => awinSale({ commissionAmount: money(4), ...changes });
const items = (...statuses: string[]) => ({
  conversion_items: statuses.map((item_status, index) =>
    partnerizeItem({ item_status, item_value: 10 + index, item_publisher_commission: 2 + index }),
  ),
});
const mixed = (...statuses: string[]) =>
  partnerize([partnerizeConversion(items(...statuses), { conversion_status: 'mixed' })]);
const rejected = (item: Row, value: Row) =>
  partnerizeConversion(
    { conversion_items: [partnerizeItem({ item_status: 'rejected', ...item })] },
    { conversion_status: 'rejected', ...value },
  );
const reversed = (changes: Row) => impactAction({ State: 'REVERSED', ...changes });

/** Expects a single sale. */
async function expectSale(
  conversion: ReturnType<typeof convertSales>,
  [status, orderValue, cashback]: Amounts,
  others: Row = {},
): Promise<void> {
  expect((await conversion).rows).toMatchObject([{ status, orderValue, cashback, ...others }]);
}
type Amounts = readonly [status: string, orderValue: number, cashback: number];

describe('CJ', () => {
  test('a full reversal declines the sale and keeps its original amounts', () =>
    expectSale(cj([cjRecord(), cjCorrection()]), ['DECLINED', 80, 2]));
  test("a partial return reduces the sale's amounts", () =>
    expectSale(cj([cjRecord(), cjCorrection(MINUS_30)]), ['PENDING', 50, 1.25]));
  test('an original, its reversal and its restatement become one sale with the restated amounts', () =>
    expectSale(cj([cjCorrection(RESTATED), cjCorrection(), cjRecord()]), ['PENDING', 60, 1.5]));
  test('a locked sale stays confirmed after an unlocked correction', () =>
    expectSale(cj([cjRecord({ actionStatus: 'locked' }), cjCorrection(MINUS_30)]), ['CONFIRMED', 50, 1.25]));
  test('a sale stays pending while its record is extended', () =>
    expectSale(cj([cjRecord({ actionStatus: 'extended' })]), ['PENDING', 80, 2]));
  test('a locked sale is declined if validation declines it', () =>
    expectSale(cj([cjRecord({ actionStatus: 'locked', validationStatus: 'DECLINED' })]), [
      'DECLINED',
      80,
      2,
    ]));
  test('the currency comes from the source file', () =>
    expectSale(
      convertSales(sourceFor('cj', { currency: 'JPY' }), cjAnswer([cjRecord()])),
      ['PENDING', 80, 2],
      {
        currencyCode: 'JPY',
      },
    ));
});

describe('Rakuten', () => {
  test("an order's SKUs become one transaction with their sum and the earliest time", () =>
    expectSale(rakuten([secondSku, rakutenSku()]), ['PENDING', 100.5, 2.5], {
      soldAt: '2026-11-14T12:00:00',
    }));
  test('rows that reverse the whole order decline the sale and keep its original amounts', () =>
    expectSale(rakuten([rakutenSku(), back(-81, -4.05, { u1: '' })]), ['DECLINED', 81, 2.02]));
  test('rows that reverse more commission than the order earned decline the sale', () =>
    expectSale(rakuten([rakutenSku(), back(-81, -5)]), ['DECLINED', 81, 2.02]));
  test('a return without commission reduces the order value and does not change the sale time', () =>
    expectSale(
      rakuten([rakutenSku(), back(-20, 0, { transaction_date: 'Fri Nov 13 2026 12:00:00 GMT+0000 (UTC)' })]),
      ['PENDING', 61, 2.02],
      { soldAt: '2026-11-14T12:00:00' },
    ));
  test('an order with a commission of 0 is declined', () =>
    expectSale(rakuten([rakutenSku({ commissions: 0 })]), ['DECLINED', 81, 0]));
});

describe('Partnerize', () => {
  test('a mixed conversion with approved items is confirmed with the sum of only those items', () =>
    expectSale(mixed('approved', 'rejected', 'approved', 'pending'), ['CONFIRMED', 22, 3]));
  test('a mixed conversion without approved items is pending with the sum of its pending items', () =>
    expectSale(mixed('rejected', 'pending'), ['PENDING', 11, 1.5]));
  test('a mixed conversion whose items are all rejected is declined with their sum', () =>
    expectSale(mixed('rejected', 'rejected'), ['DECLINED', 21, 2.5]));
  test('a rejected conversion with a commission keeps its own amounts', () =>
    expectSale(
      partnerize([rejected({ item_publisher_commission: 4 }, { value: 0, publisher_commission: 3 })]),
      ['DECLINED', 0, 1.5],
    ));
  test('a rejected conversion without amounts uses the amounts of its items', () =>
    expectSale(
      partnerize([rejected({ item_publisher_commission: 4 }, { value: 0, publisher_commission: 0 })]),
      ['DECLINED', 81, 2],
    ));
});

describe('Awin', () => {
  test.each<[string, Row, orderValue: number, cashback: number]>([
    ['the old ones', { oldSaleAmount: money(81), oldCommissionAmount: money(4) }, 81, 2],
    [
      'the original one without an old one',
      { originalSaleAmount: money(90), oldCommissionAmount: money(4) },
      90,
      2,
    ],
    ['the original one if the old one is 0', { oldSaleAmount: ZERO, originalSaleAmount: money(90) }, 90, 0],
    [
      'the old one before the original one',
      { oldSaleAmount: money(81), originalSaleAmount: money(90) },
      81,
      0,
    ],
  ])('the amounts of a decline are %s', (_which, changes, orderValue, cashback) =>
    expectSale(awin([declined(changes)]), ['DECLINED', orderValue, cashback]),
  );
  test('a deleted sale is declined', () =>
    expectSale(awin([awinSale({ commissionStatus: 'deleted' })]), ['DECLINED', 81, 2.02]));
});

describe('impact.com', () => {
  test.each<[string, Row, cashback: number]>([
    ['its intended amounts', { Payout: '0.00', Amount: '0.00', IntendedPayout: '4.00' }, 2],
    ['its own if the intended amounts are 0', { IntendedAmount: '0.00', IntendedPayout: '0.00' }, 2.02],
    ['its own if the intended amounts are missing', { IntendedAmount: '', IntendedPayout: '' }, 2.02],
  ])('the amounts of a reversed action are %s', (_which, changes, cashback) =>
    expectSale(impact([reversed(changes)]), ['DECLINED', 81, cashback]),
  );
  test('an action that is not reversed ignores its intended amounts', () =>
    expectSale(
      impact([impactAction({ State: 'APPROVED', IntendedAmount: '90.00', IntendedPayout: '9.00' })]),
      ['CONFIRMED', 81, 2.02],
    ));
  test('amounts may have a decimal comma', () =>
    expectSale(impact([impactAction({ Amount: '1.081,50', Payout: '4,00' })]), ['PENDING', 1081.5, 2]));
});

const approved = awinSale({ commissionStatus: 'approved' });
const validated = (day: number) => ({ validationDate: `2026-11-${day}T00:00:00` });
const decided = awinSale({ commissionStatus: 'approved', ...validated(20) });
const conflictingDeclines = [declined(), declined({ customerCountry: 'AT' })];
const cjState = (actionStatus: string, validationStatus: string, saleAmountPubCurrency: string) =>
  cjRecord({ actionStatus, validationStatus, saleAmountPubCurrency });
const modified = (day: number, conversion_status: string) =>
  partnerizeConversion({ last_modified: `2026-11-${day} 00:00:00` }, { conversion_status });

describe('versions of a row, in any order', () => {
  const expectLatest = async (
    convert: typeof cj,
    versions: readonly Row[],
    amounts: Amounts,
    others?: Row,
  ) => {
    await expectSale(convert(versions), amounts, others);
    await expectSale(convert(versions.toReversed()), amounts, others);
  };

  test.each<[string, Row]>([
    ['a commission', { commissionAmount: ZERO }],
    ['an order value', { saleAmount: ZERO }],
    ['amounts', { commissionAmount: ZERO, saleAmount: ZERO }],
  ])('Awin: a decline without %s uses that of another version', (_what, changes) =>
    expectLatest(awin, [paid(), paid({ commissionStatus: 'declined', ...changes })], ['DECLINED', 81, 2]),
  );
  test('Awin: a newer decline replaces older declines that conflict', () =>
    expectLatest(
      awin,
      [...conflictingDeclines, declined({ customerCountry: 'CH', ...validated(20) })],
      ['DECLINED', 0, 0],
      { country: 'CH' },
    ));
  test('Awin: a newer and complete decline provides the amounts that conflicting declines lack', () =>
    expectLatest(
      awin,
      [awinSale(), ...conflictingDeclines, awinSale({ commissionStatus: 'declined', ...validated(20) })],
      ['DECLINED', 81, 2.02],
    ));
  test('Awin: a decline without amounts that was validated after the approval is newer', () =>
    expectLatest(awin, [decided, declined(validated(21))], ['DECLINED', 81, 2.02]));
  test('Awin: a decline without amounts that was validated before the approval is older', () =>
    expectLatest(awin, [decided, declined(validated(19))], ['CONFIRMED', 81, 2.02]));
  test.each([
    ['locked', 'PENDING', 'new', 'ACCEPTED', 'CONFIRMED'],
    ['closed', 'AUTOMATED', 'locked', 'DECLINED', 'CONFIRMED'],
    ['locked', 'DECLINED', 'locked', 'PENDING', 'DECLINED'],
  ])('CJ: a record with status %s and validation %s is newer than %s and %s', (...states) => {
    const [status, validation, olderStatus, olderValidation, expected] = states;
    const older = cjState(olderStatus, olderValidation, '80.00');
    return expectLatest(cj, [cjState(status, validation, '70.00'), older], [expected, 70, 2]);
  });
  test('Partnerize: a decided sale that is pending again keeps its decision', () =>
    expectLatest(partnerize, [modified(15, 'approved'), modified(16, 'pending')], ['CONFIRMED', 81, 2.02]));
  test('Partnerize: an older pending version does not replace a decision', () =>
    expectLatest(partnerize, [modified(17, 'approved'), modified(14, 'pending')], ['CONFIRMED', 81, 2.02]));
  test('Partnerize: a later decision replaces an earlier one', () =>
    expectLatest(partnerize, [modified(15, 'approved'), modified(16, 'rejected')], ['DECLINED', 81, 2.02]));
  test('Rakuten: the SKU version with the later process date is used', () =>
    expectLatest(
      rakuten,
      [
        rakutenSku(),
        rakutenSku({
          process_date: 'Sun Nov 15 2026 12:05:00 GMT+0000 (UTC)',
          sale_amount: 70,
          commissions: 3.5,
        }),
      ],
      ['PENDING', 70, 1.75],
    ));
});

test('Partnerize: a decided sale is reported only if a newer version is pending again', async () => {
  const notesOf = async (...versions: Row[]) => (await partnerize(versions)).report.notes;
  const kept = ['Sales that were decided and are pending again at the network: 1. Their decisions are kept.'];
  expect(await notesOf(modified(15, 'approved'), modified(16, 'pending'))).toEqual(kept);
  expect(await notesOf(modified(16, 'pending'), modified(15, 'approved'))).toEqual(kept);
  expect(await notesOf(modified(17, 'approved'), modified(14, 'pending'))).toEqual([]);
  expect(await notesOf(modified(15, 'approved'), modified(16, 'rejected'))).toEqual([]);
});

test.each([
  ['an approved version and a decline without amounts', [approved, declined()]],
  ['two declines without amounts', [awinSale(), ...conflictingDeclines]],
  [
    'two approved versions, whatever a newer decline without amounts contains',
    [approved, awinSale({ commissionStatus: 'approved', saleAmount: money(70) }), declined(validated(20))],
  ],
])('Awin: %s conflict, which affects only their own sale, for any row order', async (_what, versions) => {
  for (const order of [versions, versions.toReversed()]) {
    const rows = [...order, awinSale({ id: 1 })];
    expect((await errorOf(awin(rows))).message).toContain(
      'id 900100200: the row appears twice with different contents, and it is unknown which is newer\nNothing was',
    );
    const converted = await convertSales(sourceFor('awin'), JSON.stringify(rows), { skipInvalid: true });
    expect(converted.rows.map(({ id }) => id)).toEqual([idOf('awin', 'transaction', '1')]);
    expect(converted.report).toMatchObject({ written: 1, invalid: 1 });
  }
});

describe('rejected sales', () => {
  const expectError = async (conversion: ReturnType<typeof convertSales>, message: string) =>
    expect((await errorOf(conversion)).message).toContain(message);

  test('CJ: corrections without their original record are rejected', () =>
    expectError(
      cj([cjCorrection()]),
      'the file, line 1 (item 1), id 1700000077: the row has only corrections: the file with the original record is missing\nNothing was converted: 1 of 1 row is invalid.',
    ));
  test('CJ: an action with two original records is rejected, because one may be a duplicate', () =>
    expectError(
      cj([cjRecord(), cjRecord({ commissionId: '2900000009' })]),
      'the file, line 1 (item 1), id 1700000077: the row has several original records\nNothing was converted: 1 of 2 rows is invalid.',
    ));
  test('CJ: an amount with a decimal comma is rejected', () =>
    expectError(
      cj([cjRecord({ saleAmountPubCurrency: '80,00' })]),
      'saleAmountPubCurrency is "80,00", which is not a decimal number',
    ));
  test('Awin: a sale whose commission is in another currency is rejected', () =>
    expectError(
      awin([awinSale({ commissionAmount: money(4, 'GBP') })]),
      'id 900100200: commissionAmount.currency is not "EUR", the currency of the sale\n',
    ));
  test('impact.com: an ambiguous amount is rejected', () =>
    expectError(
      impact([impactAction({ Amount: '1,081' })]),
      'id 10306.4636.158133: Amount is "1,081", which is not a decimal number\n',
    ));
  test('impact.com: a sale without a currency is rejected', () =>
    expectError(impact([impactAction({ Currency: '' })]), 'id 10306.4636.158133: Currency is missing\n'));
  test('Partnerize: a mixed conversion without items is rejected', () =>
    expectError(
      mixed(),
      'conversion_data.conversion_value.conversion_status is "mixed", but there are no items',
    ));
});

describe('Rakuten rows, one for each SKU of an order', () => {
  test('only confirmAfterDays confirms sales, those of exactly that age or older', async () => {
    const due = Date.UTC(2026, 10, 19, 12);
    const statusAt = async (nowMs: number, changes: Row = { confirmAfterDays: 5 }) => {
      const source = sourceFor('rakuten', changes);
      return only(convertSales(source, JSON.stringify([rakutenSku()]), { nowMs }), 'status');
    };
    expect(await statusAt(due)).toEqual(['CONFIRMED']);
    expect(await statusAt(due - 1)).toEqual(['PENDING']);
    expect(await statusAt(due, {})).toEqual(['PENDING']);
  });

  test('media-optimisation events are left out and counted even if their other fields are invalid', async () => {
    const event = { ...secondSku, is_event: 'Y', transaction_type: 'batch', commissions: '?', currency: '' };
    const { rows, report } = await rakuten([event, rakutenSku(), { ...secondSku, is_event: null }, event]);
    expect(rows.map((row) => [row.orderValue, row.cashback])).toEqual([[100.5, 2.5]]);
    expect([report.read, report.written, report.invalid, report.notes]).toEqual([
      4,
      1,
      0,
      ['Left out: media-optimisation events, which are not sales (2 rows).'],
    ]);
    const error = await errorOf(rakuten([rakutenSku({ is_event: 'maybe' })]));
    expect(error.message).toStartWith(
      'the file, line 1 (item 1), id 3358:A-100: is_event is "maybe", expected one of Y, N\n',
    );
  });

  test('a mix of real-time and batch rows is rejected unless the source file sets transactionType', async () => {
    const batch = { ...secondSku, order_id: 'B-100', transaction_type: 'batch' };
    const error = await errorOf(rakuten([rakutenSku(), batch]));
    expect(error.message).toContain('set "transactionType" in the source file');
    const { rows, report } = await rakuten([rakutenSku(), batch], { transactionType: 'batch' });
    expect(rows.map(({ orderValue }) => orderValue)).toEqual([19.5]);
    expect(report.written).toBe(1);
    expect(report.notes).toEqual(['Left out: rows of a different transaction type (1 row).']);
    expect((await rakuten([rakutenSku(), batch], { transactionType: 'any' })).rows).toHaveLength(2);
  });
});

describe('Awin declines whose amounts arrive as zero', () => {
  test('amounts that no version contains become 0 and are reported', async () => {
    const { rows, report } = await awin([declined()]);
    expect(rows.map(({ status, orderValue }) => [status, orderValue])).toEqual([['DECLINED', 0]]);
    expect(report.notes).toEqual(['Declined sales without amounts in any file: 1. Their amounts are 0.']);
  });

  test('a decline whose parts are also zero keeps the offer and cashback of the pending version', async () => {
    const parts = (...commissions: number[]) => ({
      transactionParts: commissions.map((commissionAmount, index) => ({
        commissionGroupId: 10 + index,
        commissionAmount,
      })),
    });
    const amounts = { amount: 4, currency: 'EUR' };
    const pending = awinSale({ commissionAmount: amounts, ...parts(1, 3) });
    const emptied = declined(parts(0, 0));
    const fields = ['status', 'cashback', 'cashbackOfferId'];
    const source = sourceFor('awin', { share: { default: 0.5, groups: { 10: 1 } } });
    const sale = (...rows: Row[]) => only(convertSales(source, JSON.stringify(rows)), ...fields);
    for (const rows of [
      [pending, emptied],
      [emptied, pending],
    ]) {
      expect(await sale(...rows)).toEqual(['DECLINED', 2.5, idOf('awin', 'offer', '11')]);
    }
    // An old amount cannot be split among parts of 0, so the cashback comes from another version or is 0.
    const old = declined({ ...parts(0, 0), oldCommissionAmount: amounts });
    expect(await sale(old)).toEqual(['DECLINED', 0, null]);
    expect(await sale(old, pending)).toEqual(['DECLINED', 2.5, idOf('awin', 'offer', '11')]);
    const open = awinSale({ commissionAmount: amounts, ...parts(0, 0) });
    expect((await errorOf(sale(open))).message).toContain('transactionParts do not add up');
  });
});

describe('time zones of network files', () => {
  test("Awin: a time without an offset is read in the source file's time zone, in summer and in winter", async () => {
    const times = { clickDate: '2026-07-01T00:30:00', transactionDate: '2026-12-01T00:30:00' };
    expect(await only(awin([awinSale(times)]), 'clickedAt', 'soldAt')).toEqual([
      '2026-07-01T00:30:00',
      '2026-12-01T00:30:00',
    ]);
    const berlin = awin([awinSale(times)], { timeZone: 'Europe/Berlin' });
    expect(await only(berlin, 'clickedAt', 'soldAt')).toEqual(['2026-06-30T22:30:00', '2026-11-30T23:30:00']);
  });

  test("the machine's time zone does not affect the result", () => {
    const script = `import { convertSales, awinSale, sourceFor } from './fixture.ts';
      const { rows } = await convertSales(sourceFor('awin'), JSON.stringify([awinSale()]));
      console.log(rows[0].soldAt);`;
    for (const TZ of ['Asia/Tokyo', 'America/New_York']) {
      const env = { ...process.env, TZ };
      const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { cwd: import.meta.dir, env });
      expect(stdout.toString()).toBe('2026-11-14T12:00:00\n');
    }
  });
});

describe('sub-ids that look like numbers', () => {
  test.each([
    ['0', '0'],
    ['007', '007'],
    ['1e5', '1e5'],
    ['12345678901234567890', '12345678901234567890'],
    [' padded ', ' padded '],
    [42, '42'],
    [0, '0'],
    ['', null],
    [null, null],
  ])('the sub-id %p becomes the passbackUid %p', async (clickRef, passbackUid) => {
    expect(await only(awin([awinSale({ clickRefs: { clickRef } })]), 'passbackUid')).toEqual([passbackUid]);
  });
});

describe('unknown states', () => {
  test.each([
    ['commissionStatus is "confirmed"', () => awin([awinSale({ commissionStatus: 'confirmed' })])],
    ['commissionStatus is "toString"', () => awin([awinSale({ commissionStatus: 'toString' })])],
    ['commissionStatus is missing', () => awin([awinSale({ commissionStatus: null })])],
    ['State is "LOCKED"', () => impact([impactAction({ State: 'LOCKED' })])],
    [
      'conversion_data.conversion_value.conversion_status is "paid"',
      () => partnerize([partnerizeConversion({}, { conversion_status: 'paid' })]),
    ],
    [
      'conversion_data.conversion_items[0].item_status is "x"',
      () => partnerize([partnerizeConversion({ conversion_items: [partnerizeItem({ item_status: 'x' })] })]),
    ],
    ['actionStatus is "paid"', () => cj([cjRecord({ actionStatus: 'paid' })])],
    ['validationStatus is "MAYBE"', () => cj([cjRecord({ validationStatus: 'MAYBE' })])],
  ])('the conversion fails and reports that %s', async (words, convert) => {
    expect((await errorOf(convert())).message).toContain(`: ${words}`);
  });
});

test('Awin: among parts with equal commissions, the smallest offer id is used, for any order of parts', async () => {
  const parts = ['12', '11', '13'].map((commissionGroupId) => ({
    commissionGroupId,
    commissionAmount: 1.35,
  }));
  for (const transactionParts of [parts, parts.toReversed()]) {
    expect(await only(awin([awinSale({ transactionParts })]), 'cashbackOfferId')).toEqual([
      idOf('awin', 'offer', '11'),
    ]);
  }
});

test('Awin: the files for the three date types yield each sale once, in its latest state', async () => {
  const approved = awinSale({ commissionStatus: 'approved', validationDate: '2026-11-20T00:00:00' });
  const amended = awinSale({ id: 900100201, amended: true, saleAmount: { amount: 70, currency: 'EUR' } });
  const { rows, report } = await convertSales(sourceFor('awin'), {
    'transaction.json': JSON.stringify([awinSale(), awinSale({ id: 900100201 })]),
    'validation.json': JSON.stringify([approved]),
    'amendment.json': JSON.stringify([amended]),
  });
  expect(rows.map(({ status, orderValue }) => [status, orderValue]).sort()).toEqual([
    ['CONFIRMED', 81],
    ['PENDING', 70],
  ]);
  expect([report.read, report.written]).toEqual([4, 2]);
});

test("cashback is rounded to its currency's number of decimals", async () => {
  const amounts = (currency: string, amount: number) => ({
    commissionAmount: { amount, currency },
    saleAmount: { amount: 81, currency },
  });
  expect(await only(awin([awinSale(amounts('JPY', 405))]), 'cashback')).toEqual([202]);
  expect(await only(awin([awinSale(amounts('KWD', 4.051))]), 'cashback')).toEqual([2.026]);
});

test('a commission without a group gets no share of a group, even if the source file has a group without a name', async () => {
  const sale = awinSale({ transactionParts: null });
  const share = { default: 0.5, groups: { '': 0.3 } };
  expect(await only(awin([sale], { share }), 'cashback')).toEqual([2.02]);
});
