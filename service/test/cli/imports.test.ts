// Imports that fail, are killed or run on a machine with a wrong clock, what they leave behind, and the messages of migrate.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { SQL } from 'bun';
import type { Check } from '../../src/health/check.ts';
import { versionOf } from '../../src/storage/schema/schema.ts';
import { SQLITE_MAIN } from '../../src/storage/sqlite/sqlite-schemas.ts';
import { openTestStores } from '../storage/open-test-stores.ts';
import { offerbook, spawnWithInput } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { untilWriting } from '../support/until-writing.ts';

const SALES = join(import.meta.dir, '../../../examples/data/transactions.csv');

const commands = (url: string) => (args: string, stdin?: string) =>
  offerbook([...args.split(' '), '--database', url], stdin === undefined ? {} : { stdin });

async function checksOf(run: ReturnType<typeof commands>) {
  const { checks } = JSON.parse((await run('doctor --port 0 --json')).stdout) as { checks: Check[] };
  return (name: string) => checks.find(({ check }) => check === name);
}

test.each(DATABASES)(
  'on $name, an import that was refused because --org is missing leaves no feed that never succeeded',
  async ({ create }) => {
    const run = commands(await create());
    await run('orgs create acme');
    const row = JSON.stringify(transaction(1));
    expect((await run('import transactions -', row)).code).toBe(2);
    expect((await run('import transactions - --org acme', row)).code).toBe(0);
    expect((await checksOf(run))('import of transactions')).toEqual({
      check: 'import of transactions',
      state: 'ok',
      found: expect.stringMatching(/^of "acme" succeeded 0 minutes ago, at \S+$/),
    });
    // The import log still has the refused import.
    expect(JSON.parse((await run('imports list --json')).stdout)).toMatchObject([
      { outcome: 'done' },
      { outcome: 'refused' },
    ]);
  },
);

const open = openTestStores();

test('a backup that was made during an import is restored without its rows, and its log entry has the reason', async () => {
  const folder = temporaryFolder();
  const url = `sqlite:${join(folder, 'shop.db')}`;
  const run = commands(url);
  await run('orgs create acme');
  const stores = await open.stores(url);
  const [org] = await stores.organisations.list();
  const origin = { by: 'test', source: 'awin', fileName: 'sales.csv', version: '1' };
  await stores.imports.begin({ kind: 'transactions', orgId: org?.id ?? 0, ...origin });
  await stores.close();
  expect((await run(`backup ${folder}/backup`)).code).toBe(0);
  expect((await run(`restore ${folder}/backup --replace`)).code).toBe(0);
  expect((await checksOf(run))('write lock')).toEqual({ check: 'write lock', state: 'ok', found: 'free' });
  expect((await run('imports show 1')).stdout).toContain(
    'unfinished: the database was restored from a backup that was made during this import',
  );
});

test('migrate prints whether it created the database or found it up to date', async () => {
  const now = versionOf(SQLITE_MAIN);
  const run = commands(`sqlite:${join(temporaryFolder(), 'new.db')}`);
  expect((await run('migrate')).stdout).toBe(`Created the database, with schema version ${now}.\n`);
  expect((await run('migrate')).stdout).toBe(`The database is up to date: schema version ${now}.\n`);
  expect(JSON.parse((await run('migrate --json')).stdout)).toEqual({ from: now, to: now });
});

for (const database of DATABASES) {
  const signals = [
    'SIGKILL',
    ...(database === DATABASES[0] ? (['SIGINT', 'SIGTERM'] as const) : []),
  ] as const;
  test.each(signals)(`on ${database.name}, %s during an import leaves all data unchanged`, async (signal) => {
    const url = await database.create();
    const run = commands(url);
    const load = 'import transactions - --org acme';
    await run('orgs create acme');
    await run(load, ndjson([transaction(1)]));
    const before = await run('export transactions --org acme');

    const child = spawnWithInput(load.split(' '), { OFFERBOOK_DATABASE_URL: url });
    // Enough rows for several batches, and the pipe stays open, so the import cannot finish.
    const rows = Array.from({ length: 5_000 }, (_, i) => transaction(i + 1, { status: 'CONFIRMED' }));
    child.stdin.write(ndjson(rows));
    await child.stdin.flush();
    await untilWriting(url);
    child.kill(signal);
    expect(await child.exited).not.toBe(0);
    expect(await run('export transactions --org acme')).toEqual(before);
    // No lock remains.
    const again = await run(`${load} --json`, ndjson(rows.slice(0, 1)));
    expect([again.code, JSON.parse(again.stdout).changed]).toEqual([0, 1]);
  });
}

// A function in the search path overrides PostgreSQL's own clock function.
test("an import warns if its clock is ahead of the database's, but not if it is correct or behind", async () => {
  const url = await newPostgresDatabase();
  const env = { OFFERBOOK_DATABASE_URL: `${url}?search_path=public,pg_catalog` };
  await using sql = new SQL(url);
  const setDatabaseClock = (seconds: number) =>
    sql.unsafe(`CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                AS $$ SELECT pg_catalog.clock_timestamp() + make_interval(secs => ${seconds}) $$`);
  const run = (args: string) => offerbook(args.split(' '), { env });
  await run('orgs create acme');
  const importSales = async () => {
    const { code, stderr } = await run(`import transactions ${SALES} --org acme`);
    return { code, stderr };
  };
  expect(await importSales()).toEqual({ code: 0, stderr: '' });
  await setDatabaseClock(3_600);
  expect(await importSales()).toEqual({ code: 0, stderr: '' });
  await setDatabaseClock(-3_600);
  expect(await importSales()).toEqual({
    code: 0,
    stderr: expect.stringMatching(
      /^offerbook: this machine's clock is 3[56]\d\d s ahead of the database's\. This import and all later imports get stamps in the future; synchronise the clock\.\n$/,
    ),
  });
});
