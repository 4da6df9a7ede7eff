// Compares the daily totals with a full count after any sequence of changes, and repairs totals that were tampered with.

import { describe, expect, test } from 'bun:test';
import { printJson } from '@offerbook/wire/decimal.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { STATUSES, type Transaction } from '@offerbook/wire/transaction.ts';
import fc from 'fast-check';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { DailyTotal } from '../../src/domain/transaction.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import { beginTimeline } from '../../src/storage/backup/new-timeline.ts';
import { restoreBackup } from '../../src/storage/backup/restore-backup.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { spawnWithInput } from '../support/command.ts';
import { DATABASES, type TestDatabase } from '../support/databases.ts';
import { timestamp, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';
import { untilWriting } from '../support/until-writing.ts';
import {
  backUp,
  importRows,
  interrupted,
  newOrganisation,
  openTestStores,
  readAllTransactions,
  untilWaiting,
} from './open-test-stores.ts';

const open = openTestStores();

const ORGS = ['acme', 'globex'];
const DAYS = ['0000-01-01T00:00:00', '2026-11-13T23:59:59.999', '2026-11-14T00:00:00', '9999-12-31T23:59:59'];
const AMOUNTS = [0, 0.1, 0.2, 19.99, 1e-15, 0.00001, 123_456_789.012_345, 999_999_999_999_999];

const row = fc.record({
  number: fc.integer({ min: 1, max: 12 }),
  soldAt: fc.constantFrom(...DAYS),
  currencyCode: fc.constantFrom('EUR', 'SEK'),
  orderValue: fc.constantFrom(...AMOUNTS),
  cashback: fc.constantFrom(...AMOUNTS),
  status: fc.constantFrom(...STATUSES),
  sourceUpdatedAt: fc.constantFrom(null, '2026-11-14T12:00:00', '2026-11-14T13:00:00'),
});
const org = fc.constantFrom(...ORGS);
const importStep = fc.record({
  step: fc.constant('import' as const),
  org,
  rows: fc.array(row, { minLength: 1, maxLength: 12 }),
  how: fc.constantFrom('stamped', 'stamped', 'history load', 'dry run', 'fails'),
});
const otherStep = fc.record({
  step: fc.constantFrom('erase', 'delete', 'back up', 'restore', 'copy', 'rebuild'),
  org,
  number: fc.integer({ min: 1, max: 12 }),
});
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: importStep }, { weight: 2, arbitrary: otherStep }), {
  minLength: 2,
  maxLength: 14,
});
type Step = typeof importStep | typeof otherStep extends fc.Arbitrary<infer T> ? T : never;

/** A database on which the steps are run. A restore or a copy reopens its stores. */
async function newScene(database: TestDatabase) {
  let [url, nowMs] = [await database.create(), Date.UTC(2026, 10, 15)];
  const clock = () => nowMs;
  const auditor = { clock, by: 'the test' };
  let stores = await open.stores(url, COMMAND_OPTIONS, clock);
  for (const name of ORGS) await newOrganisation(stores, name);
  let backup: string | undefined;
  const openRaw = () => closing(openDatabase(url, COMMAND_OPTIONS));

  async function importFile({ rows, how }: Extract<Step, { step: 'import' }>, to: Organisation) {
    // Rows are skipped if the id belongs to the other organisation or occurs twice, or if the status may not change back.
    const file = rows.map(({ number, soldAt, sourceUpdatedAt, ...values }) => ({
      ...transaction(number, { ...values, soldAt: timestamp(soldAt) }),
      sourceUpdatedAt,
      updatedAt: printTimestamp(nowMs - 1),
    }));
    const options: TransactionImportOptions = {
      skipInvalid: true,
      dryRun: how === 'dry run',
      preserveUpdatedAt: how === 'history load',
    };
    // The last row of an import that fails is not JSON.
    const source = sourceFrom(ndjson(file) + (how === 'fails' ? '{"id":' : ''));
    const importing = importTransactions(stores, to, source, clock, options);
    if (how === 'fails') await importing.catch(() => undefined);
    else await importing;
  }

  async function run(step: Step): Promise<void> {
    nowMs += 1_000;
    const org = await stores.organisations.find(step.org);
    if (org === undefined) throw new Error(`there is no ${step.org}`);
    switch (step.step) {
      case 'import':
        return importFile(step, org);
      case 'erase':
        await stores.erasures.erase(org, `user-${step.number}`);
        return;
      case 'delete':
        await stores.organisations.delete(step.org, { revokesTokens: true, reloadMs: 0 });
        await newOrganisation(stores, step.org);
        return;
      case 'rebuild':
        return stores.totals.rebuild();
      case 'copy': {
        const copy = await database.create();
        await copyDatabase(url, copy, auditor);
        await stores.close();
        url = copy;
        break;
      }
      case 'back up':
        if (database.name === 'SQLite') backup = await backUp(url, clock);
        return;
      case 'restore':
        if (database.name === 'PostgreSQL') {
          await using raw = openRaw();
          await beginTimeline(raw, auditor, { keepsStamps: false, madeAt: null });
        }
        if (backup === undefined) return;
        await stores.close();
        await restoreBackup({ url, source: backup, replaces: true, keepsStamps: false, auditor });
    }
    stores = await open.stores(url, COMMAND_OPTIONS, clock);
  }

  async function storedTotals(): Promise<unknown[]> {
    await using raw = openRaw();
    return await raw.all('SELECT * FROM daily_totals ORDER BY org_id, day, currency, status');
  }

  return { run, storedTotals, stores: () => stores };
}

/** Counts all transactions with integers of 15 decimals. */
async function countTotals(stores: Stores): Promise<unknown[]> {
  const groups = new Map<string, { count: number; orderValue: bigint; cashback: bigint }>();
  for (const { id } of await stores.organisations.list()) {
    for (const { document } of await readAllTransactions(stores, id)) {
      const { soldAt, currencyCode, status, orderValue, cashback } = JSON.parse(document) as Transaction;
      const key = JSON.stringify([id, soldAt.slice(0, 10), currencyCode, status]);
      const sums = groups.get(key) ?? { count: 0, orderValue: 0n, cashback: 0n };
      sums.count += 1;
      sums.orderValue += toUnits(orderValue);
      sums.cashback += toUnits(cashback);
      groups.set(key, sums);
    }
  }
  return [...groups]
    .map(([key, { count, orderValue, cashback }]) => {
      const [org_id, day, currency, status] = JSON.parse(key);
      const amounts = { order_value: printUnits(orderValue), cashback: printUnits(cashback) };
      return { org_id, day, currency, status, count, ...amounts };
    })
    .sort(
      (a, b) =>
        a.org_id - b.org_id ||
        Bun.inspect([a.day, a.currency, a.status]).localeCompare(Bun.inspect([b.day, b.currency, b.status])),
    );
}

function toUnits(value: number): bigint {
  const [whole = '', fraction = ''] = printJson(Math.abs(value)).split('.');
  return BigInt(Math.sign(value)) * BigInt(whole + fraction.padEnd(15, '0'));
}

function printUnits(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(16, '0');
  const text = `${digits.slice(0, -15)}.${digits.slice(-15)}`.replace(/\.?0+$/, '');
  return units < 0n ? `-${text}` : text;
}

async function readTotals(stores: Stores): Promise<DailyTotal[]> {
  const totals: DailyTotal[] = [];
  await stores.totals.read((batch) => {
    totals.push(...batch);
  });
  return totals;
}

describe.each(DATABASES)('daily totals on $name', (database) => {
  test('daily totals equal a full count after any sequence of imports, erasures, deletions, restores and copies', async () => {
    const property = fc.asyncProperty(steps, async (sequence) => {
      const { run, storedTotals, stores } = await newScene(database);
      for (const step of sequence) {
        await run(step);
        expect(await storedTotals()).toEqual(await countTotals(stores()));
        expect(await stores().totals.verify()).toEqual([]);
      }
    });
    await fc.assert(property, { numRuns: database.name === 'SQLite' ? 10 : 3 });
  });

  test('verification and counts skip an organisation whose deletion was interrupted', async () => {
    const { stores, org } = await open.scene(database);
    await importRows(stores, org, [transaction(1)]);
    await interrupted((onBatch) => stores.organisations.delete(org.name, { reloadMs: 0, onBatch }));
    expect(await readAllTransactions(stores, org.id)).toEqual([]);
    expect(await readTotals(stores)).toHaveLength(1);
    expect(await stores.totals.countDays('')).toEqual([]);
    expect(await stores.totals.verify()).toEqual([]);
  });

  test('verification finds tampered daily totals, and a rebuild repairs them', async () => {
    const { url, stores, org } = await open.scene(database);
    const rows = [
      transaction(1),
      transaction(2, { currencyCode: 'SEK' }),
      transaction(3, { status: 'DECLINED' }),
    ];
    await importRows(stores, org, rows);
    const other = open.database(url);
    for (const statement of [
      "UPDATE daily_totals SET cashback = '4' WHERE currency = 'EUR' AND status = 'PENDING'",
      "UPDATE daily_totals SET day = '2026-11-15' WHERE currency = 'SEK'",
    ])
      await other.all(statement);
    const differences = await stores.totals.verify();
    const summary = differences.map(({ stored, counted }) =>
      [stored, counted].map((total) => total && `${total.day} ${total.currency} ${total.cashback}`),
    );
    expect(summary).toEqual([
      ['2026-11-14 EUR 4', '2026-11-14 EUR 3.99'],
      ['2026-11-15 SEK 3.99', undefined],
      [undefined, '2026-11-14 SEK 3.99'],
    ]);
    await stores.totals.rebuild();
    expect(await stores.totals.verify()).toEqual([]);
  });

  // When an import stores its totals does not depend on the database.
  if (database !== DATABASES[0]) return;

  test('daily totals equal a full count after imports of very many days, even if killed while writing', async () => {
    const { url, stores, org } = await open.scene(database);
    const days = Array.from({ length: 11_000 }, (_, i) => printTimestamp(i * 86_400_000));
    const [old, changed] = (['PENDING', 'CONFIRMED'] as const).map((status) =>
      days.map((soldAt, i) => ndjson([transaction(i, { soldAt, status })])),
    ) as [string[], string[]];
    const load = (rows: readonly string[]) =>
      importTransactions(stores, org, sourceFrom(rows.join('')), Date.now, {});
    await load(old);
    const before = await readTotals(stores);
    expect(before).toHaveLength(11_000);
    // An import of 11,000 days has stored totals before its last row.
    for (const count of [100, 11_000]) {
      const args = ['import', 'transactions', '-', '--org', 'acme'];
      const child = spawnWithInput(args, { OFFERBOOK_DATABASE_URL: url });
      child.stdin.write(changed.slice(0, count).join(''));
      // Resolves when the import has read everything but the last 64 KiB, which stay in the open pipe.
      await child.stdin.flush();
      await untilWriting(url);
      child.kill('SIGKILL');
      await child.exited;
      expect(await readTotals(stores)).toEqual(before);
      expect(await stores.totals.verify()).toEqual([]);
    }
    await load(changed);
    expect(await stores.totals.verify()).toEqual([]);
    expect(await readTotals(stores)).toEqual(before.map((total) => ({ ...total, status: 'CONFIRMED' })));
  });
});

describe.each(DATABASES.filter(({ name }) => name === 'PostgreSQL'))('a rebuild on $name', ({ create }) => {
  test('a rebuild of the daily totals waits for a running import', async () => {
    const url = await create();
    const [stores, other] = [await open.stores(url), await open.stores(url)];
    const org = await newOrganisation(stores);
    let isRebuilt = false;
    const rebuilding = await stores.transactions.write(org.id, async () => {
      const rebuild = other.totals.rebuild().then(() => {
        isRebuilt = true;
      });
      await Promise.race([untilWaiting(open.database(url), 1), rebuild]);
      expect(isRebuilt).toBe(false);
      return { rebuild };
    });
    await rebuilding.rebuild;
    expect(isRebuilt).toBe(true);
  });
});
