// Properties of conversions for every network: the order, split and repetition of files make no difference, amounts are
// exact, and importing the result a second time changes nothing.

import { afterAll, describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import fc from 'fast-check';
import { anyFiles, FEED_NAMES, FEEDS } from '../../../feeds/test/any-feed.ts';
import { awinSale, convertSales, idOf, type Row, sourceFor } from '../../../feeds/test/fixture.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { closeBooks, countsOf, ndjson, newBook } from './fixture.ts';

/** Later than any time in a network's rows. */
const LATER_MS = Date.UTC(2027, 0, 1);

afterAll(closeBooks);

describe.each(FEED_NAMES)('%s', (name) => {
  const source = sourceFor(name, { country: 'DE' });

  test('the converted transactions do not depend on the order, split or repetition of the files', async () => {
    let written = 0;
    await fc.assert(
      fc.asyncProperty(anyFiles(name), async ({ rows, files }) => {
        const shape = FEEDS[name].shapes[0];
        const plain = await convertSales(source, shape?.(rows) ?? '', { skipInvalid: true });
        const other = await convertSales(source, files, { skipInvalid: true });
        expect(other.rows).toEqual(plain.rows);
        written += plain.rows.length;
      }),
      { numRuns: 100, seed: TEST_SEED },
    );
    expect(written).toBeGreaterThan(30);
  });

  test('converted transactions can be imported, and a second import changes nothing', async () => {
    const samples = fc.sample(fc.array(FEEDS[name].row, { minLength: 1, maxLength: 12 }), {
      numRuns: 8,
      seed: TEST_SEED,
    });
    for (const rows of samples) {
      const { stores, org } = await newBook();
      const file = FEEDS[name].shapes[0]?.(rows) ?? '';
      const run = async () => {
        const converted = await convertSales(source, file, { skipInvalid: true });
        const text = sourceFrom(ndjson(...converted.rows));
        const options = { allowEmpty: true };
        return countsOf(await importTransactions(stores, org, text, () => LATER_MS, options));
      };
      const { read = 0 } = await run();
      expect(await run()).toEqual(read === 0 ? {} : { read, unchanged: read });
    }
  });
});

/** Rounds half to even, with integers in hundredths of a cent. */
function expectedCashback(commissionCents: number, sharePercent: number): number {
  const hundredths = commissionCents * sharePercent;
  const [cents, rest] = [Math.floor(hundredths / 100), hundredths % 100];
  const isUp = rest > 50 || (rest === 50 && cents % 2 === 1);
  return (cents + (isUp ? 1 : 0)) / 100;
}

test('order values are exact, and cashback is rounded once, half to even', async () => {
  const amounts = fc.array(fc.record({ sale: fc.nat(9_999_999), commission: fc.nat(999_999) }), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(amounts, fc.nat(100), async (sales, sharePercent) => {
      const source = sourceFor('awin', { share: { default: sharePercent / 100 } });
      const file = JSON.stringify(
        sales.map(({ sale, commission }, index) =>
          awinSale({
            id: index,
            saleAmount: { amount: sale / 100, currency: 'EUR' },
            commissionAmount: { amount: commission / 100, currency: 'EUR' },
          }),
        ),
      );
      const { rows } = await convertSales(source, file);
      const expected = sales.map(({ sale, commission }, index) => [
        idOf('awin', 'transaction', String(index)),
        sale / 100,
        expectedCashback(commission, sharePercent),
      ]);
      const found = rows.map(({ id, orderValue, cashback }) => [id, orderValue, cashback]);
      expect(found).toEqual(expected.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
    }),
    { numRuns: 80, seed: TEST_SEED },
  );
});

test("each part's share is applied before the sum is rounded", async () => {
  const part = (commissionGroupId: number, commissionAmount: number) => ({
    commissionGroupId,
    amount: 10,
    commissionAmount,
  });
  const sale = awinSale({
    commissionAmount: { amount: 0.03, currency: 'EUR' },
    transactionParts: [part(1, 0.01), part(2, 0.02)],
  });
  const convert = async (groups: Row) => {
    const source = sourceFor('awin', { share: { default: 0.5, groups } });
    const { rows } = await convertSales(source, JSON.stringify([sale]));
    return rows[0]?.cashback;
  };
  // 0.015 is rounded to 0.02. The sums 0.005 + 0.02 and 0.0025 + 0.02 are rounded, not their parts.
  expect(await convert({})).toBe(0.02);
  expect(await convert({ 2: 1 })).toBe(0.02);
  expect(await convert({ 1: 0.25, 2: 1 })).toBe(0.02);
  expect(await convert({ 1: 1, 2: 0.25 })).toBe(0.02);
  expect(await convert({ 1: 0, 2: 0.25 })).toBe(0);
});
