// Exports can be imported, whatever characters they contain.

import { afterAll, expect, test } from 'bun:test';
import {
  closeBooks,
  contentOf,
  coupon,
  loadCatalogue,
  loadTransactions,
  ndjson,
  newBook,
  retailer,
  transaction,
} from './fixture.ts';

afterAll(closeBooks);

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
  const rows = NASTY.map((text, n) =>
    retailer(n, { name: text, coupons: [coupon(n, { code: text, description: text })], promotions: [] }),
  );
  // A passbackUid has no control characters.
  const uids = NASTY.map((text) => text.replaceAll(/\p{Cc}/gu, ''));
  const sales = NASTY.map((text, n) => transaction(n, { passbackUid: uids[n] ?? null, passbackData: text }));
  await loadCatalogue(book, ndjson(...rows));
  await loadTransactions(book, ndjson(...sales));

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
  for (const file of files) await loadCatalogue(copy, file);
  await loadTransactions(
    copy,
    ndjson(...exported.transactions.documents),
    { preserveUpdatedAt: true },
    () => Number.MAX_SAFE_INTEGER,
  );
  const imported = await contentOf(copy);
  expect(imported.retailers).toEqual(exported.retailers);
  expect(imported.transactions.documents).toEqual(exported.transactions.documents);
  // The first file filled the copy, and the other two changed nothing.
  expect(imported.revision).toBe(exported.revision);
});
