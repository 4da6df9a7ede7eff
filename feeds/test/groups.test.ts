// Sales that consist of several rows: which rows count, and how an invalid row affects its sale and other sales.

import { describe, expect, test } from 'bun:test';
import {
  cjAnswer,
  cjCorrection,
  cjRecord,
  convertSales,
  errorOf,
  type Row,
  rakutenSku,
  sourceFor,
} from './fixture.ts';

const skip = { skipInvalid: true };
const other = cjRecord({ commissionId: '2900000009', originalActionId: '1700000088' });

describe('with --skip-invalid', () => {
  test('a sale with an invalid part is left out completely, and other sales are converted', async () => {
    const bad = cjCorrection({ pubCommissionAmountPubCurrency: 'lots' });
    for (const records of [
      [cjRecord(), bad, other],
      [bad, other, cjRecord()],
    ]) {
      const { rows, report } = await convertSales(sourceFor('cj'), cjAnswer(records), skip);
      expect([rows.length, report.written, report.invalid, report.problemCount]).toEqual([1, 1, 1, 1]);
    }
  });

  test("a part without a sale id is reported, because its sale's total does not include it", async () => {
    const nameless = cjCorrection({ originalActionId: null });
    const { rows, report } = await convertSales(sourceFor('cj'), cjAnswer([cjRecord(), nameless]), skip);
    expect([rows.length, report.notes]).toEqual([
      1,
      ['Rows without a sale id: 1. The totals of their sales do not include them.'],
    ]);
  });

  test('conflicting versions of a part invalidate only their own sale', async () => {
    const records = [cjRecord(), cjRecord({ saleAmountPubCurrency: '81.00' }), other];
    const { rows, report } = await convertSales(sourceFor('cj'), cjAnswer(records), skip);
    expect([rows.length, report.problems.map(({ id, field, reason }) => [id, field, reason])]).toEqual([
      1,
      [
        [
          '1700000077',
          'row 2900000001',
          'appears twice with different contents, and it is unknown which is newer',
        ],
      ],
    ]);
  });
});

test.each([
  ['currency', { currency: 'USD' }],
  ['u1', { u1: 'someone-else' }],
])('a sale whose parts differ in %s is rejected', async (field, changes: Row) => {
  const second = rakutenSku({ etransaction_id: '2', ...changes });
  const error = await errorOf(convertSales(sourceFor('rakuten'), JSON.stringify([rakutenSku(), second])));
  expect(error.message).toStartWith(
    `the file, line 1 (item 1), id 3358:A-100: ${field} differs between the rows\n`,
  );
});

test('a reversal without its purchase is rejected', async () => {
  const back = rakutenSku({ sale_amount: -81, commissions: -4.05 });
  const error = await errorOf(convertSales(sourceFor('rakuten'), JSON.stringify([back])));
  expect(error.message).toContain(
    'id 3358:A-100: the row has only reversals: the file with the purchase is missing',
  );
});

test('CJ: a page that announces more rows is reported unless the files include the next page', async () => {
  const more = cjAnswer([cjRecord()], { payloadComplete: false });
  const note = 'A page is missing: a response announces more rows than the files contain.';
  expect((await convertSales(sourceFor('cj'), more)).report.notes).toEqual([note]);
  const next = cjAnswer([other], { maxCommissionId: '2900000009' });
  expect((await convertSales(sourceFor('cj'), { more, next })).report.notes).toEqual([]);
  // A complete response to another query (by locking date) is not the next page of the first query.
  const older = cjRecord({ commissionId: '2800000001', originalActionId: '1600000001' });
  const locked = cjAnswer([older, other], { maxCommissionId: '2900000009' });
  expect((await convertSales(sourceFor('cj'), { more, locked })).report.notes).toEqual([note]);
  expect((await convertSales(sourceFor('cj'), { locked, more, next })).report.notes).toEqual([]);
});
