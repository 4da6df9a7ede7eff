// Read-only commands do not change an SQLite database, its folder or a backup.

import { Database as SqliteFile } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Stores } from '../../src/domain/stores.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { COMMAND, offerbook, rejected } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { retailer, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

const IS_ROOT = process.getuid?.() === 0;

/** OUT stands for an output folder, ROWS for a file of transactions. */
const COMMANDS: readonly string[] = [
  'orgs list',
  'orgs delete acme --dry-run',
  'tokens list',
  'audit',
  'imports list',
  'pull status',
  'imports show 1',
  `transactions show ${transaction(1).id}`,
  'transactions find --passback-uid user-1',
  'transactions totals',
  'activations totals',
  'erase --org acme --passback-uid user-1 --dry-run',
  'export catalogue',
  'export transactions --org acme',
  'import transactions ROWS --org acme --dry-run',
  'backup OUT/backup',
  'copy --to sqlite:OUT/copy.db',
  'doctor --port 0',
];

/** One command for each way to open a database. */
const SOME = COMMANDS.filter((each) =>
  /^(orgs list|activations|export transactions|erase|import|doctor)/.test(each),
);

async function fill(path: string): Promise<Stores> {
  const url = `sqlite:${path}`;
  const run = (args: string, stdin: string) => offerbook([...args.split(' '), '--database', url], { stdin });
  await run('orgs create acme', '');
  await run('import catalogue -', ndjson([retailer(1)]));
  await run('import transactions - --org acme', ndjson([transaction(1), transaction(2)]));
  const stores = await openStores(url, CREATE_OPTIONS);
  const [org] = await stores.organisations.list();
  await recordClick(stores, org?.id ?? 0);
  return stores;
}

/** Names and contents of the files in a folder; only the name of a -shm file, which is shared memory. */
function filesIn(folder: string): [string, string][] {
  return readdirSync(folder)
    .sort()
    .map((name) => [
      name,
      name.endsWith('-shm') ? '' : Bun.hash(readFileSync(join(folder, name))).toString(16),
    ]);
}

async function expectUnchanged(path: string, commands = COMMANDS): Promise<void> {
  const before = filesIn(dirname(path));
  for (const command of commands) {
    const out = temporaryFolder();
    writeFileSync(join(out, 'rows.ndjson'), ndjson([transaction(3)]));
    const args = command.replaceAll('OUT', out).replaceAll('ROWS', join(out, 'rows.ndjson')).split(' ');
    const { code, stderr } = await offerbook([...args, '--database', `sqlite:${path}`], { cwd: out });
    expect([command, code, code === 0 ? '' : stderr]).toEqual([command, 0, '']);
    expect([command, ...filesIn(dirname(path))]).toEqual([command, ...before]);
  }
}

test('read-only commands do not change a backup, which can still be restored afterwards', async () => {
  const folder = temporaryFolder();
  const [path, target] = [join(folder, 'shop.db'), join(folder, 'backup')];
  const stores = await fill(path);
  await offerbook(['backup', target, '--database', `sqlite:${path}`]);
  await stores.close();
  await expectUnchanged(join(target, 'offerbook.db'), SOME);
  const restored = await offerbook(['restore', target, '--replace', '--database', `sqlite:${path}`]);
  expect(restored.code).toBe(0);
});

test('read-only commands do not change a database that is not in use, with and without clicks', async () => {
  const path = join(temporaryFolder(), 'shop.db');
  await (await fill(path)).close();
  await expectUnchanged(path);
  // Without the file of clicks.
  const withoutClicks = join(temporaryFolder(), 'shop.db');
  copyFileSync(path, withoutClicks);
  await expectUnchanged(withoutClicks, SOME);
});

test('read-only commands do not change a database that another process has open', async () => {
  const path = join(temporaryFolder(), 'shop.db');
  const stores = await fill(path);
  await stores.organisations.create('late');
  expect(readdirSync(dirname(path))).toContain('shop.db-wal');
  await expectUnchanged(path);
  await stores.close();
});

test('read-only commands read the WAL of a killed server without changing it', async () => {
  const [path, copy] = [join(temporaryFolder(), 'shop.db'), join(temporaryFolder(), 'shop.db')];
  const stores = await fill(path);
  await stores.organisations.create('late');
  for (const name of readdirSync(dirname(path)))
    copyFileSync(join(dirname(path), name), join(dirname(copy), name));
  await stores.close();
  // A dry run writes and rolls back, so SQLite first recovers the WAL of the killed server.
  await expectUnchanged(
    copy,
    SOME.filter((command) => !command.startsWith('import')),
  );
  const { stdout } = await offerbook(['orgs', 'list', '--json', '--database', `sqlite:${copy}`]);
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(['acme', 'late']);
});

test.if(IS_ROOT && Bun.which('setpriv') !== null)(
  'read-only commands work in a folder without write permission',
  async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    const path = join(folder, 'read only?#%', 'shop.db');
    mkdirSync(dirname(path));
    await (await fill(path)).close();
    for (const name of readdirSync(dirname(path))) chmodSync(join(dirname(path), name), 0o444);
    const before = filesIn(dirname(path));
    const command = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', COMMAND];
    for (const args of ['orgs list --json', 'activations totals --json', 'transactions totals --json']) {
      const { code, stderr } = await offerbook([...args.split(' '), '--database', `sqlite:${path}`], {
        command,
      });
      expect([args, code, stderr]).toEqual([args, 0, '']);
    }
    expect(filesIn(dirname(path))).toEqual(before);
  },
);

test('read-only commands do not migrate or change a database with an older schema', async () => {
  const path = join(temporaryFolder(), 'shop.db');
  const stores = await openStores(`sqlite:${path}`, CREATE_OPTIONS);
  await stores.close();
  const file = new SqliteFile(path);
  file.run('UPDATE schema_version SET version = version - 1');
  file.close();
  const before = filesIn(dirname(path));
  for (const args of [
    ['orgs', 'list'],
    ['export', 'catalogue'],
    ['copy', '--to', `sqlite:${path}-copy`],
  ])
    expect(await offerbook([...args, '--database', `sqlite:${path}`])).toEqual(
      rejected(new RegExp(`^offerbook: the database at ${path} was created by a development version`)),
    );
  expect(filesIn(dirname(path))).toEqual(before);
});
