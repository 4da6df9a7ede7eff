// Imports that stop early: input without rows, and input with more invalid rows than anyone would read.

import { afterAll, describe, expect, test } from 'bun:test';
import { BadInput } from '@offerbook/wire/failures.ts';
import { InvalidRows, type WholeFileOptions } from '../../src/importer/import-report.ts';
import {
  closeBooks,
  contentOf,
  countsOf,
  errorOf,
  id,
  loadCatalogue,
  loadLinks,
  loadTransactions,
  ndjson,
  newBook,
  retailer,
  transaction,
} from './fixture.ts';

afterAll(closeBooks);

const LOADS = [
  ['the catalogue', loadCatalogue, retailer(1)],
  ['links', loadLinks, { retailerId: id('retailer', 1), template: 'https://network.example/?sub={click}' }],
  ['transactions', loadTransactions, transaction(1)],
] as const;

describe.each(LOADS)('an import of %s without rows', (_, load, row) => {
  test.each([
    ['no bytes', ''],
    ['blank lines', '\n \r\n\n'],
    ['an empty list', '[]'],
    ['an empty page', '{"data":[]}'],
    ['compressed empty input', Bun.gzipSync('')],
  ])('input with %s is rejected and changes nothing unless --allow-empty is set', async (_what, content) => {
    const book = await newBook();
    await load(book, ndjson(row));
    const before = await contentOf(book);
    for (const options of [{}, { dryRun: true }, { skipInvalid: true }, { allowWithdrawals: true }]) {
      const error = await errorOf(load(book, content, options));
      expect(error).toBeInstanceOf(BadInput);
      expect(error.message).toBe(
        'the input has no rows; nothing was imported. If it may be empty, add --allow-empty',
      );
    }
    expect(await contentOf(book)).toEqual(before);
    expect(countsOf(await load(book, content, { allowEmpty: true, merge: true }))).toEqual({});
    expect(await contentOf(book)).toEqual(before);
  });
});

test('rejects a CSV file with a header and no rows unless --allow-empty is set', async () => {
  const book = await newBook();
  expect(await errorOf(loadTransactions(book, 'id,status\n'))).toBeInstanceOf(BadInput);
  expect(countsOf(await loadTransactions(book, 'id,status\n', { allowEmpty: true }))).toEqual({});
});

test('withdrawing everything with an empty catalogue also requires --allow-withdrawals', async () => {
  const book = await newBook();
  await loadCatalogue(book, ndjson(retailer(1)));
  expect((await errorOf(loadCatalogue(book, '', { allowEmpty: true }))).message).toStartWith(
    'this file would withdraw 1 of 1 retailer',
  );
  const report = await loadCatalogue(book, '', { allowEmpty: true, allowWithdrawals: true });
  expect(countsOf(report)).toEqual({ withdrawn: 1 });
});

/** One valid row, then endless invalid rows: an import that does not stop never returns. */
async function* endless(row: object): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(ndjson(row));
  const invalid = new TextEncoder().encode('{}\n'.repeat(10_000));
  while (true) yield invalid;
}

const SKIP: WholeFileOptions = { skipInvalid: true };
// All imports share the limit with skipInvalid, and 100,000 invalid links are reported fastest.
test.each([
  ...LOADS.map(([what, load, row]) => [what, {}, 'line 10001 after 10,000 invalid rows', load, row] as const),
  [
    'links',
    SKIP,
    'line 100001 after 100,000 invalid rows, the maximum for --skip-invalid',
    loadLinks,
    LOADS[1][2],
  ],
] as const)(
  'an import of %s with %j and endless invalid rows stops at %s',
  async (_, options, why, load, row) => {
    const book = await newBook();
    const before = await contentOf(book);
    const error = await errorOf(load(book, endless(row), options));
    expect(error).toBeInstanceOf(InvalidRows);
    const advice = options === SKIP ? 'or split it' : 'or import its valid rows with --skip-invalid';
    expect(error.message).toEndWith(`\nNothing was imported: stopped at ${why}; fix the file ${advice}.`);
    expect(await contentOf(book)).toEqual(before);
  },
);

test('an import with fewer invalid rows than the limit counts all of them', async () => {
  const book = await newBook();
  const invalid = '{}\n'.repeat(9_999);
  expect((await errorOf(loadTransactions(book, invalid))).message).toEndWith(
    'Nothing was imported: 9,999 of 9,999 rows are invalid.',
  );
  const skipped = await loadTransactions(book, ndjson(transaction(1)) + invalid.repeat(2), {
    skipInvalid: true,
  });
  expect(countsOf(skipped)).toEqual({ read: 19_999, added: 1, invalid: 19_998 });
});
