// Random files, many of them damaged: an import applies the whole file or nothing, and a second import of the same file
// changes nothing.

import { afterAll, expect, test } from 'bun:test';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import fc from 'fast-check';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import type { ImportReport } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { anyFile, type FileKind, intactFile } from '../chaos/hostile/any-file.ts';
import {
  closeBooks,
  contentOf,
  countsOf,
  coupon,
  ndjson,
  newBook,
  retailer,
  type TestBook,
  transaction,
} from './fixture.ts';

afterAll(closeBooks);

const anyFileOf = (kind: FileKind) =>
  fc.oneof({ weight: 2, arbitrary: intactFile(kind) }, { weight: 1, arbitrary: anyFile(kind) });

const anyOptions = fc.record({
  skipInvalid: fc.boolean(),
  dryRun: fc.boolean(),
  merge: fc.boolean(),
  allowWithdrawals: fc.boolean(),
  allowEmpty: fc.boolean(),
});

/** Runs an import twice and checks the invariants of every import. */
async function checkImport(book: TestBook, dryRun: boolean, run: () => Promise<ImportReport>): Promise<void> {
  const before = await contentOf(book);
  const outcome = await run().catch((error: unknown) => error);
  if (outcome instanceof Error) {
    expect([BadInput, Refused].some((kind) => outcome instanceof kind)).toBe(true);
    expect(await contentOf(book)).toEqual(before);
    return;
  }
  const report = outcome as ImportReport;
  expect(report.added + report.changed + report.unchanged + report.invalid).toBe(report.read);
  const after = await contentOf(book);
  if (dryRun || report.added + report.changed + report.withdrawn === 0) expect(after).toEqual(before);
  else expect(after).not.toEqual(before);

  const again = countsOf(await run());
  const counts = countsOf(report);
  const settled = { ...counts, added: 0, changed: 0, withdrawn: 0, unchanged: report.read - report.invalid };
  expect(again).toEqual(dryRun ? counts : settled);
  expect(await contentOf(book)).toEqual(after);
}

test('intact and damaged catalogue files are imported completely or not at all', async () => {
  const book = await newBook();
  await fc.assert(
    fc.asyncProperty(anyFileOf('catalogue'), anyOptions, ({ bytes }, options) =>
      checkImport(book, options.dryRun, () =>
        importCatalogue(book.stores.catalogue, sourceFrom(bytes), options),
      ),
    ),
    { numRuns: 25 },
  );
});

test('intact and damaged transaction files are imported completely or not at all', async () => {
  let nowMs = Date.UTC(2026, 10, 14);
  const book = await newBook(() => nowMs);
  await fc.assert(
    fc.asyncProperty(
      anyFileOf('transactions'),
      anyOptions,
      fc.boolean(),
      ({ bytes }, options, preserveUpdatedAt) => {
        nowMs += 1000;
        return checkImport(book, options.dryRun, () =>
          importTransactions(book.stores.transactions, book.org, sourceFrom(bytes), () => nowMs, {
            ...options,
            preserveUpdatedAt,
          }),
        );
      },
    ),
    { numRuns: 25 },
  );
});

const NASTY = [
  '😀👩‍👩‍👧',
  'line\u2028and\u2029paragraph',
  'bell \u0007 and delete \u007f',
  '"\\/\b\f\n\r\t',
  '\u{feff}bom',
  '\u202eright to left',
  '{"id":[1,2',
  'é e\u0301',
];

test('an export with unusual characters can be imported and yields identical data', async () => {
  const book = await newBook();
  const { stores, org } = book;
  const rows = NASTY.map((text, n) =>
    retailer(n, { name: text, coupons: [coupon(n, { code: text, description: text })], promotions: [] }),
  );
  // A passbackUid has no control characters.
  const uids = NASTY.map((text) => text.replaceAll(/\p{Cc}/gu, ''));
  const sales = NASTY.map((text, n) => transaction(n, { passbackUid: uids[n] ?? null, passbackData: text }));
  await importCatalogue(stores.catalogue, sourceFrom(ndjson(...rows)), {});
  await importTransactions(stores.transactions, org, sourceFrom(ndjson(...sales)), () => 0, {});

  const exported = await contentOf(book);
  expect(exported.retailers.map((document) => JSON.parse(document).name)).toEqual(NASTY);
  expect(exported.transactions.documents.map((document) => JSON.parse(document).passbackUid)).toEqual(uids);
  expect(exported.transactions.documents.map((document) => JSON.parse(document).passbackData)).toEqual(NASTY);

  const copy = await newBook();
  const files = [
    ndjson(...exported.retailers),
    `[${exported.retailers.join()}]`,
    `{"data":[${exported.retailers.join()}]}`,
  ];
  for (const file of files) await importCatalogue(copy.stores.catalogue, sourceFrom(file), {});
  await importTransactions(
    copy.stores.transactions,
    copy.org,
    sourceFrom(ndjson(...exported.transactions.documents)),
    () => Number.MAX_SAFE_INTEGER,
    { preserveUpdatedAt: true },
  );
  const imported = await contentOf(copy);
  expect(imported.retailers).toEqual(exported.retailers);
  expect(imported.transactions.documents).toEqual(exported.transactions.documents);
  // The first file filled the copy, and the other two changed nothing.
  expect(imported.revision).toBe(exported.revision);
});
