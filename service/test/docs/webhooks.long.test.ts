// The receivers in docs/webhooks.md, run as written. They receive requests that an independent implementation has signed, and
// webhooks of a real service.

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, rmdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { installPackage } from '../../../client/test/support/installed-package.ts';
import { offerbook, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { lacks } from '../support/programs.ts';
import { Sandbox } from '../support/sandbox.ts';

const GUIDE = readFileSync(join(import.meta.dir, '../../../docs/webhooks.md'), 'utf8');

/** A receiver's copy: transactions by id, and the last completeThrough. */
interface Copy {
  readonly transactions: Readonly<Record<string, unknown>>;
  readonly completeThrough: string | undefined;
}

interface Language {
  readonly name: string;
  readonly block: string;
  readonly file: string;
  readonly build?: readonly string[];
  readonly command: (port: string) => readonly string[];
  readonly isMissing: boolean;
  readonly readCopy: (folder: string) => Copy;
  /** Makes the receiver unable to store anything, and returns a function that repairs it. */
  readonly breakStore: (folder: string) => () => void;
}

const inSqlite = { readCopy: readDatabase, breakStore: rejectInserts };

const LANGUAGES: readonly Language[] = [
  {
    name: 'Node',
    block: 'js',
    file: 'receiver.mjs',
    // Node has SQLite since version 22.13; Bun has the same module.
    command: () => [
      succeeds('node', '-e', "require('node:sqlite')") ? 'node' : process.execPath,
      'receiver.mjs',
    ],
    isMissing: false,
    ...inSqlite,
  },
  {
    name: 'Python',
    block: 'python',
    file: 'receiver.py',
    command: () => ['python3', 'receiver.py'],
    isMissing: lacks('python'),
    ...inSqlite,
  },
  {
    name: 'PHP',
    block: 'php',
    file: 'receiver.php',
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
    isMissing: lacks('php'),
    ...inSqlite,
  },
  {
    name: 'Go',
    block: 'go',
    file: 'receiver.go',
    build: ['go', 'build', '-o', 'receiver', 'receiver.go'],
    command: () => ['./receiver'],
    isMissing: lacks('go'),
    readCopy: readFile,
    breakStore: blockFile,
  },
];

function succeeds(...command: string[]): boolean {
  return Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0;
}

function readDatabase(folder: string): Copy {
  using db = new Database(join(folder, 'copy.db'), { readonly: true });
  // The receiver may be writing.
  db.run('PRAGMA busy_timeout = 10000');
  const rows = db.query<{ id: string; document: string }, []>('SELECT * FROM transactions').all();
  const progress = db.query<{ complete_through: string }, []>('SELECT * FROM progress').get();
  return {
    transactions: Object.fromEntries(rows.map(({ id, document }) => [id, JSON.parse(document)])),
    completeThrough: progress?.complete_through,
  };
}

function rejectInserts(folder: string): () => void {
  const run = (statement: string) => {
    using db = new Database(join(folder, 'copy.db'));
    db.exec(statement);
  };
  run("CREATE TRIGGER full BEFORE INSERT ON transactions BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  return () => run('DROP TRIGGER full');
}

function readFile(folder: string): Copy {
  const { Transactions, CompleteThrough } = JSON.parse(readFileSync(join(folder, 'copy.json'), 'utf8'));
  return { transactions: Transactions, completeThrough: CompleteThrough };
}

function blockFile(folder: string): () => void {
  const path = join(folder, 'copy.json.new');
  mkdirSync(path);
  return () => rmdirSync(path);
}

const SECRETS = [1, 2, 3].map((n) => `whsec_${Buffer.alloc(32, n).toString('base64')}`) as [
  string,
  string,
  string,
];
/** The receivers know the first two secrets, as during a rotation, and the secret of the real service. */
const [OLD, NEW, FOREIGN] = SECRETS;

const version = (number: number, seconds: number, status: 'PENDING' | 'CONFIRMED' = 'PENDING') => ({
  ...transaction(number, { status, passbackUid: 'Zoë/☕' }),
  updatedAt: `2026-11-14T12:00:0${seconds}`,
});

function bodyOf(transactions: readonly unknown[], completeThrough: string | null): string {
  return JSON.stringify({
    type: 'transactions.changed',
    timestamp: '2026-11-14T12:00:09',
    data: { transactions, after: null, completeThrough },
  });
}

function headersOf(body: string, secrets: readonly string[], sentAtMs = Date.now()): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign('msg_1', new Date(sentAtMs), body));
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(sentAtMs / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

/** Signs with a raw key, which the independent implementation would refuse. */
function headersOfKey(body: string, key: Uint8Array): Record<string, string> {
  const sentAt = String(Math.floor(Date.now() / 1_000));
  const mac = createHmac('sha256', key).update(`msg_1.${sentAt}.${body}`).digest('base64');
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': sentAt, 'webhook-signature': `v1,${mac}` };
}

test('the guide has a receiver in each language, and this test runs each of them', () => {
  const blocks = [...GUIDE.matchAll(/^```(\w+) receiver$/gm)].map(([, language]) => language);
  expect(blocks).toEqual(LANGUAGES.map(({ block }) => block));
});

test('the commands for the sandbox register a receiver, which gets the transactions of the sandbox', async () => {
  const folder = temporaryFolder();
  await using sandbox = await Sandbox.start(folder);
  const { promise: received, resolve } = Promise.withResolvers<string>();
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      resolve(String(request.headers.get('webhook-signature')) + (await request.text()));
      return new Response(null, { status: 204 });
    },
  });
  const [, command = ''] = /^```sh sandbox\nofferbook (.*)$/m.exec(GUIDE) ?? [];
  const args = command.replace(':3000', `:${receiver.port}`).split(' ');
  const { code, stdout } = await offerbook([...args, '--json'], { cwd: folder });
  expect([code, (JSON.parse(stdout) as { secret: string }).secret]).toEqual([
    0,
    expect.stringMatching(/^whsec_/),
  ]);
  expect(await received).toMatch(/^v1,.*"type":"transactions.changed"/);
  await receiver.stop(true);
  expect(await sandbox.stop()).toMatchObject({ code: 0 });
});

/** A service that may send webhooks to this machine. */
const cwd = temporaryFolder();
await run(['migrate']);
const service = await ServerProcess.start(['--webhook-networks', '127.0.0.1'], { cwd });
afterAll(() => service[Symbol.asyncDispose]());

async function run(args: readonly string[], stdin = ''): Promise<string> {
  const { code, stdout, stderr } = await offerbook(args, { cwd, stdin });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe.each(LANGUAGES)('the receiver in $name', (language) => {
  const { name, block, file, build, command, isMissing, readCopy, breakStore } = language;
  const needed = test.skipIf(isMissing);
  const folder = temporaryFolder();
  let url = '';
  let webhook: { readonly id: string; readonly secret: string };
  let receiver: Bun.Subprocess | undefined;

  /** Starts the receiver, and waits until it responds or has exited. */
  async function start(port: string, secret: string | undefined): Promise<Bun.Subprocess> {
    const env = { ...process.env, OFFERBOOK_WEBHOOK_SECRET: secret, PORT: port };
    const started = Bun.spawn([...command(port)], { cwd: folder, env, stdout: 'ignore', stderr: 'ignore' });
    const isUp = () => fetch(`http://127.0.0.1:${port}`, { method: 'POST' }).catch(() => undefined);
    while (started.exitCode === null && !(await isUp())) await Bun.sleep(20);
    return started;
  }

  beforeAll(async () => {
    if (isMissing) return;
    const [, source = ''] = new RegExp(`^\`\`\`${block} receiver\\n(.*?)^\`\`\`$`, 'ms').exec(GUIDE) ?? [];
    await Bun.write(join(folder, file), source);
    symlinkSync(join((await installPackage()).folder, 'node_modules'), join(folder, 'node_modules'));
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}/offerbook`;
    await run(['orgs', 'create', name]);
    webhook = JSON.parse(await run(['webhooks', 'create', '--org', name, '--url', url, '--json']));
    if (build !== undefined) expect(Bun.spawnSync([...build], { cwd: folder }).stderr.toString()).toBe('');
    // A trailing space, as in a file with variables.
    receiver = await start(port, `${OLD} ${NEW} ${webhook.secret} `);
  });

  afterAll(async () => {
    receiver?.kill('SIGKILL');
    await receiver?.exited;
  });

  async function send(body: string, headers: Record<string, string>): Promise<number> {
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.text();
    return response.status;
  }

  needed('stores new transactions, replaces older versions, and keeps newer ones', async () => {
    const [first, second] = [version(1, 5), version(2, 5)];
    const page = bodyOf([first, second], null);
    expect(await send(page, headersOf(page, [OLD]))).toBe(204);
    expect(readCopy(folder)).toMatchObject({ transactions: { [first.id]: first, [second.id]: second } });
    const newer = version(2, 6, 'CONFIRMED');
    const last = bodyOf([version(1, 4, 'CONFIRMED'), newer], '2026-11-14T12:00:06');
    // Twice: the service sends a page again if the response was lost.
    for (const secrets of [[OLD], [OLD]]) expect(await send(last, headersOf(last, secrets))).toBe(204);
    expect(readCopy(folder)).toEqual({
      transactions: { [first.id]: first, [newer.id]: newer },
      completeThrough: '2026-11-14T12:00:06',
    });
  });

  needed('accepts the old secret, the new secret, and both', async () => {
    const body = bodyOf([], null);
    for (const secrets of [[OLD], [NEW], [NEW, OLD], [FOREIGN, OLD]])
      expect(await send(body, headersOf(body, secrets))).toBe(204);
  });

  needed('responds with 401 to forged and old requests, and stores nothing', async () => {
    const before = readCopy(folder);
    const forged = bodyOf([version(3, 9)], '2026-11-14T12:00:09');
    const genuine = headersOf(forged, [OLD]);
    const minute = 60_000;
    expect(await send(forged, {})).toBe(401);
    expect(await send(forged, headersOf(forged, [FOREIGN]))).toBe(401);
    expect(await send(`${forged} `, genuine)).toBe(401);
    for (const minutes of [-6, 6])
      expect(await send(forged, headersOf(forged, [OLD], Date.now() + minutes * minute))).toBe(401);
    for (const [name, value] of Object.entries(genuine)) {
      const changed = value.replace(/.$/, (last) => (last === '1' ? '2' : '1'));
      expect([name, await send(forged, { ...genuine, [name]: changed })]).toEqual([name, 401]);
      expect([name, await send(forged, { ...genuine, [name]: 'x' })]).toEqual([name, 401]);
    }
    expect(readCopy(folder)).toEqual(before);
  });

  needed('rejects messages signed with an empty key, which the trailing space must not become', async () => {
    const before = readCopy(folder);
    const body = bodyOf([version(5, 9)], '2026-11-14T12:00:09');
    expect(await send(body, headersOfKey(body, Buffer.alloc(0)))).toBe(401);
    expect(readCopy(folder)).toEqual(before);
  });

  needed.each([
    ['is not set', undefined, ''],
    ['is empty', '', ''],
    ['is only a prefix', 'whsec_', ''],
    ['is too short', 'whsec_QUJD', 'ABC'],
    ['lacks the prefix', OLD.slice(6), Buffer.alloc(32, 1)],
  ] as const)('accepts no message if the secret %s', async (_, secret, key) => {
    const before = readCopy(folder);
    const port = String(await freePort());
    const started = await start(port, secret);
    try {
      const body = bodyOf([version(6, 9)], '2026-11-14T12:00:09');
      // What a receiver would compute that removes six characters or decodes leniently.
      for (const forged of [Buffer.from(key), Buffer.alloc(0), Buffer.from(OLD.slice(12), 'base64')]) {
        const headers = headersOfKey(body, forged);
        const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body }).catch(
          () => undefined,
        );
        expect(response?.ok ?? false).toBe(false);
      }
      expect(readCopy(folder)).toEqual(before);
    } finally {
      started.kill('SIGKILL');
      await started.exited;
    }
  });

  needed('rejects bodies of a negative or an excessive length, and continues', async () => {
    for (const length of ['-1', '5000000', 'x']) {
      const { promise, resolve } = Promise.withResolvers<void>();
      let seen = '';
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port: Number(new URL(url).port),
        socket: {
          data: (socket, bytes) => {
            seen += bytes.toString();
            socket.end();
          },
          close: () => resolve(),
        },
      });
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(100)}`);
      // A receiver that waits for the announced bytes is not harmed; the client gives up.
      if (length === '5000000') socket.end();
      await promise;
      expect(seen).not.toMatch(/^HTTP\/1\.[01] 2/);
    }
    const body = bodyOf([], null);
    expect(await send(body, headersOf(body, [OLD]))).toBe(204);
  });

  needed(
    'responds with 503 if it cannot store the transactions, and stores them when they are sent again',
    async () => {
      const added = version(4, 7);
      const body = bodyOf([added], '2026-11-14T12:00:07');
      const repair = breakStore(folder);
      expect(await send(body, headersOf(body, [NEW]))).toBe(503);
      repair();
      const { completeThrough } = readCopy(folder);
      expect(completeThrough).toBe('2026-11-14T12:00:06');
      expect(await send(body, headersOf(body, [NEW]))).toBe(204);
      expect(readCopy(folder)).toMatchObject({
        transactions: { [added.id]: added },
        completeThrough: '2026-11-14T12:00:07',
      });
    },
  );

  needed('receives every change from a real service, also after its secret was rotated', async () => {
    // An id belongs to one organisation.
    const first = 100 * (1 + LANGUAGES.indexOf(language));
    const changed = async (numbers: readonly number[], status: 'PENDING' | 'CONFIRMED') => {
      const rows = numbers.map((number) => `${JSON.stringify(transaction(first + number, { status }))}\n`);
      await run(['import', 'transactions', '-', '--org', name], rows.join(''));
      const exported = (await run(['export', 'transactions', '--org', name])).trim().split('\n');
      const expected = exported.map((line) => JSON.parse(line) as { id: string; updatedAt: string });
      const through = expected.reduce((last, { updatedAt }) => (updatedAt > last ? updatedAt : last), '');
      while ((readCopy(folder).completeThrough ?? '') < through) await Bun.sleep(20);
      const { transactions } = readCopy(folder);
      expect(expected.map(({ id }) => transactions[id])).toEqual(expected);
    };
    await changed([1, 2, 3], 'PENDING');
    await changed([2, 4], 'CONFIRMED');
    await run(['webhooks', 'rotate', webhook.id, '--overlap', '1d']);
    await changed([3], 'CONFIRMED');
  });
});
