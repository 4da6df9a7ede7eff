// Row size limits: a row at the limit is imported, a larger row is invalid, and a stored row is never too large to be
// imported again.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { TRANSACTION_FIELDS } from '@offerbook/wire/transaction.ts';
import type { WholeFileOptions } from '../../src/importer/import-report.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import {
  closeBooks,
  complaintOf,
  contentOf,
  id,
  loadCatalogue,
  loadTransactions,
  ndjson,
  newBook,
  offer,
  retailer,
  type TestBook,
  transaction,
} from './fixture.ts';

let book: TestBook;

beforeEach(async () => {
  book = await newBook();
});
afterAll(closeBooks);

const loadSales = (file: string, options?: TransactionImportOptions) => loadTransactions(book, file, options);
const loadShops = (file: string, options?: WholeFileOptions) => loadCatalogue(book, file, options);

const KIB = 1024;
const MIB = 1024 * KIB;
const IGNORE = { ignoreUnknown: true };

/** The row padded with spaces to the given number of bytes. */
function padded(row: object, bytes: number): string {
  const text = JSON.stringify(row);
  return `{${' '.repeat(bytes - Buffer.byteLength(text))}${text.slice(1)}`;
}

/** A list with the given number of values, including itself. */
function listOf(values: number): string {
  return `[${Array(values - 1).fill(0)}]`;
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

/** A row with one more field, whose value is given as JSON. */
function withField(row: object, json: string): string {
  return `${JSON.stringify(row).slice(0, -1)},"x":${json}}`;
}

const FORMATS: [string, (...rows: string[]) => string, (n: number) => string][] = [
  ['NDJSON', (...rows) => rows.join('\n'), (n) => `line ${n}`],
  ['a JSON list', (...rows) => `[${rows.join(',\n')}]`, (n) => `line ${n} (item ${n})`],
];

const SALE_FIELDS = Object.keys(transaction(1)).length;
const SHOP_NAMES = new Set(JSON.stringify(retailer(1)).match(/"\w+":/g)).size + 1;
const names = (count: number) => `{${Array.from({ length: count }, (_, n) => `"\\u0022${n}":[0,0]`)}}`;
/** Each offer has 600 values: itself, its eight fields, and 591 countries. */
const shopWith = (offers: number) =>
  JSON.stringify(
    retailer(1, {
      cashbackOffers: Array.from({ length: offers }, (_, n) =>
        offer(n, { countries: Array(591).fill('DE') }),
      ),
    }),
  );

type Load = typeof loadSales | typeof loadShops;
const LIMITS: [reason: string, load: Load, fits: string, exceeds: string][] = [
  [
    'has more than 1,000 values',
    loadSales,
    withField(transaction(1), listOf(1_000 - SALE_FIELDS - 1)),
    withField(transaction(2), listOf(1_000 - SALE_FIELDS)),
  ],
  [
    'is nested more than 32 levels deep',
    loadSales,
    withField(transaction(1), nested(31)),
    withField(transaction(2), nested(32)),
  ],
  ['is longer than 8 MiB', loadShops, padded(retailer(1), 8 * MIB), padded(retailer(1), 8 * MIB + 1)],
  ['has more than 400,000 values', loadShops, shopWith(666), shopWith(667)],
  [
    'has more than 1,000 distinct field names',
    loadShops,
    withField(retailer(1), names(1_000 - SHOP_NAMES)),
    withField(retailer(1), names(1_001 - SHOP_NAMES)),
  ],
];

describe.each(FORMATS)('in %s', (_format, file, place) => {
  test('imports a transaction of 256 KiB; one more byte invalidates only that row', async () => {
    const long = transaction(2, { passbackData: '€'.repeat(10) });
    expect((await loadSales(file(padded(long, 256 * KIB)))).added).toBe(1);
    const rows = [
      padded(transaction(1), 100 * KIB),
      padded(long, 256 * KIB + 1),
      'oops',
      padded(transaction(3), 999),
    ];
    const complaint = await complaintOf(loadSales(file(...rows)));
    expect(complaint).toBe(
      [
        `${place(2)}: the row is longer than 256 KiB`,
        `${place(3)}: the row is not JSON (Unexpected identifier "oops")`,
        'Nothing was imported: 2 of 4 rows are invalid.',
      ].join('\n'),
    );
  });

  test.each(LIMITS)(
    'a row may be as large as the limit, but no larger: %s',
    async (reason, load, fits, exceeds) => {
      expect((await load(file(fits), IGNORE)).added).toBe(1);
      expect(await complaintOf(load(file(exceeds), IGNORE))).toBe(
        `${place(1)}: the row ${reason}\nNothing was imported: 1 of 1 row is invalid.`,
      );
    },
  );

  test('brackets, commas and quotes inside strings do not count towards the limits', async () => {
    const text = '\\"[{,"\\'.repeat(1_000);
    const row = transaction(1, { passbackUid: text.slice(0, 250), passbackData: text });
    expect((await loadSales(file(JSON.stringify(row)))).added).toBe(1);
  });

  test('reports at most twenty problems per row', async () => {
    const row = retailer(1, { cashbackOffers: Array(10_000).fill({}) });
    const lines = (await complaintOf(loadShops(file(JSON.stringify(row))))).split('\n');
    expect(lines.slice(-2)).toEqual([
      `${place(1)}: cashbackOffers[4].cashbackPercentage is missing`,
      'Nothing was imported: 1 of 1 row is invalid.',
    ]);
    expect(lines.length).toBe(21);
  });
});

describe('a JSON list', () => {
  const MOST = 32 * MIB;

  test.each([
    ['[', '.[]'],
    [' \n{"data":[', '.data[]'],
  ])(
    'starting with %p is read up to 32 MiB; the error for a longer list recommends NDJSON',
    async (start, rows) => {
      const end = start === '[' ? ']' : ']}';
      const file = (bytes: number) =>
        start + JSON.stringify(transaction(1)).padEnd(bytes - start.length - end.length) + end;
      expect((await loadSales(file(MOST))).added).toBe(1);
      expect(await complaintOf(loadSales(file(MOST + 1)))).toBe(
        [
          `line 1: the list is longer than 32 MiB; write it as NDJSON, which can have any length, for example with jq -c '${rows}'`,
          'Nothing was imported: the file cannot be read beyond this point.',
        ].join('\n'),
      );
    },
  );
});

describe('in CSV', () => {
  const header = TRANSACTION_FIELDS.join();
  const cells = (n: number, changes: Record<string, unknown>) =>
    TRANSACTION_FIELDS.map((field) => transaction(n, changes)[field] ?? '').join();

  test('a CSV row of more than 256 KiB is invalid and does not affect other rows', async () => {
    const rows = [
      header,
      cells(1, {}),
      cells(2, { passbackData: 'x'.repeat(256 * KIB) }),
      cells(3, { country: 'x' }),
    ];
    expect(await complaintOf(loadSales(rows.join('\n')))).toBe(
      [
        'line 3: the row is longer than 256 KiB',
        'line 4: country must be a country code of two capital letters (ISO 3166-1 alpha-2)',
        'Nothing was imported: 2 of 3 rows are invalid.',
      ].join('\n'),
    );
  });

  test('the error for a CSV row with an unclosed quote names the last line of the row', async () => {
    const swallowed = Array(2_000).fill(cells(9, {})).join('\n');
    const rows = [header, cells(1, { passbackData: '"open' }), swallowed, 'x"', cells(3, { country: 'x' })];
    expect(await complaintOf(loadSales(rows.join('\n')))).toBe(
      [
        'line 2: the row is longer than 256 KiB, up to line 2003; is a quote not closed?',
        'line 2004: country must be a country code of two capital letters (ISO 3166-1 alpha-2)',
        'Nothing was imported: 2 of 2 rows are invalid.',
      ].join('\n'),
    );
    expect(await complaintOf(loadSales(rows.slice(0, -1).join('\n')))).toStartWith(
      'line 2: the row is longer than 256 KiB, up to line 2003; is a quote not closed?\n',
    );
  });

  test('a CSV header may have 200 columns', async () => {
    const others = Array.from({ length: 200 - TRANSACTION_FIELDS.length }, (_, n) => `column${n}`);
    const file = (names: string[]) => [[header, ...names].join(), [cells(1, {}), ...names].join()].join('\n');
    expect((await loadSales(file(others), IGNORE)).added).toBe(1);
    expect(await complaintOf(loadSales(file([...others, 'more']), IGNORE))).toBe(
      'line 1: the header must have at most 200 columns\nNothing was imported: the file cannot be read beyond this point.',
    );
  });

  test('a row that would exceed 256 KiB when stored is invalid', async () => {
    const rows = [header, cells(1, { passbackUid: 'u', passbackData: '\u0001'.repeat(43_000) })];
    expect((await loadSales(rows.join('\n'))).added).toBe(1);
    const [stored = ''] = (await contentOf(book)).transactions.documents;
    expect((await loadSales(stored)).unchanged).toBe(1);

    rows.push(cells(2, { passbackUid: 'u', passbackData: '\u0001'.repeat(44_000) }));
    expect(await complaintOf(loadSales(rows.join('\n')))).toBe(
      'line 3: the row is longer than 256 KiB when stored\nNothing was imported: 1 of 2 rows is invalid.',
    );
  });
});

test('a retailer cannot exceed 8 MiB by merging, with or without skipInvalid', async () => {
  const half = (start: number) =>
    ndjson(
      retailer(1, {
        coupons: [],
        promotions: [],
        cashbackOffers: Array.from({ length: 80 }, (_, n) =>
          offer(start + n, { description: 'x'.repeat(60_000) }),
        ),
      }),
    );
  await loadShops(half(0));
  const before = await contentOf(book);
  for (const skipInvalid of [false, true]) {
    expect(await complaintOf(loadShops(half(1_000), { merge: true, skipInvalid }))).toBe(
      'line 1: the row is longer than 8 MiB when stored\nNothing was imported: a retailer is too long.',
    );
  }
  expect(await contentOf(book)).toEqual(before);
  expect(before.retailers[0]).toContain(id('offer', 79));
});
