// Compares the daily totals with a full count after any sequence of changes, and repairs totals that were tampered with.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { printJson } from '@offerbook/wire/decimal.ts';
import { type ImportSource, sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { STATUSES, type Transaction } from '@offerbook/wire/transaction.ts';
import fc from 'fast-check';
import type { Stores } from '../../src/domain/stores.ts';
import type { DailyTotal } from '../../src/domain/transaction.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import type { TransactionImportOptions } from '../../src/importer/transaction-load.ts';
import { makeBackup } from '../../src/storage/backup/make-backup.ts';
import { beginTimeline } from '../../src/storage/backup/new-timeline.ts';
import { restoreBackup } from '../../src/storage/backup/restore-backup.ts';
import { copyDatabase } from '../../src/storage/copy-database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { spawnWithInput } from '../support/command.ts';
import { DATABASES, type TestDatabase, temporaryFolder } from '../support/databases.ts';
import { timestamp, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';
import { untilWriting } from '../support/until-writing.ts';
import {
  importRows,
  newOrganisation,
  openTestStores,
  readAllTransactions,
  rejection,
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
class Scene {
  readonly #database: TestDatabase;
  #url = '';
  #nowMs = Date.UTC(2026, 10, 15);
  #stores: Stores | undefined;
  #backup: string | undefined;

  constructor(database: TestDatabase) {
    this.#database = database;
  }

  async open(url: string): Promise<void> {
    await this.#stores?.close();
    this.#url = url;
    this.#stores = await openStores(url, CREATE_OPTIONS, this.#clock);
    const known = (await this.#stores.organisations.list()).map(({ name }) => name);
    for (const name of ORGS) if (!known.includes(name)) await newOrganisation(this.#stores, name);
  }

  async run(step: Step): Promise<void> {
    this.#nowMs += 1_000;
    const stores = this.stores;
    const found = (await stores.organisations.list()).find(({ name }) => name === step.org);
    if (found === undefined) throw new Error(`there is no ${step.org}`);
    const auditor = { clock: this.#clock, by: 'the test' };
    switch (step.step) {
      case 'import':
        return this.#import(step);
      case 'erase':
        await stores.erasures.erase(found, `user-${step.number}`);
        return;
      case 'delete':
        await stores.organisations.delete(step.org, { revokesTokens: true, reloadMs: 0 });
        await newOrganisation(stores, step.org);
        return;
      case 'rebuild':
        return stores.totals.rebuild();
      case 'copy': {
        const url = await this.#database.create();
        await copyDatabase(this.#url, url, auditor);
        return this.open(url);
      }
      case 'back up':
        if (this.#database.name === 'SQLite') await this.#makeBackup();
        return;
      case 'restore':
        if (this.#database.name === 'PostgreSQL') {
          await using database = closing(openDatabase(this.#url, COMMAND_OPTIONS));
          await beginTimeline(database, auditor, { keepsStamps: false, madeAt: null });
        } else if (this.#backup !== undefined) {
          await stores.close();
          this.#stores = undefined;
          const options = { replaces: true, keepsStamps: false, auditor };
          await restoreBackup({ url: this.#url, source: this.#backup, ...options });
          await this.open(this.#url);
        }
        return;
    }
  }

  get stores(): Stores {
    if (this.#stores === undefined) throw new Error('not open');
    return this.#stores;
  }

  async storedTotals(): Promise<unknown[]> {
    await using database = closing(openDatabase(this.#url, COMMAND_OPTIONS));
    return await database.all('SELECT * FROM daily_totals ORDER BY org_id, day, currency, status');
  }

  async close(): Promise<void> {
    await this.#stores?.close();
  }

  readonly #clock = () => this.#nowMs;

  async #import({ org: name, rows, how }: Extract<Step, { step: 'import' }>): Promise<void> {
    const found = (await this.stores.organisations.list()).find((each) => each.name === name);
    // Rows are skipped if the id belongs to the other organisation or occurs twice, or if the status may not change back.
    const file = rows.map(({ number, soldAt, sourceUpdatedAt, ...values }) => ({
      ...transaction(number, { ...values, soldAt: timestamp(soldAt) }),
      sourceUpdatedAt,
      updatedAt: printTimestamp(this.#nowMs - 1),
    }));
    const options: TransactionImportOptions = {
      skipInvalid: true,
      dryRun: how === 'dry run',
      preserveUpdatedAt: how === 'history load',
    };
    const source = how === 'fails' ? failingAfter(ndjson(file)) : sourceFrom(ndjson(file));
    const importing = importTransactions(this.stores.transactions, found, source, this.#clock, options);
    if (how === 'fails') await importing.catch(() => undefined);
    else await importing;
  }

  async #makeBackup(): Promise<void> {
    this.#backup = join(temporaryFolder(), 'backup');
    const spoolPath = () => join(temporaryFolder(), 'spool.db');
    const options = { isOurs: () => true, clock: this.#clock, version: '1.2.3' };
    await makeBackup({ url: this.#url, target: this.#backup, spoolPath, ...options });
  }
}

/** A source whose last row is not JSON. */
function failingAfter(text: string): ImportSource {
  return sourceFrom(`${text}{"id":`);
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
      const scene = new Scene(database);
      try {
        await scene.open(await database.create());
        for (const step of sequence) {
          await scene.run(step);
          expect(await scene.storedTotals()).toEqual(await countTotals(scene.stores));
          expect(await scene.stores.totals.verify()).toEqual([]);
        }
      } finally {
        await scene.close();
      }
    });
    await fc.assert(property, { numRuns: database.name === 'SQLite' ? 10 : 3 });
  });

  test('verification and counts skip an organisation whose deletion was interrupted', async () => {
    const { stores, org } = await open.scene(database);
    await importRows(stores, org, [transaction(1)]);
    const onBatch = () => {
      throw new Error('interrupted');
    };
    await rejection(stores.organisations.delete(org.name, { reloadMs: 0, onBatch }));
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
      importTransactions(stores.transactions, org, sourceFrom(rows.join('')), Date.now, {});
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
