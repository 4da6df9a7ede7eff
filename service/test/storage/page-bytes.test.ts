// Pages of transactions end early at a byte limit, by whichever query they are read, and a walk still returns every
// transaction.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { PAGE_BYTES_MAX } from '../../src/domain/page.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { StampWindow, TransactionPage } from '../../src/domain/transaction.ts';
import { NARROW_MAX } from '../../src/storage/transactions/transaction-page.ts';
import { DATABASES } from '../support/databases.ts';
import { writeDocuments } from '../support/put-documents.ts';
import { documentOf, EVERYTHING, idOf, openTestStores, pagesOf, rowsOf } from './open-test-stores.ts';

const open = openTestStores();

const START_MS = Date.UTC(2026, 0, 1);
const ROWS = NARROW_MAX + 60;

interface Row {
  readonly id: Uuid;
  readonly stampMs: number;
  readonly document: string;
}

/** Most documents are short, some are long, and a few are longer than all others on a page together. */
function makeRows(): Row[] {
  const lengths = [10, 30, 20, 150, 25, 2_000, 15, 40, 12, 20_000, 35];
  return Array.from({ length: ROWS }, (_, i) => {
    const id = idOf(i);
    const text = (i % 3 === 0 ? 'ü' : 'x').repeat(lengths[(i * 7) % lengths.length] ?? 0);
    // Stamps have a different order than ids, and are a day apart, so that windows cover several spans.
    return {
      id,
      stampMs: START_MS + ((i * 211) % ROWS) * DAY_MS,
      document: documentOf(id, `${i} ,{"id":" ${text}`),
    };
  });
}

/** The expected page: as many items as fit, but at least one. */
function expectedPage(rows: readonly Row[], limit: number, bytesMax: number) {
  let [count, bytes] = [0, -1];
  for (const { document } of rows.slice(0, limit)) {
    bytes += Buffer.byteLength(document) + 1;
    if (count > 0 && bytes > bytesMax) break;
    count += 1;
  }
  const data = rows
    .slice(0, count)
    .map(({ document }) => document)
    .join(',');
  return { data, cursor: rows[count]?.id, count };
}

const data = (page: TransactionPage) => Buffer.from(page.data).toString();

for (const testDatabase of DATABASES) {
  describe(`page sizes in bytes on ${testDatabase.name}`, () => {
    const shared = openTestStores(afterAll);
    const sorted = makeRows();
    let stores: Stores;
    let orgId: number;

    beforeAll(async () => {
      ({ stores, orgId } = await shared.scene(testDatabase, START_MS));
      const rows = sorted.map(({ id, stampMs, document }) => ({ id, updatedAtMs: stampMs, document }));
      await writeDocuments(stores.transactions, orgId, rows);
    });

    const limit = fc.oneof(fc.integer({ min: 20, max: 300 }), fc.constantFrom(7, 1_000));
    // A walk with small pages takes long, so few walks have them.
    const bytesMax = fc.oneof(
      fc.integer({ min: 5_000, max: 50_000 }),
      fc.integer({ min: 50_000, max: 4_000_000 }),
    );
    const day = fc.integer({ min: 0, max: ROWS }).map((days) => START_MS + days * DAY_MS);
    const window = fc.oneof(
      fc.constant(EVERYTHING),
      day.map((maxMs) => ({ ...EVERYTHING, maxMs })),
      fc.tuple(day, day).map(([a, b]) => ({ minMs: Math.min(a, b), maxMs: Math.max(a, b) })),
    );
    const pin = fc.oneof(fc.constant(undefined), day);

    /** Walks through a window and compares each page with the expected page. */
    async function walk(
      window: StampWindow,
      asOfMs: number | undefined,
      limit: number,
      bytesMax: number,
    ): Promise<void> {
      const maxMs = Math.min(window.maxMs, asOfMs ?? window.maxMs);
      let left = sorted.filter(({ stampMs }) => stampMs >= window.minMs && stampMs <= maxMs);
      for await (const page of pagesOf(stores, { orgId, window, limit, bytesMax, asOfMs })) {
        const { count, ...expected } = expectedPage(left, limit, bytesMax);
        expect({ data: data(page), cursor: page.cursor }).toEqual(expected);
        expect(page.data.length <= bytesMax || count === 1).toBeTrue();
        left = left.slice(count);
      }
      expect(left).toEqual([]);
    }

    test('every walk returns each item once, and each page is within the byte limit or has one item', async () => {
      await fc.assert(fc.asyncProperty(window, pin, limit, bytesMax, walk), {
        numRuns: testDatabase.name === 'SQLite' ? 6 : 2,
        examples: [
          [{ ...EVERYTHING, maxMs: START_MS + 200 * DAY_MS }, undefined, 1_000, 1],
          [EVERYTHING, undefined, 1_000, 4_000_000],
          [EVERYTHING, START_MS + 100 * DAY_MS, 100, 70_000],
          [{ minMs: START_MS, maxMs: START_MS + 20 * DAY_MS }, undefined, 100, 5_000],
        ],
      });
    });
  });

  describe(`documents of chosen lengths on ${testDatabase.name}`, () => {
    /** Reads the first page of these documents, by id and by stamp. */
    async function firstPages(documents: readonly string[], limit: number, bytesMax: number) {
      const { stores, orgId } = await open.scene(testDatabase, START_MS);
      const rows = documents.map((document, i) => ({ id: idOf(i), document }));
      const stampMs = await writeDocuments(stores.transactions, orgId, rows);
      const windows = [EVERYTHING, { minMs: stampMs, maxMs: stampMs }];
      return Promise.all(
        windows.map(async (window) => {
          const page = await stores.transactions.page({ orgId, window, limit, bytesMax });
          return { data: data(page), cursor: page.cursor };
        }),
      );
    }

    test('a page can be exactly as long as the byte limit, and ends one document earlier if it is a byte shorter', async () => {
      const texts = ['x'.repeat(500), 'ü', 'x', 'x'];
      const documents = texts.map((text, i) => documentOf(idOf(i), text));
      const three = documents.slice(0, 3).join(',');
      const bytes = Buffer.byteLength(three);
      const whole = { data: three, cursor: idOf(3) };
      expect(await firstPages(documents, 3, bytes)).toEqual([whole, whole]);
      const shorter = { data: documents.slice(0, 2).join(','), cursor: idOf(2) };
      expect(await firstPages(documents, 3, bytes - 1)).toEqual([shorter, shorter]);
    });

    test('the commas between documents count towards the byte limit', async () => {
      const documents = Array.from({ length: 101 }, (_, i) => documentOf(idOf(i), 'x'));
      // Enough for all 101 documents without commas, but not for 100 with commas.
      const bytesMax = 101 * Buffer.byteLength(documents[0] ?? '');
      const { count, ...expected } = expectedPage(
        documents.map((document, i) => ({ id: idOf(i), stampMs: START_MS, document })),
        100,
        bytesMax,
      );
      expect(count).toBeLessThan(100);
      expect(await firstPages(documents, 100, bytesMax)).toEqual([expected, expected]);
    });
  });

  describe(`the longest documents on ${testDatabase.name}`, () => {
    test('pages of the longest documents are at most 4 MiB by default', async () => {
      const { stores, orgId } = await open.scene(testDatabase);
      // Two texts of 65,536 characters, each of which takes six bytes.
      const text = '\u0001'.repeat(2 * 65_536);
      const documents = Array.from({ length: 12 }, (_, i) => documentOf(idOf(i), text));
      const rows = documents.map((document, i) => ({ id: idOf(i), document }));
      await writeDocuments(stores.transactions, orgId, rows);
      const pages: Uuid[][] = [];
      for await (const page of pagesOf(stores, { orgId, window: EVERYTHING, limit: 1_000 })) {
        expect(page.data.length).toBeLessThanOrEqual(PAGE_BYTES_MAX);
        pages.push(rowsOf(page).map(({ id }) => id));
      }
      const ids = documents.map((_, i) => idOf(i));
      expect(pages).toEqual([ids.slice(0, 5), ids.slice(5, 10), ids.slice(10)]);
    });
  });
}
