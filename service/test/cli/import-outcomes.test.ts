// What imports that did not succeed leave behind: in doctor, after a restore, and in the messages of migrate.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Check } from '../../src/health/check.ts';
import { versionOf } from '../../src/storage/schema/schema.ts';
import { SQLITE_MAIN } from '../../src/storage/sqlite/sqlite-schemas.ts';
import { openTestStores } from '../storage/open-test-stores.ts';
import { offerbook } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';

const commands = (url: string) => (args: string, stdin?: string) =>
  offerbook([...args.split(' '), '--database', url], stdin === undefined ? {} : { stdin });

async function checksOf(run: ReturnType<typeof commands>) {
  const { checks } = JSON.parse((await run('doctor --port 0 --json')).stdout) as { checks: Check[] };
  return (name: string) => checks.find(({ check }) => check === name);
}

test.each(DATABASES.map((it) => [it.name, it] as const))(
  'on %s, an import that was refused because --org is missing leaves no feed that never succeeded',
  async (_, database) => {
    const run = commands(await database.create());
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

describe('a backup that was made during an import', () => {
  const open = openTestStores();

  test('is restored without the open import, with the reason in the import log', async () => {
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
});

test('migrate prints whether it created the database or found it up to date', async () => {
  const now = versionOf(SQLITE_MAIN);
  const run = commands(`sqlite:${join(temporaryFolder(), 'new.db')}`);
  expect((await run('migrate')).stdout).toBe(`Created the database, with schema version ${now}.\n`);
  expect((await run('migrate')).stdout).toBe(`The database is up to date: schema version ${now}.\n`);
  expect(JSON.parse((await run('migrate --json')).stdout)).toEqual({ from: now, to: now });
});
