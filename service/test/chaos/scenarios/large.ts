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
import { issueToken, runCommand } from '../cluster/commands.ts';
import { LoadedService } from '../cluster/loaded-service.ts';
import { BOTH, type Scenario } from '../scenario.ts';

/** Consecutive responses after which every worker has noticed a revocation. */
const REJECTED_IN_A_ROW = 20;

export const large: Scenario = {
  name: 'large',
  summary: 'Imports, loads, walks and stops with much data; each must stay within its time limit.',
  databases: BOTH,
  minutes: 10,
  options: {
    transactions: { type: 'string', default: '1000000', help: 'number of transactions' },
    offers: { type: 'string', default: String(LARGE.offers), help: 'number of cashback offers' },
    walks: { type: 'string', default: '6500000', help: 'number of expired walks, on PostgreSQL' },
    busy: { type: 'boolean', help: 'report times without checking their limits' },
  },
  async run(run) {
    const isPostgres = run.database.name === 'PostgreSQL';
    const databaseUrl = await run.database.create();
    const env = { OFFERBOOK_DATABASE_URL: databaseUrl, OFFERBOOK_RATE_LIMIT_PRIVATE: '0' };
    const folder = temporaryFolder();

    const limit = (what: string, value: number, max: number, unit: string) => {
      run.print(`${what}: ${value.toFixed(1)} ${unit}`);
      run.row({ what, value: value.toFixed(1), 'at most': max, unit });
      if (!run.flag('busy') || unit !== 's') run.require(what, value <= max, `${value} ${unit}`);
    };
    const timed = async (what: string, maxSeconds: number, work: () => Promise<unknown>) => {
      const startedAtMs = performance.now();
      await work();
      limit(what, (performance.now() - startedAtMs) / 1_000, maxSeconds, 's');
    };
    const transactions = function* (status: 'PENDING' | 'CONFIRMED', last: unknown[] = []) {
      for (let n = 1; n <= run.number('transactions'); n++) yield transaction(n, { status });
      yield* last;
    };
    const retailers = (fewer: number) =>
      makeRetailers({ ...LARGE, offers: run.number('offers') - fewer }, Date.now());
    const write = (name: string, rows: Iterable<unknown>) => writeLines(join(folder, name), rows);
    const importOf = (path: string) => ['import', 'transactions', path, '--org', 'acme'];

    await runCommand(['orgs', 'create', 'acme'], env);
    const pending = await write('pending.ndjson', transactions('PENDING'));
    const confirmed = await write('confirmed.ndjson', transactions('CONFIRMED'));
    const broken = await write('broken.ndjson', transactions('PENDING', [{ id: 'none' }]));
    const catalogue = await write('catalogue.ndjson', retailers(0));
    await timed('import of all transactions', 120, () => runCommand(importOf(pending), env));
    await timed('import of the catalogue', 120, () => runCommand(['import', 'catalogue', catalogue], env));

    const { code } = await offerbook(importOf(broken), { env });
    run.require('an import with an invalid row exits with 2', code === 2, code);
    if (!isPostgres) {
      const log = statSync(`${databaseUrl.replace('sqlite:', '')}-wal`, { throwIfNoEntry: false });
      limit('log that a failed import leaves behind', (log?.size ?? 0) / 2 ** 20, 64, 'MB');
    }
    for (const afterMs of [100, 500, 1_000, 2_000]) {
      await timed(`stop ${afterMs} ms after the start, while loading`, 10 + afterMs / 1_000, async () => {
        const exitCode = await stopWhileLoading(env, afterMs);
        run.require('a stop while loading exits with 0', exitCode === 0, exitCode);
      });
    }

    await using service = await LoadedService.start({ env }, ['--workers', '2']);
    const importing = runCommand(importOf(confirmed), env);
    // SQLite has a single writer, so the file is locked until the import is done.
    if (isPostgres) await timed('a token handled during an import', 10, () => handleTokens(env));
    await importing;

    const fewer = await write('fewer.ndjson', retailers(1));
    await runCommand(['import', 'catalogue', fewer], env);
    const revoked = await issueToken('private', env);
    const status = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}` };
      return (await fetch(`${service.url}/v1/transactions/?limit=1`, { headers })).status;
    };
    const before = await status(revoked.token);
    run.require('a new token is accepted', before === 200, before);
    await runCommand(['tokens', 'revoke', revoked.id], env);
    await timed('revocation while the catalogue is reloaded', 2, async () => {
      for (let inARow = 0; inARow < REJECTED_IN_A_ROW; )
        inARow = (await status(revoked.token)) === 401 ? inARow + 1 : 0;
    });

    if (isPostgres) await addExpiredWalks(databaseUrl, run.number('walks'));
    const { token } = await issueToken('private', env);
    await timed('20 pages of a walk, among expired ones', 10, () => walk(service, token, 20));
    await timed('stop', 10, () => service.stop());
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

/** An operator's token commands during another operation. */
async function handleTokens(env: Record<string, string>): Promise<void> {
  const { id } = await issueToken('private', env);
  const rotated = await runCommand(['tokens', 'rotate', id, '--overlap', '0s', '--json'], env);
  await runCommand(['tokens', 'revoke', (JSON.parse(rotated) as { id: string }).id], env);
}

async function addExpiredWalks(databaseUrl: string, count: number): Promise<void> {
  const connection = openDatabase(databaseUrl, COMMAND_OPTIONS);
  await connection.all(
    `INSERT INTO walks SELECT gen_random_uuid(), n, n, n, n, 0 FROM generate_series(1, $1::bigint) n`,
    count,
  );
  await connection.close();
}

async function walk(service: LoadedService, token: string, pages: number): Promise<void> {
  let cursor = '';
  for (let page = 0; page < pages; page++) {
    const response = await fetch(`${service.url}/v1/transactions/?limit=1000${cursor}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    if (response.status !== 200) throw new Error(`page ${page}: ${response.status} ${await response.text()}`);
    cursor = `&cursor=${((await response.json()) as { cursor: string }).cursor}`;
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
