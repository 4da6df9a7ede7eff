// What is stored beside a transaction's document: the time of the last change at its source, so that older data never replaces
// newer data, and the retailer of the sale. Neither is ever a change for clients that poll.

import { describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { TRANSACTION_FIELDS } from '@offerbook/wire/transaction.ts';
import { recordImport } from '../../src/importer/import-report.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import { beginTimeline } from '../../src/storage/backup/new-timeline.ts';
import { CREATE_OPTIONS } from '../../src/storage/open-stores.ts';
import {
  newOrganisation,
  openTestStores,
  readAllTransactions,
  rejection,
  TEST_AUDITOR,
} from '../storage/open-test-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { id, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

const NOW_MS = Date.UTC(2026, 10, 20);
const [SHOP, OTHER_SHOP] = [id(0x901), id(0x902)];
const T = (hour: number) => `2026-11-14T${String(hour).padStart(2, '0')}:00:00`;
const FACTS = { by: 'the test', source: null, fileName: 'sales.ndjson', version: '1.0.0' };

/** Transaction 1 with the given order value and sourceUpdatedAt. */
function sale(orderValue: number, sourceUpdatedAt?: string | null, changes: object = {}) {
  const row = transaction(1, { orderValue, ...changes });
  return sourceUpdatedAt === undefined ? row : { ...row, sourceUpdatedAt };
}

/** A CSV file with one row. */
function csv(row: object): string {
  const cells = Object.values(row).map((value) => value ?? '');
  return `${Object.keys(row).join(',')}\n${cells.join(',')}\n`;
}

describe.each(DATABASES)('source times and retailers of transactions on $name', (database) => {
  const open = openTestStores();
  let nowMs = NOW_MS;
  const clock = () => nowMs++;

  async function scene() {
    const url = await database.create();
    const stores = await open.stores(url, CREATE_OPTIONS, clock);
    const org = await newOrganisation(stores);
    const load = async (rows: string | readonly object[], options: TransactionImportOptions = {}) => {
      const source = sourceFrom(typeof rows === 'string' ? rows : ndjson(rows));
      const { added, changed, unchanged, stale, invalid, notes } = await importTransactions(
        ...[stores, org, source, clock, options],
      );
      return { counts: { added, changed, unchanged, stale, invalid }, notes };
    };
    /** Imports a row, and expects that it alone is counted, as this outcome. */
    const step = async (row: object, outcome: Outcome, options: TransactionImportOptions = {}) => {
      const { counts, notes } = await load([row], options);
      expect(counts).toEqual({ added: 0, changed: 0, unchanged: 0, stale: 0, invalid: 0, [outcome]: 1 });
      expect(notes.filter((note) => note.includes('sourceUpdatedAt'))).toEqual(
        outcome === 'stale'
          ? ['1 row with an older sourceUpdatedAt than the stored transaction: not imported.']
          : [],
      );
    };
    const stored = async () => {
      const rows = await readAllTransactions(stores, org.id);
      return rows.map(({ document }) => JSON.parse(document) as Record<string, unknown>);
    };
    const retailers = async () =>
      Object.fromEntries(await stores.transactions.findRetailers([1, 2, 3].map(id)));
    return { url, stores, org, load, step, stored, retailers };
  }

  type Outcome = 'added' | 'changed' | 'unchanged' | 'stale';
  const PENDING = { status: 'PENDING' };

  test.each<[string, [row: object, Outcome][], TransactionImportOptions]>([
    [
      'an older row is skipped, counted and noted, and a row with the same or a later time is imported',
      [
        [sale(10, T(12)), 'added'],
        [sale(9, T(11)), 'stale'],
        [sale(11, T(12)), 'changed'],
        [sale(12, T(13)), 'changed'],
        [sale(11, T(12)), 'stale'],
      ],
      {},
    ],
    [
      'source times are compared with milliseconds and UTC offsets',
      [
        [sale(10, '2026-11-14T13:00:00.002+01:00'), 'added'],
        [sale(9, '2026-11-14T12:00:00.001'), 'stale'],
        [sale(9, '2026-11-14T12:00:00.002'), 'changed'],
      ],
      {},
    ],
    [
      'an older row that would reopen a decided sale is skipped, not rejected',
      [
        [sale(10, T(12), { status: 'CONFIRMED' }), 'added'],
        [sale(10, T(11), PENDING), 'stale'],
      ],
      {},
    ],
    [
      'rows without a source time are imported and keep the stored time',
      [
        [sale(10, T(12)), 'added'],
        [sale(9), 'changed'],
        [sale(8, null), 'changed'],
        [sale(7, T(11)), 'stale'],
        [sale(8, null), 'unchanged'],
      ],
      {},
    ],
    [
      'an import that preserves updatedAt skips older rows',
      [
        [{ ...sale(10, T(12)), updatedAt: T(14) }, 'added'],
        [{ ...sale(9, T(11)), updatedAt: T(14) }, 'stale'],
      ],
      { preserveUpdatedAt: true },
    ],
  ])('%s', async (_, steps, options) => {
    const { step, stored } = await scene();
    for (const [row, expected] of steps) {
      const before = await stored();
      await step(row, expected, options);
      const after = await stored();
      if (expected === 'stale' || expected === 'unchanged') expect(after).toEqual(before);
      else expect(after).toMatchObject([{ orderValue: (row as { orderValue: number }).orderValue }]);
    }
  });

  test('a newer row that would reopen a decided sale is rejected', async () => {
    const { load } = await scene();
    await load([sale(10, T(12), { status: 'CONFIRMED' })]);
    const error = await rejection(load([sale(10, T(13), PENDING)]));
    expect(error.message).toContain('status must not change from CONFIRMED back to PENDING');
  });

  test('a later source time with the same content is stored without changing the stamp, import or history', async () => {
    const { stores, org, step, stored } = await scene();
    const begin = () => stores.imports.begin({ kind: 'transactions', orgId: org.id, ...FACTS });
    const first = await begin();
    await step(sale(10), 'added', { importId: first });
    const before = await stored();
    const { id } = transaction(1);
    const versions = await stores.history.versions(id);
    for (const time of [T(11), T(13), T(12)])
      await step(sale(10, time), 'unchanged', { importId: await begin() });
    expect(await stored()).toEqual(before);
    expect(await stores.history.versions(id)).toEqual(versions);
    expect(versions.map(({ importId }) => importId)).toEqual([first]);
    await step(sale(9, T(12)), 'stale');
    await step(sale(9, T(13)), 'changed');
  });

  test('a dry run and a rejected import store neither source times nor retailers', async () => {
    const { load, step, retailers } = await scene();
    await step(sale(10, T(11)), 'added');
    const later = { ...sale(10, T(13)), retailerId: SHOP };
    await step(later, 'unchanged', { dryRun: true });
    await rejection(load([later, { id: 'x' }]));
    expect(await retailers()).toEqual({});
    await step(sale(9, T(12)), 'changed');
  });

  test('a row is invalid if its source time is malformed or more than a day in the future', async () => {
    const { stores, org, load } = await scene();
    nowMs = NOW_MS;
    expect((await rejection(load([sale(10, 'yesterday')]))).message).toContain(
      'line 1: sourceUpdatedAt must be',
    );
    expect((await rejection(load([sale(10, '2026-11-21T00:01:00')]))).message).toContain(
      'line 1: sourceUpdatedAt must not be more than a day in the future',
    );
    const loadAt = (ms: number, time: string) =>
      importTransactions(stores, org, sourceFrom(ndjson([sale(10, time)])), () => ms, {});
    const aDayAhead = '2026-11-21T00:00:00';
    expect((await rejection(loadAt(NOW_MS - 1, aDayAhead))).message).toContain(
      'more than a day in the future',
    );
    expect(await loadAt(NOW_MS, aDayAhead)).toMatchObject({ added: 1 });
  });

  test('the source time is read from CSV and is not part of the stored transaction document', async () => {
    const { load, stored } = await scene();
    expect((await load(csv(sale(10, T(12))))).counts).toMatchObject({ added: 1 });
    expect((await load(csv(sale(9, T(11))))).counts).toMatchObject({ stale: 1 });
    expect(Object.keys((await stored())[0] ?? {})).toEqual(TRANSACTION_FIELDS);
  });

  test('older rows with a click id are skipped', async () => {
    const { stores, org, step } = await scene();
    const { id: clickId } = await recordClick(stores, org.id);
    await step({ ...sale(10, T(12)), clickId }, 'added');
    await step({ ...sale(9, T(11)), clickId }, 'stale');
    await step({ ...sale(11, T(13)), clickId }, 'changed');
  });

  test('the import log counts skipped older rows', async () => {
    const { stores, org, load } = await scene();
    await load([sale(10, T(12))]);
    const source = sourceFrom(ndjson([sale(9, T(11))]));
    await recordImport(
      stores.imports,
      { kind: 'transactions', orgId: org.id, ...FACTS },
      source,
      (importId) => importTransactions(stores, org, source, clock, { importId }),
    );
    const [entry] = await stores.imports.list({ limit: 1 });
    const counts = { read: 1, added: 0, changed: 0, unchanged: 0, stale: 1, withdrawn: 0, invalid: 0 };
    expect(entry?.counts).toEqual(counts);
    const [day] = await stores.imports.days(0);
    expect(day?.counts).toEqual(counts);
  });

  test("erasing a user keeps the source times of the user's transactions", async () => {
    const { stores, org, step, stored } = await scene();
    await step(sale(10, T(12)), 'added');
    await stores.erasures.erase(org, transaction(1).passbackUid ?? '');
    await step(sale(9, T(11)), 'stale');
    expect((await stored()).map((row) => [row.orderValue, row.passbackUid])).toEqual([[10, null]]);
  });

  test('a new timeline keeps the source times of transactions', async () => {
    const { url, step } = await scene();
    await step(sale(10, T(12)), 'added');
    await beginTimeline(open.database(url), { ...TEST_AUDITOR, clock }, { keepsStamps: false, madeAt: null });
    await step(sale(9, T(11)), 'stale');
  });

  test('a row can name its retailer in any format, and the document does not contain it', async () => {
    const { load, stored, retailers } = await scene();
    await load([
      { ...transaction(1), retailerId: SHOP.toUpperCase() },
      { ...transaction(2), retailerId: null },
      transaction(3),
    ]);
    expect(await retailers()).toEqual({ [id(1)]: SHOP });
    expect((await stored()).map((document) => Object.keys(document))).toEqual(
      Array.from({ length: 3 }, () => TRANSACTION_FIELDS),
    );
    await load(csv({ ...transaction(2), retailerId: OTHER_SHOP }));
    expect(await retailers()).toEqual({ [id(1)]: SHOP, [id(2)]: OTHER_SHOP });
  });

  test('a new retailerId alone does not change the stamp, and a row without a retailerId keeps the stored one', async () => {
    const { stores, step, stored, retailers } = await scene();
    await step({ ...transaction(1), retailerId: SHOP }, 'added');
    const before = await stored();
    const versions = await stores.history.versions(id(1));
    await step({ ...transaction(1), retailerId: OTHER_SHOP }, 'unchanged');
    expect(await retailers()).toEqual({ [id(1)]: OTHER_SHOP });
    await step(transaction(1), 'unchanged');
    expect(await stored()).toEqual(before);
    expect(await stores.history.versions(id(1))).toEqual(versions);
    await step(transaction(1, { status: 'CONFIRMED' }), 'changed');
    expect(await retailers()).toEqual({ [id(1)]: OTHER_SHOP });
  });

  test('an older row does not change the retailer', async () => {
    const { load, retailers } = await scene();
    for (const [orderValue, hour, retailerId, kept] of [
      [10, 12, SHOP, SHOP],
      [10, 11, OTHER_SHOP, SHOP],
      [9, 11, OTHER_SHOP, SHOP],
      [10, 13, OTHER_SHOP, OTHER_SHOP],
      [10, 12, SHOP, OTHER_SHOP],
    ] as const) {
      await load([{ ...sale(orderValue, T(hour)), retailerId }]);
      expect(await retailers()).toEqual({ [id(1)]: kept });
    }
  });

  test('a sale with a click id gets the retailer of the click, and keeps it after the click is purged', async () => {
    const { stores, org, load, retailers } = await scene();
    const click = await recordClick(stores, org.id, { retailerId: SHOP });
    const row = { ...transaction(1), clickId: click.id, retailerId: OTHER_SHOP };
    await load([row]);
    expect(await retailers()).toEqual({ [id(1)]: SHOP });
    await stores.clicks.deleteOf(org.id);
    await load([{ ...transaction(1, { status: 'CONFIRMED' }), clickId: click.id }]);
    expect(await retailers()).toEqual({ [id(1)]: SHOP });
  });
});
