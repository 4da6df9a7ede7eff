// Tests that need much data: `bun service/test/faults/large-main.ts --database sqlite|postgresql`. A million transactions,
// 300,000 offers, two workers, millions of expired walks. Prints each duration or size with its limit; exits with 1 if a
// limit was exceeded. The suite has a short version of each test.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LARGE, makeRetailers } from '../../../bench/large-catalogue.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { LoadedService } from '../load/loaded-service.ts';
import { offerbook, type RunOptions, spawnOfferbook } from '../support/command.ts';
import { DATABASES, removeTemporaryFolders, temporaryFolder } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { stopPostgres } from '../support/postgres-server.ts';

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'postgresql' },
    transactions: { type: 'string', default: '1000000' },
    walks: { type: 'string', default: '6500000' },
  },
});
const database = DATABASES.find(({ name }) => name.toLowerCase() === values.database.toLowerCase());
if (database === undefined) throw new Error(`there is no database ${values.database}`);
const isPostgres = database.name === 'PostgreSQL';
const databaseUrl = await database.create();
const folder = temporaryFolder();
const env = { OFFERBOOK_DATABASE_URL: databaseUrl, OFFERBOOK_RATE_LIMIT_PRIVATE: '0' };
let failed = false;

function report(what: string, value: number, max: number, unit: string): void {
  failed ||= !(value <= max);
  const line = `${what.padEnd(72)} ${value.toFixed(1).padStart(8)} ${unit}, at most ${max}`;
  process.stdout.write(`${line}${value <= max ? '' : '   MISSED'}\n`);
}

async function run(args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await offerbook(args, { env, ...options });
  if (code !== 0) throw new Error(`offerbook ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return (performance.now() - startedAtMs) / 1_000;
}

async function writeLines(name: string, lines: Iterable<unknown>): Promise<string> {
  const path = join(folder, name);
  const sink = Bun.file(path).writer();
  let count = 0;
  for (const line of lines) {
    sink.write(`${JSON.stringify(line)}\n`);
    if (++count % 10_000 === 0) await sink.flush();
  }
  await sink.end();
  return path;
}

function* transactions(status: 'PENDING' | 'CONFIRMED', last: unknown[] = []): Generator<unknown> {
  for (let n = 1; n <= Number(values.transactions); n++) yield transaction(n, { status });
  yield* last;
}

async function issue(): Promise<{ id: string; token: string }> {
  return JSON.parse(await run(['tokens', 'issue', '--org', 'acme', '--kind', 'private', '--json']));
}

/** An operator's token commands during another operation. */
async function handleTokens(): Promise<void> {
  const { id } = await issue();
  const rotated = JSON.parse(await run(['tokens', 'rotate', id, '--overlap', '0s', '--json'])) as {
    id: string;
  };
  await run(['tokens', 'revoke', rotated.id]);
}

async function refusedAfterS(
  service: LoadedService,
  { id, token }: { id: string; token: string },
): Promise<number> {
  const ask = () =>
    fetch(`${service.url}/v1/transactions/?limit=1`, { headers: { Authorization: `Bearer ${token}` } });
  if ((await ask()).status !== 200) throw new Error('the token is refused before it is revoked');
  await run(['tokens', 'revoke', id]);
  return seconds(async () => {
    // Each worker must have noticed, so several consecutive responses are checked.
    for (let refused = 0; refused < 20; refused = (await ask()).status === 401 ? refused + 1 : 0);
  });
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

async function stopWhileLoading(afterMs: number): Promise<void> {
  const server = spawnOfferbook(['serve', '--port', '0', '--workers', '2'], { env });
  void new Response(server.stdout).text();
  await Bun.sleep(afterMs);
  server.kill('SIGTERM');
  await server.exited;
  // Before the program handles signals, a signal kills it, and there is no exit code.
  if (server.exitCode !== 0 && server.exitCode !== null)
    throw new Error(`a server that was told to stop ended with ${server.exitCode}`);
}

try {
  await run(['orgs', 'create', 'acme']);
  const pending = await writeLines('pending.ndjson', transactions('PENDING'));
  const confirmed = await writeLines('confirmed.ndjson', transactions('CONFIRMED'));
  const broken = await writeLines('broken.ndjson', transactions('PENDING', [{ id: 'none' }]));
  const catalogue = await writeLines('catalogue.ndjson', makeRetailers(LARGE, Date.now()));
  const importOf = (path: string) => ['import', 'transactions', path, '--org', 'acme'];
  report('import of all transactions', await seconds(() => run(importOf(pending))), 120, 's');
  report('import of the catalogue', await seconds(() => run(['import', 'catalogue', catalogue])), 120, 's');

  const { code } = await offerbook(importOf(broken), { env });
  if (code !== 2) throw new Error(`an import with a bad row ended with ${code}`);
  if (!isPostgres) {
    const log = statSync(`${databaseUrl.replace('sqlite:', '')}-wal`, { throwIfNoEntry: false });
    report('log that a failed import leaves behind', (log?.size ?? 0) / 2 ** 20, 64, 'MB');
  }

  for (const afterMs of [100, 500, 1_000, 2_000]) {
    report(
      `stop ${afterMs} ms after the start, while loading`,
      await seconds(() => stopWhileLoading(afterMs)),
      10 + afterMs / 1_000,
      's',
    );
  }

  await using service = await LoadedService.start({ env }, ['--workers', '2']);
  const importing = run(importOf(confirmed));
  // SQLite has a single writer, so the file is locked until the import is done.
  if (isPostgres)
    report('a token issued, rotated and revoked during an import', await seconds(handleTokens), 10, 's');
  await importing;

  await run([
    'import',
    'catalogue',
    await writeLines('less.ndjson', makeRetailers({ ...LARGE, offers: LARGE.offers - 1 }, Date.now())),
  ]);
  report('revocation while the catalogue is taken up', await refusedAfterS(service, await issue()), 2, 's');

  if (isPostgres) {
    const connection = openDatabase(databaseUrl, COMMAND_OPTIONS);
    await connection.all(
      `INSERT INTO walks SELECT gen_random_uuid(), n, n, n, 0 FROM generate_series(1, $1::bigint) n`,
      Number(values.walks),
    );
    await connection.close();
  }
  const { token } = await issue();
  report('20 pages of a walk, among forgotten ones', await seconds(() => walk(service, token, 20)), 10, 's');
  report('stop', await seconds(() => service.stop()), 10, 's');
} finally {
  await stopPostgres();
  removeTemporaryFolders();
}
process.exit(failed ? 1 : 0);
