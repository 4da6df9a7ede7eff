// Operations that become slow with much data: a million transactions, 300,000 offers, two workers, millions of expired walks.
// Every duration and size has a limit. The suite has a short version of each test.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { LARGE, makeRetailers } from '../../../../bench/large-catalogue.ts';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../../src/storage/open-stores.ts';
import { offerbook, spawnOfferbook } from '../../support/command.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { transaction } from '../../support/fixtures.ts';
import { Node } from '../cluster/node.ts';
import { runCommand } from '../cluster/seed.ts';
import type { Scenario } from '../scenario.ts';
import { get, untilEverywhere } from '../traffic/get.ts';
import { readPage } from '../traffic/page-reader.ts';

export const large: Scenario = {
  name: 'large',
  guarantee: 'imports, starts, walks and stops with much data stay within their time limits',
  minutes: 10,
  options: {
    transactions: { type: 'string', default: '1000000', help: 'number of transactions' },
    offers: { type: 'string', default: String(LARGE.offers), help: 'number of cashback offers' },
    walks: { type: 'string', default: '6500000', help: 'number of expired walks, on PostgreSQL' },
  },
  async run(run) {
    const isPostgres = run.database.name === 'PostgreSQL';
    const databaseUrl = await run.database.create();
    const env = { OFFERBOOK_DATABASE_URL: databaseUrl };
    const command = (...args: string[]) => runCommand(args, databaseUrl);
    const folder = temporaryFolder();

    const timed = async (what: string, maxSeconds: number, work: () => Promise<unknown>) => {
      run.print(what);
      const startedAtMs = performance.now();
      await work();
      run.limit(what, (performance.now() - startedAtMs) / 1_000, maxSeconds, 's');
    };
    const transactions = function* (status: 'PENDING' | 'CONFIRMED', last: unknown[] = []) {
      for (let n = 1; n <= run.number('transactions'); n++) yield transaction(n, { status });
      yield* last;
    };
    const retailers = (fewer: number) =>
      makeRetailers({ ...LARGE, offers: run.number('offers') - fewer }, Date.now());
    const write = (name: string, rows: Iterable<unknown>) => writeLines(join(folder, name), rows);
    const importOf = (path: string) => ['import', 'transactions', path, '--org', 'acme'];
    const issue = async () =>
      JSON.parse(await command('tokens', 'issue', '--org', 'acme', '--kind', 'private', '--json')) as {
        readonly id: string;
        readonly token: string;
      };
    /** An operator's token commands during another operation. */
    const handleTokens = async () => {
      const rotated = await command('tokens', 'rotate', (await issue()).id, '--overlap', '0s', '--json');
      await command('tokens', 'revoke', (JSON.parse(rotated) as { id: string }).id);
    };

    await command('orgs', 'create', 'acme');
    const pending = await write('pending.ndjson', transactions('PENDING'));
    const confirmed = await write('confirmed.ndjson', transactions('CONFIRMED'));
    // Changes every row before it fails.
    const broken = await write('broken.ndjson', transactions('CONFIRMED', [{ id: 'none' }]));
    const catalogue = await write('catalogue.ndjson', retailers(0));
    await timed('import of all transactions', 120, () => command(...importOf(pending)));
    await timed('import of the catalogue', 120, () => command('import', 'catalogue', catalogue));

    for (const afterMs of [100, 500, 1_000, 2_000]) {
      await timed(`stop ${afterMs} ms after the start, while loading`, 10 + afterMs / 1_000, async () => {
        const exitCode = await stopWhileLoading(env, afterMs);
        run.require('a stop while loading exits with 0', exitCode === 0, exitCode);
      });
    }

    const node = run.use(await Node.start(databaseUrl, { args: ['--workers', '2'] }));
    const { code } = await offerbook(importOf(broken), { env });
    run.require('an import with an invalid row exits with 2', code === 2, code);
    // Without the node, SQLite would delete the log as soon as the import closes the file.
    if (!isPostgres) {
      const { size } = statSync(`${databaseUrl.replace('sqlite:', '')}-wal`);
      run.limit('log that a failed import leaves behind', size / 2 ** 20, 64, 'MB');
    }

    const importing = command(...importOf(confirmed));
    // SQLite has a single writer, so the file is locked until the import is done.
    if (isPostgres) await timed('a token handled during an import', 10, handleTokens);
    await importing;

    const fewer = await write('fewer.ndjson', retailers(1));
    await command('import', 'catalogue', fewer);
    const revoked = await issue();
    const url = `${node.url}/v1/transactions/?limit=1`;
    const { status: before } = await get(url, { token: revoked.token });
    run.require('a new token is accepted', before === 200, before);
    await command('tokens', 'revoke', revoked.id);
    await timed('revocation while the catalogue is reloaded', 2, () =>
      untilEverywhere(url, revoked.token, (status) => status === 401),
    );

    if (isPostgres) await addExpiredWalks(databaseUrl, run.number('walks'));
    const { token } = await issue();
    const walked = Math.min(20_000, run.number('transactions'));
    await timed(`a walk through ${walked} transactions`, 10, () => walk(node, token, walked));
    await timed('stop', 10, () => node.stop());
  },
};

async function writeLines(path: string, rows: Iterable<unknown>): Promise<string> {
  const sink = Bun.file(path).writer();
  let count = 0;
  for (const row of rows) {
    sink.write(`${JSON.stringify(row)}\n`);
    if (++count % 10_000 === 0) await sink.flush();
  }
  await sink.end();
  return path;
}

async function addExpiredWalks(databaseUrl: string, count: number): Promise<void> {
  const connection = openDatabase(databaseUrl, COMMAND_OPTIONS);
  await connection.all(
    `INSERT INTO walks SELECT gen_random_uuid(), n, n, n, n, 0 FROM generate_series(1, $1::bigint) n`,
    count,
  );
  await connection.close();
}

/** Reads pages until they contain this many transactions. */
async function walk(node: Node, token: string, count: number): Promise<void> {
  let cursor = '';
  for (let found = 0; found < count; ) {
    const page = await readPage(await node.get(`/v1/transactions/?limit=1000${cursor}`, token));
    found += page.rows.length;
    cursor = `&cursor=${page.cursor}`;
  }
}

/** Returns the exit code; 0 also if the signal came before the program handled signals and killed it. */
async function stopWhileLoading(env: Record<string, string>, afterMs: number): Promise<number> {
  const server = spawnOfferbook(['serve', '--port', '0', '--workers', '2'], { env });
  void new Response(server.stdout).text();
  await Bun.sleep(afterMs);
  server.kill('SIGTERM');
  await server.exited;
  return server.exitCode ?? 0;
}
