// Links, public ids of organisations and clicks on the command line.

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CANONICAL_UUID_PATTERN } from '@offerbook/wire/uuid.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { commandLine, rejected } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { id } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

test('orgs list prints public ids, and link imports are logged and change nothing if rejected', async () => {
  const cwd = temporaryFolder();
  const { run, json } = commandLine(() => ({ cwd }));
  const { publicId } = await json('orgs create acme');
  expect(publicId).toMatch(CANONICAL_UUID_PATTERN);
  const [header, row] = (await run('orgs list')).stdout.split('\n').map((line) => line.split(/ {2,}/));
  expect(header).toEqual(['NAME', 'ORGID', 'CREATED']);
  expect(row).toEqual(['acme', publicId, expect.any(String)]);

  writeFileSync(
    join(cwd, 'links.ndjson'),
    ndjson([{ retailerId: id(1), template: 'https://network.example/?s={click}' }]),
  );
  const imported = await run('import links links.ndjson --by me --source network');
  expect(imported.stdout).toMatch(
    /^Imported 1 link: 1 added, 0 changed, 0 unchanged, 0 withdrawn \(\d\.\d s\)\.\n$/,
  );
  const stdin = `{"dealId":"${id(2)}","template":"http://network.example/"}`;
  const bad = await run('import links - --by me', { stdin });
  expect(bad).toEqual(
    rejected(
      'line 1: template must start with https://, a host without user information, and a path\nofferbook: Nothing was imported: 1 of 1 row is invalid.',
    ),
  );
  expect(await json('imports list --kind links')).toMatchObject([
    { kind: 'links', outcome: 'refused', counts: { read: 1, added: 0, invalid: 1 } },
    {
      kind: 'links',
      outcome: 'done',
      by: 'me',
      source: 'network',
      fileName: 'links.ndjson',
      counts: { added: 1 },
    },
  ]);
});

test('purge deletes old clicks without a sale, and the audit log records it', async () => {
  const cwd = temporaryFolder();
  const { run } = commandLine(() => ({ cwd }));
  await run('orgs create acme');
  const stores = await openStores(`sqlite:${join(cwd, 'offerbook.db')}`);
  const click = (days: number) => recordClick(stores, 1, { activatedAtMs: Date.now() - days * 86_400_000 });
  const [old, sold, recent] = [await click(40), await click(40), await click(20)];
  await stores.clicks.markSold([sold.id]);
  expect((await run('activations purge --older-than 1h')).code).toBe(2);
  const purged = await run('activations purge --older-than 30d');
  expect([purged.code, purged.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^Purged 1 click made before \d{4}-\d\d-\d\dT[\d:.]+ that did not lead to a sale\.\n$/,
    ),
  ]);
  expect([...(await stores.clicks.find([old.id, sold.id, recent.id])).keys()].sort()).toEqual(
    [sold.id, recent.id].sort(),
  );
  expect((await stores.audit.list({ limit: 1 }))[0]).toMatchObject({
    action: 'clicks purged',
    details: { clicks: 1 },
  });
  await stores.close();
});
