// Pulls that are killed between any two statements: the files that they leave behind are copied before every statement.

import { Database as SqliteFile } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { cjCorrection, cjRecord } from '../../../feeds/test/fixture.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { StreamReport } from '../../src/pull/source-run.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { readAllTransactions } from '../storage/open-test-stores.ts';
import { DATABASES, type TestDatabase, temporaryFolder } from '../support/databases.ts';
import { storedOffers } from './catalogue-truth.ts';
import { PullTest, START_MS } from './fixture.ts';
import { errorsOf, type PullRig } from './pull-rig.ts';
import { Shops } from './shops.ts';

const soldAtMs = START_MS - 3 * DAY_MS;
const changedAtMs = START_MS + DAY_MS / 2;
const DATES = { eventDate: '2026-11-17T00:00:00Z', clickDate: '2026-11-16T23:00:00Z' };

const sale = (n: number, atMs = soldAtMs) => ({
  row: cjRecord({
    ...{ ...DATES, commissionId: `29${n}`, originalActionId: String(1_700 + n) },
    postingDate: new Date(atMs).toISOString(),
  }),
  times: { posting: atMs },
});
const reversal = (n: number) => ({
  row: cjCorrection({
    ...{ ...DATES, commissionId: `30${n}`, originalActionId: String(1_700 + n) },
    postingDate: new Date(changedAtMs).toISOString(),
  }),
  times: { posting: changedAtMs },
});

/** Calls `onStatement` before every statement of every SQLite file, until disposed. */
function watchStatements(onStatement: () => void): Disposable {
  const { prepare } = SqliteFile.prototype;
  SqliteFile.prototype.prepare = function (this: SqliteFile, ...args: Parameters<typeof prepare>) {
    const statement = prepare.apply(this, args);
    for (const name of ['all', 'run', 'get'] as const) {
      const call = statement[name].bind(statement) as (...params: unknown[]) => unknown;
      Object.assign(statement, {
        [name]: (...params: unknown[]) => {
          onStatement();
          return call(...params);
        },
      });
    }
    return statement;
  } as typeof prepare;
  return {
    [Symbol.dispose]() {
      SqliteFile.prototype.prepare = prepare;
    },
  };
}

/** All versions of all transactions, without their stamps. */
async function versionsOf(stores: Stores, orgId: number): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const { id } of await readAllTransactions(stores, orgId)) {
    found[id] = (await stores.history.versions(id)).map(({ document }) => {
      const { updatedAt: _, ...rest } = JSON.parse(document) as Record<string, unknown>;
      return rest;
    });
  }
  return found;
}

/** Runs a pull, and returns the URLs of all different databases that it would leave behind if it were killed. */
async function databasesDuring(
  rig: PullRig,
  pull: (stores: Stores) => Promise<StreamReport[]>,
): Promise<string[]> {
  const path = rig.url.slice('sqlite:'.length);
  const copies = new Map<bigint | number, string>();
  const copy = () => {
    const files = ['', '-wal'].filter((end) => existsSync(path + end));
    const digest = Bun.hash(Buffer.concat(files.map((end) => readFileSync(path + end))));
    if (copies.has(digest)) return;
    const target = join(temporaryFolder(), 'killed.db');
    for (const end of files) copyFileSync(path + end, target + end);
    copies.set(digest, `sqlite:${target}`);
  };
  using _watch = watchStatements(copy);
  await using stores = closing(await openStores(rig.url, COMMAND_OPTIONS, () => rig.nowMs));
  const reports = await pull(stores);
  expect(errorsOf(reports)).toEqual(reports.map(() => null));
  return [...copies.values()];
}

const [SQLITE] = DATABASES.filter(({ name }) => name === 'SQLite');

test.skipIf(SQLITE === undefined)(
  'a pull of sales that is killed between any two statements is continued without losing or repeating anything',
  async () => {
    await using t = await PullTest.open('cj', SQLITE as TestDatabase);
    t.network.rows.push(sale(1), sale(2));
    await t.pull();
    t.nowMs += DAY_MS;
    t.network.rows.push(reversal(1), sale(3, changedAtMs));
    const pull = (stores: Stores) => t.pull({ startMs: 0 }, {}, stores);
    const databases = await databasesDuring(t, pull);
    // Many statements write nothing that a killed process would leave behind.
    expect(databases.length).toBeGreaterThan(8);
    const expected = await versionsOf(t.stores, t.org.id);
    const counts = Object.values(expected).map((versions) => versions.length);
    expect(counts.sort()).toEqual([1, 1, 2]);
    for (const url of databases) {
      await using stores = closing(await openStores(url, COMMAND_OPTIONS, () => t.nowMs));
      expect(errorsOf(await pull(stores))).toEqual([null, null]);
      expect(await versionsOf(stores, t.org.id)).toEqual(expected);
    }
  },
  60_000,
);

test.skipIf(SQLITE === undefined)(
  'a pull of a catalogue that is killed between any two statements leaves the old catalogue or the new one, with its state',
  async () => {
    await using shops = await Shops.open(SQLITE as TestDatabase);
    await shops.pull('awin');
    const snapshot = async (stores: Stores) => ({
      offered: await storedOffers(stores),
      state: (await stores.pulls.list()).map(({ completeThroughMs }) => completeThroughMs),
    });
    const before = await snapshot(shops.stores);
    shops.nowMs += DAY_MS;
    const databases = await databasesDuring(shops, (stores) => shops.pull('awin', {}, stores));
    const after = await snapshot(shops.stores);
    expect(after.offered).toEqual(shops.truth('awin'));
    expect(after.offered).not.toEqual(before.offered);
    const found = [];
    for (const url of databases) {
      await using stores = closing(await openStores(url, COMMAND_OPTIONS, () => shops.nowMs));
      found.push(await snapshot(stores));
    }
    const isNew = found.map((each) => Bun.deepEquals(each, after));
    expect(found).toEqual(isNew.map((is) => (is ? after : before)));
    expect(new Set(isNew)).toEqual(new Set([false, true]));
  },
);
