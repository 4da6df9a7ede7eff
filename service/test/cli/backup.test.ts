// backup and restore on the command line: wrong usage with PostgreSQL, and the advice that restore prints.
// docs/documents.test.ts runs them on SQLite as documented.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { makeBackup } from '../../src/storage/backup/make-backup.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { commandLine, offerbook, printed, rejected } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';

test('backup rejects PostgreSQL and refers to the guide, and restore marks a database after pg_restore', async () => {
  const env = { OFFERBOOK_DATABASE_URL: await newPostgresDatabase() };
  const { run } = commandLine(() => ({ env }));
  await run('orgs create acme');
  await run('import transactions - --org acme', { stdin: ndjson([transaction(1), transaction(2)]) });
  const target = join(temporaryFolder(), 'backup');
  for (const args of [`backup ${target}`, `restore ${target}`]) {
    expect(await run(args)).toEqual(
      rejected(
        'this command is for SQLite; back up PostgreSQL with pg_dump or WAL archiving (see docs/operations/backups.md)',
      ),
    );
  }
  await run('webhooks create --org acme --url https://partner.example/');
  expect(await run('restore --mark-only')).toEqual(
    printed(
      `2 transactions got a new stamp.\nPaused 1 webhook that may have been changed or deleted after the backup. Check: offerbook webhooks list. Then run for each of them: offerbook webhooks resume ID, or offerbook webhooks delete ID\n`,
    ),
  );
  expect((await run('restore --mark-only --json')).stdout).toBe(
    '{"stamped":2,"tokensRevoked":0,"webhooksPaused":1}\n',
  );
  for (const args of ['restore', `restore ${target} --mark-only`]) {
    expect(await run(args)).toEqual(
      rejected("specify the backup's folder, or use --mark-only without a folder"),
    );
  }
});

test('restore lists the organisations that were deleted after the backup', async () => {
  const folder = temporaryFolder();
  const [url, target] = [`sqlite:${join(folder, 'shop.db')}`, join(folder, 'backup')];
  const stores = await openStores(url, CREATE_OPTIONS);
  for (const name of ['acme', 'zeta', 'stays']) await stores.organisations.create(name);
  await makeBackup({ url, target, spoolPath: () => '', isOurs: () => true, clock: Date.now, version: '1' });
  for (const name of ['acme', 'zeta']) await stores.organisations.delete(name, { reloadMs: 0 });
  await stores.close();
  const { code, stdout } = await offerbook(['restore', target, '--replace', '--database', url]);
  expect([code, stdout.split('\n')[1]]).toEqual([
    0,
    'These organisations were deleted after the backup and are restored without valid tokens: acme, zeta. Delete them again with: offerbook orgs delete NAME',
  ]);
});
