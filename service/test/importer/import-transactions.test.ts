// Transaction imports: what they write, with which stamp, and what they leave unchanged.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { zstdCompressSync } from 'node:zlib';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import {
  closeBooks,
  complaintOf,
  contentOf,
  countsOf,
  id,
  loadTransactions,
  NOW,
  NOW_MS,
  ndjson,
  newBook,
  type TestBook,
  transaction,
  without,
} from './fixture.ts';

let book: TestBook;
let nowMs: number;

beforeEach(async () => {
  // The organisations are older than every sale, because a change clock starts at the organisation's creation.
  nowMs = Date.UTC(2026, 9, 1);
  book = await newBook(() => nowMs);
  nowMs = NOW_MS;
});
afterAll(closeBooks);

function load(file: string | Uint8Array, options: TransactionImportOptions = {}, org = book.org) {
  return loadTransactions({ ...book, org }, file, options, () => nowMs);
}

async function transactions(): Promise<Transaction[]> {
  return (await contentOf(book)).transactions.documents.map((document) => JSON.parse(document));
}

async function clockMs(): Promise<number> {
  return (await contentOf(book)).transactions.clockMs;
}

const LATER = '2026-11-14T12:00:05';

test('a pulled sale that is declined without its amounts and its offer keeps the stored ones', async () => {
  const cashbackOfferId = id('offer', 1);
  await load(ndjson(transaction(1, { cashbackOfferId })));
  const [before] = await transactions();
  const pulled = { begin: async () => {}, finish: async () => {} };
  const declined = { status: 'DECLINED', orderValue: 0, cashback: 0, cashbackOfferId: null } as const;
  nowMs += 5_000;
  await load(ndjson(transaction(1, declined)), { pulled });
  expect(await transactions()).toEqual([{ ...before, status: 'DECLINED', updatedAt: LATER } as Transaction]);
});

describe('an import upserts by id', () => {
  test("new and changed rows get the import's stamp, and unchanged rows keep their stamps", async () => {
    await load(ndjson(transaction(1), transaction(2)));
    nowMs += 5_000;
    const report = await load(
      ndjson(transaction(3), transaction(2, { status: 'CONFIRMED' }), transaction(1)),
    );
    expect(countsOf(report)).toEqual({ read: 3, added: 1, changed: 1, unchanged: 1 });
    expect(report).toMatchObject({ problems: [], problemCount: 0, notes: [] });
    expect(await transactions()).toEqual([
      transaction(1, { updatedAt: NOW }),
      transaction(2, { updatedAt: LATER, status: 'CONFIRMED' }),
      transaction(3, { updatedAt: LATER }),
    ]);
    expect(await clockMs()).toBe(nowMs);
  });

  test('the updatedAt in the file is ignored', async () => {
    const rows = [
      transaction(1, { updatedAt: 'never' }),
      transaction(2, { updatedAt: 7 }),
      without(transaction(3), 'updatedAt'),
      transaction(4, { updatedAt: '2999-01-01T00:00:00' }),
    ];
    await load(ndjson(...rows));
    expect((await transactions()).map(({ updatedAt }) => String(updatedAt))).toEqual([NOW, NOW, NOW, NOW]);
  });

  test('an empty passbackUid is imported as null, as in CSV, and stays unchanged when it is imported again', async () => {
    const file = ndjson(transaction(1, { passbackUid: '' }));
    await load(file);
    expect(await transactions()).toEqual([transaction(1, { updatedAt: NOW, passbackUid: null })]);
    expect(countsOf(await load(file))).toEqual({ read: 1, unchanged: 1 });
  });

  test('an API page of transactions can be imported, with or without a cursor', async () => {
    const page = JSON.stringify({ data: [transaction(1)], cursor: id('transaction', 2) });
    expect(countsOf(await load(page))).toEqual({ read: 1, added: 1 });
  });
});

test.each(['0.1', '0', '123456789012345', '0.000000000000012', '1234567890.12345'])(
  'the amount %s is stored exactly as written',
  async (amount) => {
    await load(ndjson(JSON.stringify(transaction(1)).replace('79.9', amount)));
    expect((await contentOf(book)).transactions.documents[0]).toContain(`"orderValue":${amount},`);
  },
);

describe('CSV', () => {
  const header = 'id,country,soldAt,currencyCode,orderValue,cashback,status,passbackUid';

  test('CSV transactions are imported like JSON transactions', async () => {
    const rows = [
      `${id('transaction', 1)},DE,2026-11-01T12:00:00,EUR,79.9,3.99,PENDING,user-1`,
      `"${id('transaction', 2).toUpperCase()}",AT,2026-11-01,EUR,79.90,0,CONFIRMED,`,
    ];
    const file = zstdCompressSync(`\u{feff}${[header, ...rows].join('\r\n')}\r\n`);
    expect(countsOf(await load(file))).toEqual({ read: 2, added: 2 });
    const common = { updatedAt: NOW, clickedAt: null, cashbackOfferId: null };
    expect(await transactions()).toEqual([
      transaction(1, common),
      transaction(2, {
        ...common,
        country: 'AT',
        soldAt: '2026-11-01T00:00:00',
        cashback: 0,
        status: 'CONFIRMED',
        passbackUid: null,
      }),
    ]);
  });

  test('invalid CSV is rejected with line, field and reason, and nothing changes', async () => {
    const before = await contentOf(book);
    const rows = [
      `${id('transaction', 1)},DE,2026-11-01T12:00:00,EUR,"79,9",3.99,PENDING,"two\nlines"`,
      `${id('transaction', 2)},,2026-11-01T12:00:00,EUR,0.10000000000000000555,0x10,PENDING,x`,
      `${id('transaction', 3)},DE`,
      `${id('transaction', 4)},DE,2026-11-01T12:00:00,EUR,79.9,3.99,PENDING,a\0b`,
    ];
    expect(await complaintOf(load([header, ...rows].join('\n')))).toBe(
      [
        'line 2: orderValue must be a number',
        'line 2: passbackUid must not contain control characters',
        'line 4: country is missing',
        'line 4: orderValue must have at most 15 significant digits, and at most 15 on either side of the decimal point',
        'line 4: cashback must be a number',
        'line 5: the row has 2 cells where the header has 8',
        'line 6: passbackUid must not contain a NUL character',
        'Nothing was imported: 4 of 4 rows are invalid.',
      ].join('\n'),
    );
    expect(await contentOf(book)).toEqual(before);
  });
});

test('with --skip-invalid, the valid rows are imported and the invalid ones are listed', async () => {
  await load(ndjson(transaction(1, { status: 'CONFIRMED' })));
  await load(ndjson(transaction(9)), {}, book.otherOrg);
  const rows = [
    transaction(1),
    transaction(2),
    transaction(3, { cashback: -1 }),
    transaction(9),
    'oops',
    transaction(2),
    transaction(4),
  ];
  const report = await load(ndjson(...rows), { skipInvalid: true });
  expect(countsOf(report)).toEqual({ read: 7, added: 2, invalid: 5 });
  expect(report.problems).toEqual([
    { line: 1, field: 'status', reason: 'must not change from CONFIRMED back to PENDING' },
    { line: 3, field: 'cashback', reason: 'must not be negative' },
    { line: 4, field: 'id', reason: 'belongs to another organisation' },
    { line: 5, field: '', reason: 'is not JSON (Unexpected identifier "oops")' },
    { line: 6, field: 'id', reason: 'was already used on line 2' },
  ]);
  expect((await transactions()).map((row) => row.id)).toEqual([1, 2, 4].map((n) => id('transaction', n)));
});

describe('imports that preserve updatedAt', () => {
  const preserve = { preserveUpdatedAt: true };

  test("an import that preserves updatedAt keeps the file's stamps, moves the change clock to the latest stamp, and warns that pollers may miss rows", async () => {
    const rows = [
      transaction(1, { updatedAt: '2026-11-03T00:00:00' }),
      transaction(2, { updatedAt: '2026-11-04T00:00:00+02:00' }),
      transaction(3, { updatedAt: '2026-11-01T00:00:00.5' }),
    ];
    const report = await load(ndjson(...rows), preserve);
    expect(report.notes).toEqual([
      'The rows kept their updatedAt from the file: clients that poll for changes will not see rows older than their position.',
    ]);
    expect((await transactions()).map(({ updatedAt }) => String(updatedAt))).toEqual([
      '2026-11-03T00:00:00',
      '2026-11-03T22:00:00',
      '2026-11-01T00:00:00.500',
    ]);
    expect(await clockMs()).toBe(Date.UTC(2026, 10, 3, 22));
  });

  test('an import that preserves updatedAt never moves the change clock back', async () => {
    await load(ndjson(transaction(1)));
    await load(ndjson(transaction(2)), preserve);
    expect(await clockMs()).toBe(NOW_MS);
  });

  test('counts a row as unchanged only if its stamp is also unchanged', async () => {
    await load(ndjson(transaction(1), transaction(2)), preserve);
    const rows = [transaction(1), transaction(2, { updatedAt: '2026-11-05T00:00:00' })];
    expect(countsOf(await load(ndjson(...rows), preserve))).toEqual({ read: 2, changed: 1, unchanged: 1 });
    // The row was replaced now, so the change clock moves to now.
    expect(await clockMs()).toBe(NOW_MS);
  });

  test.each([
    [
      'in the future',
      transaction(2, { updatedAt: '2026-11-14T12:00:00.001' }),
      'updatedAt must not be in the future',
    ],
    ['missing', without(transaction(2), 'updatedAt'), 'updatedAt is missing'],
    [
      'malformed',
      transaction(2, { updatedAt: 'yesterday' }),
      'updatedAt must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00',
    ],
  ])('rejects a stamp that is %s, and changes nothing', async (_what, row, complaint) => {
    const before = await contentOf(book);
    expect(await complaintOf(load(ndjson(transaction(1, { updatedAt: NOW }), row), preserve))).toBe(
      `line 2: ${complaint}\nNothing was imported: 1 of 2 rows is invalid.`,
    );
    expect(await contentOf(book)).toEqual(before);
  });

  test('changes after an import that preserves updatedAt get greater stamps', async () => {
    await load(ndjson(transaction(1, { updatedAt: NOW })), preserve);
    await load(ndjson(transaction(2)));
    expect((await transactions()).map(({ updatedAt }) => String(updatedAt))).toEqual([NOW, `${NOW}.001`]);
  });
});
