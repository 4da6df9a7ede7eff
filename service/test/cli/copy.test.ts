// Copying to another database on the command line: tokens and pollers continue to work.

import { expect, test } from 'bun:test';
import { dirname, join } from 'node:path';
import { databaseName } from '../../src/activation/activation-directory.ts';
import { ClickIds } from '../../src/activation/click-id.ts';
import { currentUser } from '../../src/cli/current-user.ts';
import { spoolPath } from '../../src/cli/node/activation.ts';
import type { ClickId } from '../../src/domain/click.ts';
import { openSpool } from '../../src/storage/click-spool.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { offerbook, type RunOptions, rejected, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { retailer, transaction } from '../support/fixtures.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';

test('a poller gets the same changes from a copy as from the original', async () => {
  const env = { OFFERBOOK_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'small.db')}` };
  const run = async (args: string, options: RunOptions = {}) => {
    const { code, stdout } = await offerbook(args.split(' '), { env, ...options });
    expect(code).toBe(0);
    return stdout;
  };
  await run('orgs create acme');
  await run('import catalogue -', { stdin: ndjson([retailer(1), retailer(2)]) });
  await run('import transactions - --org acme', { stdin: ndjson([1, 2, 3].map((n) => transaction(n))) });
  const token = (await run('tokens issue --org acme --kind private')).trim();

  const clicks = await recordClicks(env.OFFERBOOK_DATABASE_URL);
  const spool = await spoolOneClick(env.OFFERBOOK_DATABASE_URL);

  const to = await newPostgresDatabase();
  const copied = await offerbook(['copy', '--json'], { env: { ...env, OFFERBOOK_TO_URL: to } });
  expect({ ...copied, stdout: JSON.parse(copied.stdout) }).toEqual({
    code: 0,
    stdout: {
      organisations: 1,
      tokens: 1,
      retailers: 2,
      transactions: 3,
      clicks: 2,
      seconds: expect.any(Number),
    },
    stderr: `offerbook: the spool ${spool} still contains 1 click; start a server on the new database with --spool ${dirname(spool)} to record them\n`,
  });
  // The copy is complete, whatever the state of the spool.
  for (const [contents, note] of [
    ['', ''],
    ['no database', `offerbook: cannot read the spool ${spool}; check it before you delete it\n`],
  ] as const) {
    await Bun.write(spool, contents);
    const copy = `sqlite:${join(temporaryFolder(), 'copy.db')}`;
    const again = await offerbook(['copy', '--to', copy], { env });
    expect([again.code, again.stderr]).toEqual([0, note]);
  }
  const target = await openStores(to);
  expect([...(await target.clicks.find(clicks)).keys()].sort()).toEqual(clicks.toSorted());
  // The file that a server of the copy opens in this spool folder.
  expect(spoolPath(dirname(spool), to, databaseName(await target.clickKey()))).toBe(spool);
  const counts = { organisations: 1, tokens: 1, retailers: 2, transactions: 3 };
  expect(await target.audit.list({ limit: 1 })).toMatchObject([
    { action: 'database copied', by: currentUser(), details: counts },
  ]);
  // The copy includes which click resulted in a sale.
  expect(await target.clicks.purge(Date.now() + 86_400_000)).toBe(1);
  await target.close();
  const answers = [];
  for (const url of [env.OFFERBOOK_DATABASE_URL, to]) {
    await using server = await ServerProcess.start([], { env: { OFFERBOOK_DATABASE_URL: url } });
    const response = await fetch(`${server.url}/v1/transactions/?limit=2`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    answers.push({
      status: response.status,
      completeThrough: response.headers.get('Complete-Through'),
      page: await response.json(),
    });
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]).toMatchObject({ status: 200, page: { data: [{}, {}] } });

  expect(await offerbook(['copy', '--to', to], { env })).toEqual(
    rejected('the target database is not empty; nothing was copied', 3),
  );
  expect(await offerbook(['copy'], { env })).toEqual(
    rejected('missing --to <url> (or OFFERBOOK_TO_URL)\n(run with --help for usage)'),
  );
});

/** Spools a click as a server does; returns the file. */
async function spoolOneClick(url: string): Promise<string> {
  const stores = await openStores(url);
  const path = spoolPath(undefined, url, databaseName(await stores.clickKey()));
  const spool = openSpool(() => path);
  const ids = new ClickIds(await stores.clickKey());
  await spool.put((await stores.clicks.list(1)).map((click) => ({ ...click, id: ids.make(1, 3) })));
  await spool.close();
  await stores.close();
  return path;
}

/** Records two clicks, one of which resulted in a sale. */
async function recordClicks(url: string): Promise<ClickId[]> {
  const stores = await openStores(url);
  const [other, sold] = [await recordClick(stores, 1), await recordClick(stores, 1)];
  await stores.clicks.markSold([sold.id]);
  await stores.close();
  return [other.id, sold.id];
}
