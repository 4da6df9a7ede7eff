// Transactions of one user (passbackUid) and with their retailers (expand=retailer), over HTTP on every database.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { DATABASES } from '../support/databases.ts';
import { coupon, id, retailer, transaction } from '../support/fixtures.ts';
import { ndjson, TestNode } from '../support/test-node.ts';

const START_MS = Date.parse('2026-11-14T12:00:00Z');
const SHOPS = [1, 2].map((number) =>
  retailer(number, { name: `Shop "${number}" ü`, coupons: [coupon(number)] }),
);
/** In the catalogue, but without a deal, so it is in no list. */
const EMPTY_SHOP = retailer(3);
const ANNA = 'anna & "bert" +ü/%';

describe.each(DATABASES)('transactions of a user on $name', ({ create }) => {
  let node: TestNode;
  let token: string;
  let nowMs = START_MS;

  beforeAll(async () => {
    node = await TestNode.start({ databaseUrl: await create(), clock: () => nowMs });
    token = await node.token('private');
    await node.catalogue([...SHOPS, EMPTY_SHOP]);
    // Every third is anna's. Retailers: known, known, without a deal, withdrawn, none.
    const retailerIds = [id(1), id(2), id(3), id(4), undefined];
    await load(
      Array.from({ length: 30 }, (_, i) => ({
        ...transaction(i, {
          passbackUid: i % 3 === 0 ? ANNA : `user-${i % 3}`,
          passbackData: `},{"id":"${i}`,
        }),
        retailerId: retailerIds[i % 5],
      })),
    );
  });
  afterAll(() => node[Symbol.asyncDispose]());

  async function load(rows: readonly object[], org = 'acme') {
    const source = sourceFrom(ndjson(rows));
    const to = await node.organisation(org);
    return importTransactions(node.stores, to, source, () => nowMs, {});
  }

  type Row = { readonly id: Uuid; readonly status: string };
  type Answer = { readonly data: Row[]; readonly cursor?: string };

  async function get(parameters: Record<string, string>, as = token) {
    const response = await node.get(`/v1/transactions/?${new URLSearchParams(parameters)}`, as);
    expect(response.status).toBe(200);
    const text = await response.text();
    return { text, headers: response.headers, ...(JSON.parse(text) as Answer) };
  }
  const numbers = ({ data }: Answer) => data.map((row) => Number.parseInt(row.id.slice(-4), 16));

  test("only the user's transactions are returned, page by page, by cursor and by the Link header", async () => {
    const all = await get({ passbackUid: ANNA });
    expect(numbers(all)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    expect(all.cursor).toBeUndefined();
    const first = await get({ passbackUid: ANNA, limit: '4' });
    expect([numbers(first), first.cursor]).toEqual([[0, 3, 6, 9], id(12)]);
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(first.headers.get('Link') ?? '') ?? [];
    const second = (await (await node.get(next.replace(/^https?:\/\/[^/]+/, ''), token)).json()) as Answer;
    expect([numbers(second), second.cursor]).toEqual([[12, 15, 18, 21], id(24)]);
    // A cursor is a position, not a row of the user.
    expect(numbers(await get({ passbackUid: ANNA, cursor: id(22) }))).toEqual([24, 27]);
    expect(numbers(await get({ passbackUid: 'nobody' }))).toEqual([]);
    expect(numbers(await get({ passbackUid: ANNA.toUpperCase() }))).toEqual([]);
  });

  test('with the same token and window, walks of two users and a walk of all users do not affect each other', async () => {
    const walkers = [{ passbackUid: ANNA }, { passbackUid: 'user-1' }, {}];
    const statuses = ({ data }: Answer) => data.map(({ status }) => status);
    const begun = [];
    for (const user of walkers) {
      begun.push(await get({ ...user, limit: '1' } as Record<string, string>));
      nowMs += 60_000;
      // Changes the last transaction of each walk.
      await load(
        [27, 28, 29].map((number) =>
          transaction(number, {
            passbackUid: number === 27 ? ANNA : `user-${number % 3}`,
            status: 'CONFIRMED',
            cashback: nowMs % 1_000,
          }),
        ),
      );
    }
    for (const [i, user] of walkers.entries()) {
      const through = begun[i]?.headers.get('Complete-Through');
      const rest = await get({ ...user, cursor: begun[i]?.cursor ?? '' } as Record<string, string>);
      expect(rest.headers.get('Complete-Through')).toBe(through ?? '');
      // Only the first walk began before the first of the three changes.
      expect(statuses(rest).at(-1)).toBe(i === 0 ? 'PENDING' : 'CONFIRMED');
    }
  });

  test.each([
    ['updatedAtLessThan=', 'updatedAtLessThan', 'must not be empty'],
    ['updatedAtLessThan=2026-02-30', 'updatedAtLessThan', 'is a date-time that does not exist'],
    ['passbackUid=', 'passbackUid', 'must not be empty'],
    ['passbackUid=a&passbackUid=b', 'passbackUid', 'must be given only once'],
    [`passbackUid=${'x'.repeat(256)}`, 'passbackUid', 'must not be longer than 255 characters'],
    [`passbackUid=${'%C3%BC'.repeat(128)}`, 'passbackUid', 'must not be longer than 255 bytes in UTF-8'],
    ['passbackUid=a%00', 'passbackUid', 'must not contain control characters'],
    ['passbackUid=%FF', 'passbackUid', 'must be valid UTF-8'],
    ['expand=', 'expand', 'must not be empty'],
    ['expand=user', 'expand', 'must be retailer; nothing else can be expanded'],
    ['expand=retailer,user', 'expand', 'must be retailer; nothing else can be expanded'],
    ['expand=Retailer', 'expand', 'must be retailer; nothing else can be expanded'],
    ['expand=retailer&expand=retailer', 'expand', 'must be given only once'],
  ])('%s is rejected with the reason', async (query, parameter, detail) => {
    const response = await node.get(`/v1/transactions/?${query}`, token);
    const { code, errors } = (await response.json()) as { code: string; errors: unknown };
    expect([response.status, code, errors]).toEqual([400, 'invalid_parameter', [{ parameter, detail }]]);
  });

  test('expand=retailer adds the retailer, or null if it is unknown or not in the catalogue', async () => {
    const { data } = await get({ expand: 'retailer', limit: '5' });
    const of = ({ id, name, hostname, logo }: (typeof SHOPS)[number]) => ({ id, name, hostname, logo });
    const [first, second] = SHOPS.map(of);
    expect(data.map((row) => (row as unknown as { retailer: unknown }).retailer)).toEqual([
      first,
      second,
      of(EMPTY_SHOP),
      null,
      null,
    ]);
  });

  test('expand=retailer adds one field and changes nothing else, byte for byte', async () => {
    const parameters = fc.record(
      {
        limit: fc.integer({ min: 1, max: 40 }).map(String),
        cursor: fc.nat({ max: 40 }).map((number) => id(number) as string),
        passbackUid: fc.constantFrom(ANNA, 'user-1'),
        updatedAtLessThan: fc.constantFrom('2026-11-14T12:00:30', '2027-01-01'),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(parameters, async (given) => {
        const plain = await get({ ...given });
        const expanded = await get({ ...given, expand: 'retailer' });
        expect(expanded.text.replaceAll(/,"retailer":(null|\{[^}]*\})\}/g, '}')).toBe(plain.text);
        expect(expanded.text.match(/,"retailer":/g)?.length ?? 0).toBe(plain.data.length);
        for (const name of ['Complete-Through', 'Cache-Control', 'Content-Type', 'Vary'])
          expect(expanded.headers.get(name)).toBe(plain.headers.get(name));
      }),
      { numRuns: 40 },
    );
  });

  test('a page that its retailers would make too large ends early, and the next page continues there', async () => {
    const long = 'x'.repeat(60_000);
    const shop = retailer(9, { logo: `https://shop.example/${long}` });
    await node.catalogue([...SHOPS, EMPTY_SHOP, shop]);
    const org = 'large';
    const theirs = await node.token('private', org);
    await load(
      Array.from({ length: 90 }, (_, i) => ({ ...transaction(0x700 + i), retailerId: shop.id })),
      org,
    );
    const seen = [];
    let cursor: string | undefined;
    do {
      const page = await get({ expand: 'retailer', ...(cursor === undefined ? {} : { cursor }) }, theirs);
      expect(page.text.length).toBeLessThanOrEqual(4 * 1024 * 1024 + 100);
      seen.push(numbers(page));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen.map(({ length }) => length)).toEqual([69, 21]);
    expect(seen.flat()).toEqual(Array.from({ length: 90 }, (_, i) => 0x700 + i));
  });

  test('expand=retailer adds the same field to a single transaction, which then has a different ETag', async () => {
    const one = async (number: number, query = '') => {
      const response = await node.get(`/v1/transactions/${id(number)}/${query}`, token);
      return { status: response.status, text: await response.text(), tag: response.headers.get('ETag') };
    };
    for (const number of [0, 1, 2, 3, 4]) {
      const [plain, expanded] = [await one(number), await one(number, '?expand=retailer')];
      const list = await get({ expand: 'retailer', cursor: id(number), limit: '1' });
      expect(`{"data":[${expanded.text}]`).toBe(list.text.replace(/,"cursor".*/, '').replace(/\]\}$/, ']'));
      expect(expanded.text.replace(/,"retailer":(null|\{[^}]*\})\}$/, '}')).toBe(plain.text);
      expect(expanded.tag).not.toBe(plain.tag);
    }
    expect((await one(0x999, '?expand=retailer')).status).toBe(404);
    expect((await one(0, '?expand=user')).status).toBe(400);
    expect((await one(0, `?passbackUid=x`)).status).toBe(400);
  });

  test('the log of a request does not contain the user', async () => {
    await get({ passbackUid: 'secret-user-4711' });
    expect(node.logLines.filter((line) => line.includes('secret-user'))).toEqual([]);
  });
});
