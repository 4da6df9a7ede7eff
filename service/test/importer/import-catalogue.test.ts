// Catalogue imports: what they add, change and withdraw, and when they are rejected.

import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { printRetailer, type Retailer } from '@offerbook/wire/catalogue.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import type { ImportProgress } from '@offerbook/wire/rows/row-problem.ts';
import type { WholeFileOptions } from '../../src/importer/import-report.ts';
import {
  closeBooks,
  complaintOf,
  contentOf,
  countsOf,
  coupon,
  errorOf,
  id,
  loadCatalogue,
  ndjson,
  newBook,
  offer,
  promotion,
  retailer,
  type TestBook,
  without,
} from './fixture.ts';

let book: TestBook;

beforeEach(async () => {
  book = await newBook();
});
afterAll(closeBooks);

const load = (file: string | Uint8Array, options?: WholeFileOptions) => loadCatalogue(book, file, options);

async function retailers(): Promise<Retailer[]> {
  return (await contentOf(book)).retailers.map((document) => JSON.parse(document));
}

describe('an import replaces the whole catalogue', () => {
  test('a catalogue import adds, changes, keeps and withdraws retailers', async () => {
    await load(ndjson(retailer(1), retailer(2), retailer(3)));
    const report = await load(ndjson(retailer(4), retailer(3, { name: 'Renamed' }), retailer(1)));
    expect(countsOf(report)).toEqual({ read: 3, added: 1, changed: 1, unchanged: 1, withdrawn: 1 });
    expect(report).toMatchObject({ problems: [], problemCount: 0, notes: [] });
    expect(await retailers()).toEqual([retailer(1), retailer(3, { name: 'Renamed' }), retailer(4)]);
  });

  test('an import reports domains that several retailers share', async () => {
    const hosts = ['www.same.example', 'same.example', 'one.example', 'two.example', 'two.example'];
    const rows = hosts.map((hostname, n) => retailer(n + 1, { hostname }));
    expect((await load(ndjson(...rows))).notes).toEqual([
      'Several retailers have the domain same.example (and 1 other domain): browser extensions show the cashback of none of them.',
    ]);
  });

  test('a deal can move from one retailer to another', async () => {
    await load(ndjson(retailer(1), retailer(2)));
    await load(ndjson(retailer(1, { coupons: [coupon(2)] }), retailer(2, { coupons: [coupon(1)] })));
    expect((await retailers()).map(({ coupons }) => coupons)).toEqual([[coupon(2)], [coupon(1)]]);
  });

  test('an import with changes increments the revision once', async () => {
    const { revision } = await contentOf(book);
    await load(ndjson(...Array.from({ length: 1200 }, (_, n) => retailer(n))));
    expect((await contentOf(book)).revision).toBe(revision + 1);
    await load(ndjson(...Array.from({ length: 1199 }, (_, n) => retailer(n))));
    expect((await contentOf(book)).revision).toBe(revision + 2);
  });

  test('ids, dates and missing fields are normalised', async () => {
    const row = retailer(1, {
      id: id('retailer', 1).toUpperCase(),
      cashbackOffers: [
        without(offer(2), 'description', 'category', 'termsAndExclusions', 'maximumFixedCommissionFee'),
        offer(1),
      ],
      coupons: [
        {
          ...without(coupon(1), 'description'),
          startDate: '2026-03-01',
          endDate: '2026-06-01T02:00:00.500+02:00',
        },
      ],
      promotions: [without(promotion(1), 'description')],
    });
    await load(ndjson(row));
    const none = { description: '', category: '', termsAndExclusions: '' };
    expect(await retailers()).toEqual([
      retailer(1, {
        cashbackOffers: [offer(1), offer(2, none)],
        coupons: [coupon(1, { description: '', endDate: '2026-06-01T00:00:00.500' })],
        promotions: [promotion(1, { description: '' })],
      }),
    ]);
  });

  test('with ignoreUnknown, unknown fields are accepted but not stored', async () => {
    await load(ndjson(retailer(1, { colour: 'red', coupons: [coupon(1, { colour: 'red' })] })), {
      ignoreUnknown: true,
    });
    expect(await retailers()).toEqual([retailer(1)]);
  });

  const CSV =
    'must be NDJSON, with a retailer on each line, or a JSON list of retailers; this looks like CSV';

  test.each([
    ['CSV', 'id,name\n1,x\n', CSV],
    ['CSV with quotes and semicolons', '\r\n"id";"name"\r\n"1";"x"\r\n', CSV],
    ['an image', '\x89PNG\r\n\x1a\n\0\0', 'is not a text file; it must be NDJSON, a JSON list or CSV'],
    [
      'a file of links',
      '{"retailerId":"x","template":"https://network.example/{click}"}\n',
      'looks like links; import it with offerbook import links',
    ],
  ])('rejects %s with one sentence', async (_, text, reason) => {
    expect(await complaintOf(load(Buffer.from(text, 'latin1'), { skipInvalid: true }))).toBe(
      `line 1: the file ${reason}\nNothing was imported: the file cannot be read beyond this point.`,
    );
  });
});

describe('the withdrawal guard', () => {
  beforeEach(() => load(ndjson(...[1, 2, 3, 4].map((n) => retailer(n)))));

  test.each([
    ['a file with a quarter of the retailers', ndjson(retailer(1)), 3],
    ['a file with only new retailers', ndjson(retailer(7), retailer(8), retailer(9), retailer(10)), 4],
  ])('rejects %s and changes nothing', async (_what, file, count) => {
    const before = await contentOf(book);
    for (const options of [{}, { dryRun: true }, { skipInvalid: true }]) {
      const error = await errorOf(load(file, options));
      expect(error).toBeInstanceOf(Refused);
      expect(error.message).toBe(
        `this file would withdraw ${count} of 4 retailers, more than 50 %; nothing was imported. The file must contain the whole catalogue, so combine the files of several networks into one. If the retailers are gone, add --allow-withdrawals`,
      );
    }
    expect(await contentOf(book)).toEqual(before);
  });

  test('--allow-withdrawals permits withdrawing every retailer', async () => {
    const others = ndjson(retailer(7));
    expect(countsOf(await load(others, { allowWithdrawals: true }))).toEqual({
      read: 1,
      added: 1,
      withdrawn: 4,
    });
  });

  const shops = (count: number) =>
    ndjson(...Array.from({ length: count }, (_, index) => retailer(index + 1)));

  test.each([
    ['50 % of 100 retailers', 100, 50, 50],
    ['10 % of 101 retailers', 101, 91, 10],
    ['10 % of 120 retailers', 120, 108, 12],
  ])('a catalogue import may withdraw at most %s by default', async (_what, total, kept, withdrawn) => {
    await load(shops(total));
    const error = await errorOf(load(shops(kept - 1)));
    expect(error).toBeInstanceOf(Refused);
    expect(error.message).toStartWith(
      `this file would withdraw ${withdrawn + 1} of ${total} retailers, more than ${total > 100 ? 10 : 50} %; nothing was imported.`,
    );
    expect((await load(shops(kept))).withdrawn).toBe(withdrawn);
  });

  test('--max-withdrawals sets the limit for small and large catalogues', async () => {
    expect(await errorOf(load(shops(3), { maxWithdrawals: 24 }))).toBeInstanceOf(Refused);
    expect(await errorOf(load(shops(3), { maxWithdrawals: 0 }))).toBeInstanceOf(Refused);
    expect((await load(shops(3), { maxWithdrawals: 25 })).withdrawn).toBe(1);
    await load(shops(120));
    expect(await errorOf(load(shops(83), { maxWithdrawals: 30 }))).toBeInstanceOf(Refused);
    expect((await load(shops(84), { maxWithdrawals: 30 })).withdrawn).toBe(36);
  });

  test('invalid rows are reported before the withdrawal limit is checked', async () => {
    expect(await errorOf(load('oops'))).toBeInstanceOf(BadInput);
  });

  test.each(['{"data":[ROW],"cursor":"x"}', '{"cursor":"x","data":[ROW]}'])(
    'rejects one page of several, regardless of other options: %s',
    async (envelope) => {
      const before = await contentOf(book);
      const file = envelope.replace('ROW', JSON.stringify(retailer(1, { name: 'Renamed' })));
      const error = await errorOf(load(file, { allowWithdrawals: true }));
      expect(error).toBeInstanceOf(Refused);
      expect(error.message).toBe(
        'this file is one page of a longer list (it has a cursor), not the whole catalogue; nothing was imported. Import all pages as one file, or add --merge',
      );
      expect(await contentOf(book)).toEqual(before);
      expect(countsOf(await load(file, { merge: true }))).toEqual({ read: 1, changed: 1 });
    },
  );
});

describe('a merge', () => {
  test('a merge never withdraws retailers or deals', async () => {
    await load(ndjson(retailer(1), retailer(2)));
    const file = ndjson(
      retailer(1, {
        name: 'Renamed',
        cashbackOffers: [offer(1, { featured: true }), offer(7)],
        coupons: [],
        promotions: [promotion(0)],
      }),
      retailer(3),
    );
    expect(countsOf(await load(file, { merge: true }))).toEqual({ read: 2, added: 1, changed: 1 });
    expect(await retailers()).toEqual([
      retailer(1, {
        name: 'Renamed',
        cashbackOffers: [offer(1, { featured: true }), offer(7)],
        promotions: [promotion(0), promotion(1)],
      }),
      retailer(2),
      retailer(3),
    ]);
    expect(countsOf(await load(file, { merge: true }))).toEqual({ read: 2, unchanged: 2 });
  });

  test('a merge rejects a deal that belongs to a retailer outside the file', async () => {
    await load(ndjson(retailer(1), retailer(2), retailer(3)));
    const before = await contentOf(book);
    const file = ndjson(
      retailer(1),
      '',
      retailer(4, { coupons: [coupon(2)] }),
      retailer(0, { promotions: [promotion(3)] }),
    );
    expect(await complaintOf(load(file, { merge: true }))).toBe(
      [
        `line 3: coupons lists ${id('coupon', 2)}, which belongs to the retailer ${id('retailer', 2)} in the catalogue`,
        `line 4: promotions lists ${id('promotion', 3)}, which belongs to the retailer ${id('retailer', 3)} in the catalogue`,
        'Nothing was imported: 2 rows list deals that belong to other retailers.',
      ].join('\n'),
    );
    expect(await contentOf(book)).toEqual(before);
  });

  test("a merge lists the first 20 rows that contain other retailers' deals", async () => {
    const numbers = Array.from({ length: 21 }, (_, n) => n);
    await load(ndjson(...numbers.map((n) => retailer(n))));
    const claims = numbers.map((n) => retailer(30 + n, { coupons: [coupon(20 - n)] }));
    const lines = (await complaintOf(load(ndjson(...claims), { merge: true }))).split('\n');
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      ...numbers.slice(0, 20).map((n) => `line ${n + 1}`),
      '… and 1 more',
      'Nothing was imported',
    ]);
  });

  test("a merge rejects a deal that belongs to another retailer in the file, even if the owner's row does not list the deal", async () => {
    await load(ndjson(retailer(1), retailer(2)));
    const rows = [retailer(1, { coupons: [coupon(2)] }), retailer(2, { coupons: [] })];
    expect(await complaintOf(load(JSON.stringify(rows), { merge: true }))).toBe(
      [
        `line 1 (item 1): coupons lists ${id('coupon', 2)}, which belongs to the retailer ${id('retailer', 2)} in the catalogue`,
        'Nothing was imported: 1 row lists deals that belong to other retailers.',
      ].join('\n'),
    );
  });
});

describe('with --skip-invalid', () => {
  beforeEach(() => load(ndjson(...[1, 2, 3, 4, 5].map((n) => retailer(n)))));

  const same = (...numbers: number[]) => numbers.map((n) => retailer(n));

  test.each<[string, rows: unknown[], counts: object, stored: Retailer[], report?: object]>([
    [
      'imports the valid rows, and keeps retailers whose rows are invalid unchanged',
      [retailer(1, { name: 'Renamed' }), retailer(2, { name: '' }), ...same(3, 6, 4)],
      { added: 1, changed: 1, unchanged: 2, withdrawn: 1, invalid: 1 },
      [retailer(1, { name: 'Renamed' }), ...same(2, 3, 4, 6)],
      { problems: [{ line: 2, field: 'name', reason: 'must not be empty' }] },
    ],
    [
      'names the first row without a readable id if nothing is withdrawn because of it',
      [...same(1, 2, 3, 4), '7', '8'],
      { unchanged: 4, invalid: 2 },
      same(1, 2, 3, 4, 5),
      {
        notes: [
          'Nothing was withdrawn, although 1 retailer is not in the file: the row on line 5 has no readable id and may be it.',
        ],
      },
    ],
    [
      'adds no note about a row without a readable id if the file contains every retailer',
      [...same(1, 2, 3, 4, 5), '7'],
      { unchanged: 5, invalid: 1 },
      same(1, 2, 3, 4, 5),
      { notes: [] },
    ],
    [
      'uses the first of two rows for the same retailer',
      [retailer(1, { name: 'First' }), retailer(1, { name: 'Second' }), ...same(2, 3, 4, 5)],
      { changed: 1, unchanged: 4, invalid: 1 },
      [retailer(1, { name: 'First' }), ...same(2, 3, 4, 5)],
    ],
    [
      'keeps a retailer unchanged if its row is rejected because of a deal id',
      [
        retailer(1),
        retailer(2, { coupons: [coupon(1)] }),
        retailer(3, { promotions: [promotion(3), promotion(3)] }),
        ...same(4, 5),
      ],
      { unchanged: 3, invalid: 2 },
      same(1, 2, 3, 4, 5),
      {
        problems: [
          { line: 2, field: 'coupons[0].id', reason: 'was already used on line 1' },
          { line: 3, field: 'promotions[1].id', reason: 'was already used in this row' },
        ],
      },
    ],
    [
      'imports a deal in both an invalid and a valid row with the valid row',
      [retailer(6, { name: '', coupons: [coupon(7)] }), ...same(7, 1, 2, 3, 4, 5)],
      { added: 1, unchanged: 5, invalid: 1 },
      same(1, 2, 3, 4, 5, 7),
    ],
    [
      'moves a deal away from a withdrawn retailer even if other rows are invalid',
      [retailer(1, { coupons: [coupon(5)] }), retailer(2, { name: '' }), ...same(3, 4)],
      { changed: 1, unchanged: 2, withdrawn: 1, invalid: 1 },
      [retailer(1, { coupons: [coupon(5)] }), ...same(2, 3, 4)],
    ],
  ])('%s', async (_, rows, counts, stored, expected = {}) => {
    const report = await load(ndjson(...rows), { skipInvalid: true });
    expect(countsOf(report)).toEqual({ read: rows.length, ...counts });
    expect(report).toMatchObject(expected);
    expect(await retailers()).toEqual(stored);
  });

  test('a row that is not UTF-8 still identifies its retailer', async () => {
    const file = Buffer.from(
      ndjson(retailer(1, { name: 'K\u{e4}se' }), ...[2, 3, 4].map((n) => retailer(n))),
      'latin1',
    );
    const report = await load(file, { skipInvalid: true });
    expect(countsOf(report)).toEqual({ read: 4, unchanged: 3, withdrawn: 1, invalid: 1 });
    expect((await retailers()).map((row) => row.id)).toEqual([1, 2, 3, 4].map((n) => id('retailer', n)));
  });

  test.each([
    '{"id":"0192d1a0',
    '{"id":"x"}',
    '7',
    '{"id":["0192d1a0-0001-7000-8000-000000000002"]}',
    `{"id":"${id('retailer', 2)}","id":"${id('retailer', 3)}"}`,
  ])('nothing is withdrawn if an invalid row could be any retailer: %s', async (bad) => {
    const report = await load(ndjson(retailer(1), bad, retailer(9)), {
      skipInvalid: true,
      allowWithdrawals: true,
    });
    expect(countsOf(report)).toEqual({ read: 3, added: 1, unchanged: 1, invalid: 1 });
    expect(report.notes).toEqual([
      'Nothing was withdrawn, although 4 retailers are not in the file: the row on line 2 has no readable id and may be any of them.',
    ]);
    expect((await retailers()).length).toBe(6);
  });

  test('nothing is imported if a row lists a deal of a retailer whose own row is invalid', async () => {
    const before = await contentOf(book);
    const rows = [
      retailer(2, { name: 'Renamed', coupons: [coupon(1)] }),
      retailer(1, { name: '', coupons: [] }),
      retailer(3, { name: 'Renamed' }),
      retailer(6, { promotions: [promotion(1)] }),
      ...[4, 5].map((n) => retailer(n)),
    ];
    for (const merge of [false, true]) {
      expect(await complaintOf(load(ndjson(...rows), { skipInvalid: true, merge }))).toBe(
        [
          `line 1: coupons lists ${id('coupon', 1)}, which belongs to the retailer ${id('retailer', 1)} in the catalogue`,
          'line 2: name must not be empty',
          `line 4: promotions lists ${id('promotion', 1)}, which belongs to the retailer ${id('retailer', 1)} in the catalogue`,
          'Nothing was imported: 2 rows list deals that belong to other retailers.',
        ].join('\n'),
      );
    }
    expect(await contentOf(book)).toEqual(before);
  });

  test('nothing is imported if a row lists a deal of a retailer that cannot be withdrawn', async () => {
    // The row without an id could be retailer 3, 4 or 5, so none of them is withdrawn.
    const rows = [retailer(1, { coupons: [coupon(5)] }), retailer(2), retailer(6, { id: '?' })];
    expect(await complaintOf(load(ndjson(...rows), { skipInvalid: true, allowWithdrawals: true }))).toBe(
      [
        `line 1: coupons lists ${id('coupon', 5)}, which belongs to the retailer ${id('retailer', 5)} in the catalogue`,
        'line 3: id must be a UUID',
        'Nothing was imported: 1 row lists deals that belong to other retailers.',
      ].join('\n'),
    );
  });

  test('rejects a truncated file even with skipInvalid, and reports the invalid rows before the end', async () => {
    const before = await contentOf(book);
    const file = `[${JSON.stringify(retailer(1, { name: '' }))},\n${JSON.stringify(retailer(2)).slice(0, -9)}`;
    expect(await complaintOf(load(file, { skipInvalid: true }))).toBe(
      [
        'line 1 (item 1): name must not be empty',
        'line 2 (item 2): the list is incomplete: it ends too early',
        'Nothing was imported: the file cannot be read beyond this point.',
      ].join('\n'),
    );
    expect(await contentOf(book)).toEqual(before);
  });

  test('the line where a file is truncated is reported even if the problem list is full', async () => {
    const file = `[${Array.from({ length: 30 }, () => '[]').join(',')}`;
    const lines = (await complaintOf(load(file))).split('\n');
    expect(lines.slice(18)).toEqual([
      'line 1 (item 19): the row must be a JSON object',
      'line 1: the list is incomplete: it ends too early',
      '… and 11 more',
      'Nothing was imported: the file cannot be read beyond this point.',
    ]);
  });
});

test('a dry run of a catalogue import reports what would change and changes nothing', async () => {
  await load(ndjson(retailer(1), retailer(2)));
  const before = await contentOf(book);
  const file = ndjson(retailer(1, { name: 'Renamed' }), retailer(3));
  const report = await load(file, { dryRun: true });
  expect(countsOf(report)).toEqual({ read: 2, added: 1, changed: 1, withdrawn: 1 });
  expect(await contentOf(book)).toEqual(before);
  expect(countsOf(await load(file))).toEqual(countsOf(report));
});

test('a catalogue import reports progress up to the end of the file', async () => {
  const seen: ImportProgress[] = [];
  const file = ndjson(...Array.from({ length: 1100 }, (_, n) => retailer(n)));
  await load(file, { onProgress: (progress) => seen.push(progress) });
  expect(seen.map(({ rows }) => rows)).toEqual([500, 1000, 1100]);
  expect(seen.at(-1)).toEqual({ bytesRead: file.length, bytesTotal: file.length, rows: 1100 });
});

test('a retailer is stored exactly as printRetailer() serialises it', async () => {
  await load(ndjson(retailer(1)));
  expect((await contentOf(book)).retailers).toEqual([printRetailer(retailer(1))]);
});
