// The pages of one user equal the unfiltered pages without other users' transactions. This holds for every window and stamp,
// whatever is imported or erased between pages, and for users with few transactions and with thousands.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import type { Clock } from '../../src/domain/clock.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import { splitDocuments } from '../../src/domain/stored-document.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { StampWindow } from '../../src/domain/transaction.ts';
import type { Database } from '../../src/storage/database.ts';
import { FEW_MAX, userKey } from '../../src/storage/transactions/user-ids.ts';
import { DATABASES } from '../support/databases.ts';
import { id, transaction } from '../support/fixtures.ts';
import { writeDocuments } from '../support/put-documents.ts';
import {
  EVERYTHING,
  idOf,
  importRows,
  newOrganisation,
  openTestStores,
  pagesOf,
} from './open-test-stores.ts';

const SPAN_MS = 2 ** 30;
/** One of them looks like the field itself. */
const USERS = ['anna', 'bert', '"passbackUid":"anna"', 'ü\\" 👩'] as const;
type User = (typeof USERS)[number];

interface PageQuery {
  readonly orgId: number;
  readonly window: StampWindow;
  readonly asOfMs?: number | undefined;
}

/** All transactions in the window, from unfiltered pages. */
async function readDocuments(stores: Stores, query: PageQuery): Promise<{ id: Uuid; document: string }[]> {
  const pages = await Array.fromAsync(pagesOf(stores, { ...query, cursor: undefined, limit: 1_000 }));
  return pages.flatMap(({ data }) => splitDocuments(data));
}

/** Compares a page of a user with the filtered full copy, and returns the page. */
async function expectFiltered(
  stores: Stores,
  query: PageQuery & { readonly cursor: Uuid | undefined; readonly limit: number },
  passbackUid: string,
) {
  const { cursor = FIRST_ID, limit } = query;
  const all = await readDocuments(stores, query);
  const wanted = all.filter(
    ({ id, document }) => id >= cursor && (JSON.parse(document) as Transaction).passbackUid === passbackUid,
  );
  const page = await stores.transactions.page({ ...query, passbackUid });
  expect({ documents: splitDocuments(page.data), cursor: page.cursor }).toEqual({
    documents: wanted.slice(0, limit),
    cursor: wanted[limit]?.id,
  });
  return page;
}

describe.each(DATABASES)('pages of one user on $name', (testDatabase) => {
  const open = openTestStores(afterAll);
  let stores: Stores;
  let database: Database;
  let clock: Clock;
  let pass: (ms: number) => number;
  let scenes = 0;

  beforeAll(async () => {
    let url: string;
    ({ url, stores, clock, pass } = await open.scene(testDatabase, Date.parse('2026-11-14T12:00:00Z')));
    database = open.database(url);
  });

  /** Creates an organisation with its own range of ids. */
  async function newScene(): Promise<{ org: Organisation; firstNumber: number }> {
    const org = await newOrganisation(stores, `scene ${++scenes}`);
    return { org, firstNumber: scenes * 100_000 };
  }

  interface Sale {
    readonly number: number;
    readonly user: User | null;
    readonly cashback: number;
  }

  async function importSales(org: Organisation, firstNumber: number, sales: readonly Sale[]) {
    const rows = new Map(
      sales.map(({ number, user, cashback }) => [
        number,
        transaction(firstNumber + number, {
          passbackUid: user,
          cashback,
          status: 'CONFIRMED',
          // A returning user keeps sales made after the erasure.
          soldAt: printTimestamp(clock()),
        }),
      ]),
    );
    await importRows(stores, org, [...rows.values()], clock);
  }

  const sale = fc.record({
    number: fc.nat({ max: 30 }),
    user: fc.constantFrom(...USERS, USERS[0], USERS[0], null),
    cashback: fc.nat({ max: 100 }),
  });
  const change = fc.record({
    gapMs: fc.constantFrom(1, 1_000, 3_600_000, SPAN_MS, 40 * DAY_MS),
    work: fc.oneof(
      { weight: 6, arbitrary: fc.record({ sales: fc.array(sale, { minLength: 1, maxLength: 25 }) }) },
      { weight: 1, arbitrary: fc.record({ erased: fc.constantFrom(...USERS) }) },
      { weight: 1, arbitrary: fc.record({ purged: fc.constant(true) }) },
    ),
  });
  type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

  test('the pages of a walk equal the filtered full copy, regardless of imports and erasures in between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 8 }),
        fc.array(change, { maxLength: 6 }),
        fc.constantFrom(...USERS),
        fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('all', 'from', 'until', 'both')),
        fc.integer({ min: 1, max: 5 }),
        async (before, meanwhile, user, [first, second, kind], limit) => {
          const { org, firstNumber } = await newScene();
          const stamps = [clock()];
          const apply = async ({ gapMs, work }: Change) => {
            pass(gapMs);
            if ('sales' in work) await importSales(org, firstNumber, work.sales);
            else if ('erased' in work) await stores.erasures.erase(org, work.erased);
            else await stores.history.purge(clock() - DAY_MS);
            stamps.push(clock());
          };
          for (const each of before) await apply(each);
          const bound = (choice: number) => stamps[choice % stamps.length] ?? 0;
          const [low, high] = [bound(first), bound(second)].sort((a, b) => a - b) as [number, number];
          const window = {
            minMs: kind === 'from' || kind === 'both' ? low : EVERYTHING.minMs,
            maxMs: kind === 'until' || kind === 'both' ? high : EVERYTHING.maxMs,
          };
          const changes = [...meanwhile];
          let cursor: Uuid | undefined;
          let asOfMs: number | undefined;
          do {
            const page = await expectFiltered(stores, { orgId: org.id, window, cursor, limit, asOfMs }, user);
            asOfMs ??= page.completeThroughMs;
            expect(page.completeThroughMs).toBe(asOfMs);
            cursor = page.cursor;
            const next = changes.shift();
            // A purge keeps the versions of the last day, and walk records expire sooner.
            if (next !== undefined && next.gapMs < DAY_MS) await apply(next);
          } while (cursor !== undefined);
        },
      ),
      { numRuns: testDatabase.name === 'SQLite' ? 40 : 10 },
    );
  }, 240_000);

  test('users with the same key never see each other, and the pages of each are complete', async () => {
    const { org, firstNumber } = await newScene();
    const sales = Array.from({ length: 40 }, (_, number) => ({
      number,
      user: USERS[number % 7 === 0 ? 0 : 1] ?? null,
      cashback: 1,
    }));
    await importSales(org, firstNumber, sales);
    const key = userKey(USERS[0]);
    await database.write((connection) =>
      connection.all('UPDATE transactions SET user_key = $2 WHERE org_id = $1', org.id, key),
    );
    let cursor: Uuid | undefined;
    do {
      const query = { orgId: org.id, window: EVERYTHING, cursor, limit: 2 };
      ({ cursor } = await expectFiltered(stores, query, USERS[0]));
    } while (cursor !== undefined);
    expect((await stores.history.findByPassbackUid(USERS[0], { orgId: org.id })).count).toBe(6);
  });

  test('an erasure, a purge and a deletion each delete the entries of former users whose versions they remove', async () => {
    const { org, firstNumber } = await newScene();
    for (const user of USERS) {
      pass(3 * DAY_MS);
      await importSales(org, firstNumber, [{ number: 1, user, cashback: 1 }]);
    }
    const entries = async () => {
      const sql = 'SELECT user_key FROM former_users WHERE org_id = $1 ORDER BY until_stamp';
      return (await database.all<{ user_key: number }>(sql, org.id)).map(({ user_key: key }) => key);
    };
    const [first, second, third] = USERS.map(userKey);
    expect<unknown>(await entries()).toEqual([first, second, third]);
    await stores.erasures.erase(org, USERS[1]);
    expect<unknown>(await entries()).toEqual([first, third]);
    const versions = await stores.history.versions(id(firstNumber + 1));
    const users = versions.map(({ document }) => (JSON.parse(document) as Transaction).passbackUid);
    expect(users).toEqual([USERS[3], USERS[2], null, USERS[0]]);
    await stores.history.purge(clock() - DAY_MS);
    expect<unknown>(await entries()).toEqual([third]);
    await stores.organisations.delete(org.name, { reloadMs: 0 });
    expect(await entries()).toEqual([]);
  });

  describe('of a user with thousands of transactions', () => {
    const END_MS = Date.UTC(2026, 10, 14);
    const START_MS = END_MS - 3 * 365 * DAY_MS;
    const HEAVY = 'heavy';
    let orgId: number;
    let atMs: number;

    /** Every fourth transaction belongs to another user. Half of the transactions have the stamp of one import. */
    const number = (i: number) => (i * 7_919) % 100_000;
    const rows = Array.from({ length: 4_000 }, (_, i) => ({
      id: idOf(9_000_000_000 + number(i)),
      updatedAtMs:
        i % 2 === 0 ? START_MS + 500 * DAY_MS : START_MS + Math.floor((i / 4_000) * (END_MS - START_MS)),
      user: i % 4 === 3 ? `user-${i % 50}` : HEAVY,
    }));
    const documentOf = (each: { id: Uuid; user: string }, text: string) =>
      JSON.stringify({ id: each.id, passbackUid: each.user, text });

    beforeAll(async () => {
      expect(rows.length).toBeGreaterThan(4 * FEW_MAX);
      orgId = (await newOrganisation(stores, 'heavy')).id;
      const first = rows.map((row) => ({ ...row, document: documentOf(row, 'first') }));
      await writeDocuments(stores.transactions, orgId, first);
      const query = { orgId, window: EVERYTHING, limit: 1 };
      atMs = (await stores.transactions.page(query)).completeThroughMs;
      pass(60_000);
      // Changes some transactions, moves some to another user, and adds some.
      const changed = rows
        .filter((_, i) => i % 9 === 0)
        .map(({ id, user }, i) => ({ id, user: [HEAVY, 'bert', user][i % 3] ?? user }));
      const added = Array.from({ length: 700 }, (_, i) => ({ id: idOf(9_000_200_000 + i * 3), user: HEAVY }));
      const second = [...changed, ...added].map((row) => ({ ...row, document: documentOf(row, 'second') }));
      await writeDocuments(stores.transactions, orgId, second);
    });

    const stamp = fc.oneof(
      fc.integer({ min: START_MS, max: END_MS }),
      fc.constantFrom(START_MS + 500 * DAY_MS, EVERYTHING.minMs, EVERYTHING.maxMs),
    );
    const window = fc.tuple(stamp, stamp).map(([a, b]) => ({ minMs: Math.min(a, b), maxMs: Math.max(a, b) }));
    const cursor = fc.option(
      fc.nat({ max: 3_000 }).map((i) => rows[i]?.id),
      { nil: undefined },
    );

    test('a page of any window, now or as of an earlier stamp, equals the filtered full copy', async () => {
      await fc.assert(
        fc.asyncProperty(
          window,
          cursor,
          fc.constantFrom(1, 10, 100, 1_000),
          fc.boolean(),
          async (anyWindow, anyCursor, limit, isEarlier) => {
            const query = { orgId, window: anyWindow, cursor: anyCursor, limit };
            await expectFiltered(stores, { ...query, asOfMs: isEarlier ? atMs : undefined }, HEAVY);
          },
        ),
        { numRuns: testDatabase.name === 'SQLite' ? 40 : 10 },
      );
    }, 240_000);
  });
});

test('the key of a user never changes, because databases contain it', () => {
  // The first 52 bits of XXH64 with seed 0, plus one.
  expect(['', 'user-8842', 'müller "a\\b"'].map(userKey)).toEqual([
    0xef46db3751d8e + 1,
    151_916_692_796_845,
    3_089_346_321_231_874,
  ]);
});
