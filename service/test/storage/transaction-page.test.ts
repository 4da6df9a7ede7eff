import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { FIRST_ID, LAST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import type { StampWindow, TransactionPage, TransactionStore } from '../../src/domain/transaction.ts';
import type { Connection, Database, SqlValue } from '../../src/storage/database.ts';
import type { Statement } from '../../src/storage/sql.ts';
import { transactionStore } from '../../src/storage/stores/transaction-store.ts';
import { SPAN_MS } from '../../src/storage/transactions/stamp-window.ts';
import { NARROW_MAX, readTransactionPage } from '../../src/storage/transactions/transaction-page.ts';
import { findWindowIds, RUNS_SQL } from '../../src/storage/transactions/window-ids.ts';
import { DATABASES } from '../support/databases.ts';
import { writeDocuments } from '../support/put-documents.ts';
import {
  documentOf,
  EVERYTHING,
  idOf,
  newOrganisation,
  openTestStores,
  pagesOf,
} from './open-test-stores.ts';

const open = openTestStores();

const END_MS = Date.UTC(2026, 10, 14);
const START_MS = END_MS - 3 * 365 * DAY_MS;
/** Stamps of two large imports, a minute apart. Many transactions share each of them. */
const HEAVY_MS = [START_MS + 400 * DAY_MS, START_MS + 400 * DAY_MS + 60_000] as const;

interface Row {
  readonly id: Uuid;
  readonly stampMs: number;
}

/** Three years of changes, a busy afternoon, two large imports, and obviously wrong dates. */
function makeRows(): Row[] {
  const random = randomNumbers(42);
  const between = (min: number, max: number) => Math.floor(min + random() * (max - min));
  const stamps = [
    ...Array.from({ length: 2_000 }, () => between(START_MS, END_MS)),
    ...Array.from({ length: 1_200 }, () => HEAVY_MS[1] + between(60_000, 4 * 3_600_000)),
    ...HEAVY_MS.flatMap((stampMs) => Array.from({ length: 700 }, () => stampMs)),
    ...Array.from({ length: 5 }, (_, i) => Date.parse(`000${i + 1}-01-01T00:00:00Z`)),
    -1,
    0,
    1,
    END_MS,
  ];
  // Half of the ids increase with the stamp, like UUIDs of version 7; the others are random.
  return stamps.map((stampMs, i) => ({
    id: i % 2 === 0 ? idOf(Math.max(0, stampMs) * 64 + (i % 64)) : idOf(between(0, END_MS * 64)),
    stampMs,
  }));
}

/** Returns the same numbers in every run, so that failures are reproducible. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const ROWS = [...new Map(makeRows().map((row) => [row.id, row])).values()];
const SORTED = ROWS.toSorted((a, b) => (a.id < b.id ? -1 : 1));

function expectedIds(window: StampWindow, cursor: Uuid | undefined, count: number): Uuid[] {
  return SORTED.filter(
    ({ id, stampMs }) =>
      stampMs >= window.minMs && stampMs <= window.maxMs && (cursor === undefined || id >= cursor),
  )
    .slice(0, count)
    .map(({ id }) => id);
}

const nearAStamp = fc
  .tuple(fc.integer({ min: 0, max: ROWS.length - 1 }), fc.integer({ min: -1, max: 1 }))
  .map(([i, beside]) => (ROWS[i]?.stampMs ?? 0) + beside);
const atABorder = fc
  .tuple(fc.integer({ min: START_MS, max: END_MS }), fc.integer({ min: -1, max: 0 }))
  .map(([ms, beside]) => Math.floor(ms / SPAN_MS) * SPAN_MS + beside);
const bound = fc.oneof(
  nearAStamp,
  atABorder,
  fc.integer({ min: START_MS, max: END_MS }),
  fc.constantFrom(EVERYTHING.minMs, EVERYTHING.maxMs, ...HEAVY_MS, HEAVY_MS[0] + 1, HEAVY_MS[1] - 1),
);
const window = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(bound, bound).map(([a, b]) => ({ minMs: Math.min(a, b), maxMs: Math.max(a, b) })),
  },
  // Without a start, like later pages of a walk through all transactions.
  { weight: 5, arbitrary: bound.map((maxMs) => ({ minMs: EVERYTHING.minMs, maxMs })) },
  { weight: 1, arbitrary: fc.constant({ minMs: HEAVY_MS[1], maxMs: HEAVY_MS[0] }) },
);
const cursor = fc.oneof(
  fc.constant(undefined),
  fc.integer({ min: 0, max: ROWS.length - 1 }).map((i) => ROWS[i]?.id),
  fc.integer({ min: 0, max: END_MS * 64 }).map(idOf),
  fc.constantFrom(FIRST_ID, LAST_ID),
);
const limit = fc.oneof(fc.constantFrom(1, 100, 1_000), fc.integer({ min: 1, max: 300 }));

/** Contains the separator between documents, which must not be mistaken for the end of a document. */
const TEXT = 'a "text",{"id":"ü';

function expectedPage(anyWindow: StampWindow, anyCursor: Uuid | undefined, anyLimit: number) {
  const ids = expectedIds(anyWindow, anyCursor, anyLimit + 1);
  const documents = ids.slice(0, anyLimit).map((id) => documentOf(id, TEXT));
  return { data: documents.join(','), cursor: ids[anyLimit] };
}

function textOf({ data }: TransactionPage): string {
  return Buffer.from(data).toString();
}

/** Wraps a connection and calls `see` with each statement and its rows. */
function watched(see: (statement: Statement, rows: readonly unknown[]) => void) {
  return (connection: Connection): Connection => ({
    ...connection,
    async all<Found>(statement: Statement, ...params: SqlValue[]) {
      const rows = await connection.all<Found>(statement, ...params);
      see(statement, rows);
      return rows;
    },
  });
}

describe.each(DATABASES)('pages of any window on $name', (testDatabase) => {
  const shared = openTestStores(afterAll);
  let database: Database;
  let store: TransactionStore;
  let orgId: number;

  beforeAll(async () => {
    const { url, stores, clock, ...own } = await shared.scene(testDatabase, START_MS);
    orgId = own.orgId;
    const other = await newOrganisation(stores, 'other');
    database = shared.database(url);
    store = transactionStore(database, clock, (query) => readTransactionPage(database, query));
    const load = (org: number, rows: readonly Row[]) =>
      writeDocuments(
        store,
        org,
        rows.map(({ id, stampMs }) => ({ id, updatedAtMs: stampMs, document: documentOf(id, TEXT) })),
      );
    await load(orgId, ROWS);
    // Another organisation's transactions, whose ids lie between ours, must never appear.
    await load(
      other.id,
      ROWS.slice(0, 1_000).map(({ id, stampMs }) => ({ id: id.replace('4000', '4001') as Uuid, stampMs })),
    );
  });

  test('a page equals the result of filtering and sorting all transactions, now or as of an earlier stamp, and is complete through that stamp', async () => {
    const moment = fc.oneof(fc.constant(undefined), bound);
    await fc.assert(
      fc.asyncProperty(window, moment, cursor, limit, async (anyWindow, asOfMs, anyCursor, anyLimit) => {
        const query = { orgId, cursor: anyCursor, window: anyWindow, limit: anyLimit, asOfMs };
        const page = await store.page(query);
        const maxMs = Math.min(anyWindow.maxMs, asOfMs ?? anyWindow.maxMs);
        expect({ ...page, data: textOf(page) }).toEqual({
          ...expectedPage({ ...anyWindow, maxMs }, anyCursor, anyLimit),
          completeThroughMs: Math.min(END_MS, asOfMs ?? END_MS),
        });
      }),
      { numRuns: 80 },
    );
  });

  test('a page that ends with the last transaction contains it and has no cursor, however the page is read', async () => {
    const nearTheEnd = SORTED.at(-5)?.id;
    for (const [way, anyWindow, anyCursor] of [
      ['by id', EVERYTHING, nearTheEnd],
      ['narrow window', { minMs: HEAVY_MS[0], maxMs: HEAVY_MS[0] }, undefined],
      ['wide window', { minMs: START_MS, maxMs: END_MS }, nearTheEnd],
    ] as const) {
      const { length } = expectedIds(anyWindow, anyCursor, 1_000);
      const page = await store.page({ orgId, cursor: anyCursor, window: anyWindow, limit: length });
      const { data, cursor: next } = expectedPage(anyWindow, anyCursor, length);
      expect([way, textOf(page), page.cursor]).toEqual([way, data, next]);
      expect(next).toBeUndefined();
    }
  });

  test('every window can be read by merging runs, which reads few ids', async () => {
    let ids = 0;
    const counting = watched((_, rows) => {
      for (const row of rows as { ids?: string | null }[]) ids += row.ids?.split(',').length ?? 0;
    });
    await fc.assert(
      fc.asyncProperty(window, cursor, limit, async (anyWindow, anyCursor, count) => {
        ids = 0;
        const query = { orgId, cursor: anyCursor ?? idOf(0), count, window: anyWindow };
        const found = await database.read((connection) => findWindowIds(counting(connection), query));
        expect(found).toEqual(expectedIds(anyWindow, anyCursor, count));
        if (count <= 101) expect(ids).toBeLessThan(5_000);
      }),
      { numRuns: 60 },
    );
  });

  test('a page at the boundary between narrow and wide windows is complete', async () => {
    const stamps = ROWS.map(({ stampMs }) => stampMs)
      .filter((ms) => ms > HEAVY_MS[1])
      .sort((a, b) => a - b);
    for (const count of [NARROW_MAX - 1, NARROW_MAX, NARROW_MAX + 1]) {
      const anyWindow = { minMs: HEAVY_MS[1] + 1, maxMs: stamps[count - 1] ?? 0 };
      const page = await readTransactionPage(database, { orgId, window: anyWindow, limit: 1_000 });
      expect(textOf(page)).toBe(
        expectedIds(anyWindow, undefined, 1_000)
          .map((id) => documentOf(id, TEXT))
          .join(','),
      );
    }
  });
});

describe.each(DATABASES)('a window of a few days on $name', (testDatabase) => {
  test('each span in the window is read once', async () => {
    // A quarter of the latest span has elapsed.
    const endMs = (Math.floor(END_MS / SPAN_MS) + 0.25) * SPAN_MS;
    const startMs = endMs - 40 * DAY_MS;
    const random = randomNumbers(7);
    const anyId = (bits: number) => idOf(Math.floor(random() * 2 ** bits));
    const { url, stores, orgId } = await open.scene(testDatabase, startMs);
    const changes = Array.from({ length: 6_000 }, () => {
      const id = anyId(48);
      const updatedAtMs = Math.floor(startMs + random() * (endMs - startMs));
      return { id, updatedAtMs, document: documentOf(id, TEXT) };
    });
    await writeDocuments(stores.transactions, orgId, changes);
    const database = open.database(url);
    let reads = 0;
    const counting = watched((statement) => {
      if (statement === RUNS_SQL) reads++;
    });
    const pages = 100;
    for (let page = 0; page < pages; page++) {
      const days = 4 + (20 * page) / pages;
      const anyWindow = { minMs: endMs - days * DAY_MS, maxMs: EVERYTHING.maxMs };
      // A cursor in the lower half of the ids, so that every page is full.
      const query = { orgId, cursor: anyId(47), count: 101, window: anyWindow };
      await database.read((connection) => findWindowIds(counting(connection), query));
    }
    // By chance, a span sometimes contains more ids than estimated and has to be read again.
    expect(reads).toBeLessThan(1.3 * pages);
  });
});

describe.each(DATABASES)('pages of a few transactions on $name', (testDatabase) => {
  interface Change {
    readonly id: Uuid;
    readonly atMs: number;
  }

  /** Writes each list of changes in an import at the given time, with the stamps in the list. */
  async function newOrg(imports: readonly (readonly [number, readonly Change[]])[]) {
    const { stores, orgId, clock, pass } = await open.scene(testDatabase, 0);
    for (const [ms, changes] of imports) {
      pass(ms - clock());
      const rows = changes.map(({ id, atMs }) => ({
        ...{ id, updatedAtMs: atMs },
        document: documentOf(id, `at ${atMs}`),
      }));
      await writeDocuments(stores.transactions, orgId, rows);
    }
    return { stores, orgId };
  }

  test('a page finds an old transaction among as many newer ones as a page by id can skip', async () => {
    const [old, last] = [idOf(1_000), idOf(1_001)];
    const newer = Array.from({ length: 203 }, (_, i) => ({ id: idOf(i), atMs: 20 }));
    const { stores, orgId } = await newOrg([
      [10, [old, last].map((id) => ({ id, atMs: 10 }))],
      [20, newer],
    ]);
    const window = { minMs: EVERYTHING.minMs, maxMs: 10 };
    // With a limit of 1, a page by id reads 202 transactions.
    for (const skipped of [200, 201, 202, 203])
      for (const limit of [1, 2]) {
        const cursor = idOf(newer.length - skipped);
        const page = await stores.transactions.page({ orgId, cursor, window, limit });
        expect({ skipped, ...page, data: textOf(page) }).toEqual({
          skipped,
          data: [old, last]
            .slice(0, limit)
            .map((id) => documentOf(id, 'at 10'))
            .join(','),
          cursor: limit === 1 ? last : undefined,
          completeThroughMs: 20,
        });
      }
  });

  test('a page has a cursor even if the next rows of its window follow thousands of rows outside it', async () => {
    // More rows in the window than a page sorts, so it searches 2,000 rows of the span at a time.
    const between = Array.from({ length: 2_050 }, (_, i) => ({ id: idOf(10 + i), atMs: 10 }));
    const inWindow = [1, 2, 3, ...Array.from({ length: 2_050 }, (_, i) => 5_000 + i)].map(idOf);
    const { stores, orgId } = await newOrg([
      [10, between],
      [20, inWindow.map((id) => ({ id, atMs: 20 }))],
      [30, [{ id: idOf(9_999), atMs: 30 }]],
    ]);
    const query = { orgId, cursor: undefined, window: { minMs: 20, maxMs: 20 } };
    for (const limit of [2, 3, 4]) {
      const page = await stores.transactions.page({ ...query, limit });
      expect({ limit, cursor: page.cursor }).toEqual({ limit, cursor: inWindow[limit] });
    }
  });

  test('a walk shows each version as of its first page, even after versions with older stamps are loaded', async () => {
    const [first, second, third, fourth] = [1, 2, 3, 4].map(idOf) as [Uuid, Uuid, Uuid, Uuid];
    const { stores, orgId } = await newOrg([
      [10, [first, second, third].map((id) => ({ id, atMs: 10 }))],
      [15, [{ id: fourth, atMs: 15 }]],
      [20, []],
      [30, [first, third, fourth].map((id) => ({ id, atMs: 5 }))],
      [40, [first, second].map((id) => ({ id, atMs: 40 }))],
    ]);
    const window = { minMs: 1, maxMs: 12 };
    const expected = [
      documentOf(first, 'at 10'),
      documentOf(second, 'at 10'),
      documentOf(third, 'at 10'),
      // Its version as of the first page was newer than the window, so only the loaded version is in the window.
      documentOf(fourth, 'at 5'),
    ];
    for (const limit of [1, 2, 3, 4, 5]) {
      const found: string[] = [];
      for await (const page of pagesOf(stores, { orgId, window, limit, asOfMs: 20 }))
        found.push(textOf(page));
      expect({ limit, found: found.join(',') }).toEqual({ limit, found: expected.join(',') });
    }
  });
});
