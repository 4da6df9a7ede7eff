// A pull that is killed between any two statements: the files that it leaves behind are copied before every statement, and a
// new pull continues with each copy.

import { Database as SqliteFile } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { cjCorrection, cjRecord } from '../../../feeds/test/fixture.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { PullTest, START_MS } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';

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
  const ids: string[] = [];
  await stores.transactions.read(orgId, async (batch) => {
    for (const { id } of batch) ids.push(id);
  });
  const found: Record<string, unknown[]> = {};
  for (const id of ids.sort()) {
    found[id] = (await stores.history.versions(id as Uuid)).map(({ document }) => {
      const { updatedAt: _, ...rest } = JSON.parse(document) as Record<string, unknown>;
      return rest;
    });
  }
  return found;
}

test('a pull that is killed between any two statements is continued without losing or repeating anything', async () => {
  const [sqlite] = DATABASES.filter(({ name }) => name === 'SQLite');
  if (sqlite === undefined) return;
  await using t = await PullTest.open('cj', sqlite);
  t.network.rows.push(sale(1), sale(2));
  await t.pull();
  t.nowMs += DAY_MS;
  t.network.rows.push(reversal(1), sale(3, changedAtMs));

  const path = t.url.slice('sqlite:'.length);
  const copies = new Map<bigint | number, string>();
  let statements = 0;
  const copy = () => {
    statements++;
    const files = ['', '-wal'].filter((end) => existsSync(path + end));
    const digest = Bun.hash(Buffer.concat(files.map((end) => readFileSync(path + end))));
    if (copies.has(digest)) return;
    const target = join(temporaryFolder(), 'killed.db');
    for (const end of files) copyFileSync(path + end, target + end);
    copies.set(digest, target);
  };
  {
    using _watch = watchStatements(copy);
    await using stores = closing(await openStores(t.url, COMMAND_OPTIONS, () => t.nowMs));
    expect(errorsOf(await t.pull({ startMs: 0 }, {}, stores))).toEqual([null, null]);
  }
  const expected = await versionsOf(t.stores, t.org.id);
  expect(
    Object.values(expected)
      .map((versions) => versions.length)
      .sort(),
  ).toEqual([1, 1, 2]);
  // Many statements write nothing that a killed process would leave behind.
  expect(statements).toBeGreaterThan(60);
  expect(copies.size).toBeGreaterThan(8);

  for (const target of copies.values()) {
    await using stores = closing(await openStores(`sqlite:${target}`, COMMAND_OPTIONS, () => t.nowMs));
    expect(errorsOf(await t.pull({ startMs: 0 }, {}, stores))).toEqual([null, null]);
    expect(await versionsOf(stores, t.org.id)).toEqual(expected);
  }
}, 60_000);
