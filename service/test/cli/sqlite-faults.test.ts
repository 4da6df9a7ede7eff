// SQLite faults while a server reads the file: the server keeps responding, and an import that fails prints one sentence
// and changes nothing.

import { Database as SqliteFile } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, copyFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckedRequests, startRequests, type Target } from '../chaos/traffic/checked-requests.ts';
import {
  COMMAND,
  commandLine,
  type Finished,
  rejected,
  ServerProcess,
  spawnOfferbook,
} from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { offer, retailer, transaction } from '../support/fixtures.ts';
import { SmallDisk } from '../support/small-disk.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';

const FEW = ndjson(Array.from({ length: 100 }, (_, i) => transaction(i + 1)));
/** More than fits into the free space that the tests leave on a disk. */
const MANY = ndjson(Array.from({ length: 8_000 }, (_, i) => transaction(i + 1, { status: 'CONFIRMED' })));
const IMPORT = ['import', 'transactions', '-', '--org', 'acme'];
const IS_ROOT = process.getuid?.() === 0;

/** A filled database file, copied for each test. */
const template = join(temporaryFolder(), 'offerbook.db');
let path = template;
let env = { OFFERBOOK_DATABASE_URL: `sqlite:${path}` };
let server: ServerProcess;
let traffic: CheckedRequests;
const { run } = commandLine(() => ({ env }));

await run('orgs create acme');
await run('import catalogue -', { stdin: ndjson([retailer(1, { cashbackOffers: [offer(1)] })]) });
await run(IMPORT, { stdin: FEW });
const token = async (kind: string) => (await run(`tokens issue --org acme --kind ${kind}`)).stdout.trim();
const targets: Target[] = [
  { kind: 'catalogue', path: '/v1/retailers/', token: await token('public') },
  { kind: 'transactions', path: '/v1/transactions/?limit=40', token: await token('private') },
];

function useCopyIn(folder: string): void {
  path = join(folder, 'offerbook.db');
  env = { OFFERBOOK_DATABASE_URL: `sqlite:${path}` };
  copyFileSync(template, path);
  // In one test, another user reads this file and the files that SQLite creates beside it with the same mode.
  chmodSync(path, 0o644);
}

async function serve(): Promise<void> {
  server = await ServerProcess.start([], { env: { ...env, OFFERBOOK_RATE_LIMIT_PRIVATE: '0' } });
  traffic = await startRequests(server.url, targets);
}

/** Checks that there were responses, and that all of them were correct. */
async function expectAllRight(): Promise<void> {
  await traffic.untilAnswered(10, 200);
  const answers = await traffic.stop();
  expect(answers.filter(({ status, wrong }) => status !== 200 || wrong !== undefined)).toEqual([]);
}

const exported = async () => (await run('export transactions --org acme')).stdout;

describe('an SQLite file', () => {
  beforeEach(async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    useCopyIn(folder);
    await serve();
  });

  afterEach(async () => {
    await traffic.stop();
    await server.stop('SIGKILL');
  });

  test('an import into a file that cannot grow fails and changes nothing, and reads continue', async () => {
    const before = await exported();
    const blocks = Math.ceil(statSync(path).size / 512) + 1_000;
    const child = Bun.spawn(['/bin/sh', '-c', `ulimit -f ${blocks}; exec "$0" "$@"`, COMMAND, ...IMPORT], {
      stdin: Buffer.from(MANY),
      stderr: 'pipe',
      env: { ...process.env, ...env },
    });
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
      1,
      `offerbook: ${path} cannot be read or written (disk I/O error)\n`,
    ]);
    expect(await exported()).toBe(before);
    await expectAllRight();
    expect((await run(IMPORT, { stdin: MANY })).code).toBe(0);
  });

  test('an import into a read-only file is rejected and changes nothing, and reads continue', async () => {
    const before = await exported();
    chmodSync(path, 0o444);
    expect(await importAsSomebody(FEW.replaceAll('PENDING', 'DECLINED'))).toEqual(
      rejected(`${path} is read-only; nothing was written`),
    );
    chmodSync(path, 0o644);
    expect(await exported()).toBe(before);
    await expectAllRight();
  });

  test('an import waits while another program locks the file, and reads continue', async () => {
    const other = new SqliteFile(path);
    other.run('BEGIN EXCLUSIVE');
    const child = spawnOfferbook(IMPORT, { env, stdin: MANY });
    await until(() => opens(child.pid, path));
    await expectAllRight();
    expect(child.exitCode).toBeNull();
    other.run('ROLLBACK');
    other.close();
    expect(await child.exited).toBe(0);
  });
});

// Where no disk can be mounted, the file size limit above covers this case.
test.if(await SmallDisk.canMount())('an import reports a full disk', async () => {
  await using disk = await SmallDisk.mount(2);
  useCopyIn(disk.folder);
  const before = await exported();
  expect(await run(IMPORT, { stdin: MANY })).toEqual(
    rejected(`the disk with ${path} is full; nothing was written`, 1),
  );
  expect(await exported()).toBe(before);
});

test('an import into a folder without permission reports the permission, not a missing database', async () => {
  const folder = temporaryFolder();
  useCopyIn(folder);
  chmodSync(folder, 0o000);
  expect(await importAsSomebody(FEW)).toEqual(
    rejected(
      `${path} cannot be opened: this user has no access to the file's folder; run this command as the service user`,
    ),
  );
  chmodSync(folder, 0o700);
});

/** True if the process has opened the file. */
function opens(pid: number, file: string): boolean {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((fd) => {
    try {
      return readlinkSync(join(folder, fd)) === file;
    } catch {
      return false;
    }
  });
}

/** Root can write read-only files, so another user runs the command. */
function importAsSomebody(stdin: string): Promise<Finished> {
  const somebody = IS_ROOT ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  return run(IMPORT, { stdin, command: [...somebody, COMMAND] });
}
