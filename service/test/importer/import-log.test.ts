// The import log never contains values of rows, or names that are not part of a format: both may name a user, and
// `offerbook erase` does not search the log.

import { afterAll, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import fc from 'fast-check';
import type { ImportKind } from '../../src/domain/import-log.ts';
import { recordImport, type WholeFileOptions } from '../../src/importer/import-report.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import {
  closeBooks,
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

const SECRET = 'alice';
const book = await newBook();
const { imports } = book.stores;
const LOADS = { catalogue: loadCatalogue, links: loadLinks, transactions: loadTransactions };
const ROWS: Record<ImportKind, object> = {
  catalogue: retailer(1),
  links: { retailerId: id('retailer', 1), template: 'https://network.example/?sub={click}' },
  transactions: transaction(1),
};
const KINDS = Object.keys(ROWS) as ImportKind[];

/** The import log's entry for an import that is rolled back or skips its invalid rows. */
async function entryOf(kind: ImportKind, content: string, options: WholeFileOptions = {}) {
  const origin = { kind, orgId: null, by: 'test', source: null, fileName: 'rows', version: '1' };
  let number = 0;
  await recordImport(imports, origin, sourceFrom(content), (importId) => {
    number = importId;
    return LOADS[kind](book, content, { ...options, importId });
  }).catch(() => undefined);
  const entry = await imports.find(number);
  if (entry === undefined) throw new Error('the import is not in the log');
  return entry;
}

const nameless = (line: number, reason: string) => [{ line, field: '', reason }];

test.each([
  ['an unknown field', { [SECRET]: 1 }, 'has an unknown field'],
  ['text that is not JSON', `{"id": ${SECRET}}`, 'is not JSON'],
  ['a field that appears twice', `{"${SECRET}":1,"${SECRET}":2}`, 'has a field twice in the same object'],
])(
  'the import log contains the line and the kind of problem, but not the text, for %s',
  async (_, part, reason) => {
    for (const kind of KINDS) {
      const row = typeof part === 'string' ? part : { ...ROWS[kind], ...part };
      const { problems, problemCount } = await entryOf(kind, ndjson(row));
      expect([problems, problemCount]).toEqual([nameless(1, reason), 1]);
    }
  },
);

test('the import log contains names of fields that are part of the format', async () => {
  const row = transaction(1, { status: SECRET });
  expect((await entryOf('transactions', ndjson(row))).problems).toEqual([
    { line: 1, field: 'status', reason: 'must be one of PENDING, CONFIRMED, DECLINED' },
  ]);
});

test.each([
  ['an unknown column', `id,${SECRET}\n`, {}, 'has an unknown column'],
  [
    'a column that appears twice',
    `id,${SECRET},${SECRET}\n`,
    { ignoreUnknown: true },
    'has two columns with the same name',
  ],
])('the import log does not contain the column name for %s', async (_, header, options, reason) => {
  const { problems } = await entryOf('transactions', `${header}1,2\n`, options);
  expect(problems).toEqual(nameless(1, reason));
});

test('the import log does not contain any part of a file, valid or not, except names of fields', async () => {
  const mutation = fc.tuple(
    fc.constantFrom(...KINDS),
    fc.nat(),
    fc.constantFrom<unknown>(SECRET, [SECRET], { [SECRET]: SECRET }, `${SECRET}\0`, SECRET.repeat(20_000)),
    fc.boolean(),
  );
  await fc.assert(
    fc.asyncProperty(mutation, fc.nat(), async ([kind, at, value, skipInvalid], cut) => {
      const names = [...Object.keys(ROWS[kind]), SECRET];
      const row = JSON.stringify({ ...ROWS[kind], [names[at % names.length] ?? '']: value });
      const shapes = [
        ...[row, row.slice(cut % row.length), row.slice(0, cut % row.length), row.replaceAll('"', '')],
        ...[`[${row}]`, `[${row}`, `{"data":[${row}],"${SECRET}":1}`, `{"data":${SECRET}}`],
        ...[`id,status\n${SECRET},"${SECRET}`, row.replace('"coupons":[{', `$&"${SECRET}":{"${SECRET}":1},`)],
      ];
      for (const content of shapes)
        expect(JSON.stringify(await entryOf(kind, content, { skipInvalid, merge: true }))).not.toContain(
          SECRET,
        );
    }),
    { numRuns: 40, seed: TEST_SEED },
  );
});
