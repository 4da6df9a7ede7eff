// offerbook serve as a process: settings, readiness, draining, workers, and long URLs.

import { beforeEach, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { join } from 'node:path';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { listen } from '../../src/cli/node/listen.ts';
import { readServeSettings } from '../../src/config.ts';
import { digestToken, newTokenText } from '../../src/domain/access-token.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { newOrganisation } from '../storage/open-test-stores.ts';
import { offerbook, rejected, ServerProcess, spawnOfferbook } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { leakWatch } from '../support/leak-watch.ts';
import { freePort } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { isOk, SOON_MS, until } from '../support/until.ts';

let database: string;
let token: string;

async function seed(url: string): Promise<void> {
  database = url;
  const stores = await openStores(url, CREATE_OPTIONS);
  const { id: orgId } = await newOrganisation(stores);
  token = newTokenText('public');
  leakWatch.noteToken(token);
  const digest = digestToken(token);
  await stores.tokens.add({ orgId, kind: 'public', label: '', digest, expiresAtMs: null });
  const rows = Array.from({ length: 3 }, (_, i) => retailer(i + 1, { cashbackOffers: [offer(i + 11)] }));
  await importCatalogue(stores.catalogue, sourceFrom(ndjson(rows)), {});
  await stores.close();
}

beforeEach(() => seed(`sqlite:${join(temporaryFolder(), 'serve.db')}`));

const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers: { Authorization: `Bearer ${token}`, ...headers } });

test('serve returns imported data and reads settings from flags and variables; flags, even empty ones, take precedence, in workers too', async () => {
  const variables = { PAGE_SIZE: '1', RATE_LIMIT_PUBLIC: '7', PUBLIC_URL: 'https://old.example' };
  const env = Object.fromEntries(Object.entries(variables).map(([name, v]) => [`OFFERBOOK_${name}`, v]));
  const flags = ['--page-size', '2', '--public-url', '', '--workers', '2'];
  await using server = await ServerProcess.start(['--database', database, ...flags], { env });
  const response = await get(`${server.url}/v1/retailers/`);
  expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(2);
  expect(response.headers.get('RateLimit-Policy')).toBe('"public";q=7;w=60');
  expect(response.headers.get('Link')).toStartWith(`<${server.url}/v1/retailers/?`);
  // A URL that is too long, up to 60 KB, gets a problem body.
  const long = await get(`${server.url}/v1/retailers/?x=${'a'.repeat(60_000)}`);
  expect([long.status, ((await long.json()) as { code: string }).code]).toEqual([414, 'uri_too_long']);
});

test.each(['1', '2'])(
  'with --workers %s, the admin port serves only health and metrics, and the metrics contain no token',
  async (workers) => {
    const adminPort = await freePort();
    await offerbook(['import', 'catalogue', '-', '--database', database, '--merge'], {
      stdin: ndjson([retailer(1)]),
    });
    const args = ['--database', database, '--admin-port', String(adminPort), '--workers', workers];
    await using server = await ServerProcess.start(args);
    const metrics = async () => (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    const unknown = 'offerbook_http_requests_total{route="unknown",status="404"} 1';
    await get(`${server.url}/v1/retailers/`);
    await get(`${server.url}/v1/<script>/`);
    // Workers report their counts a few times per second.
    const page = await until(metrics, (text) => text.includes(unknown));
    expect(page).toContain('offerbook_http_requests_total{route="/v1/retailers/",status="200"} 1');
    expect(page).toContain('offerbook_ready 1');
    expect(page).toContain('offerbook_catalogue_items{list="retailers"} 3');
    expect(page).toContain('offerbook_imports_total{kind="catalogue",outcome="done"} 1');
    expect(page).toMatch(
      /^offerbook_import_last_success_timestamp_seconds{kind="catalogue",organisation="",source=""} 1\d{9}/m,
    );
    expect(page).not.toContain(token);
    expect(await (await fetch(`http://127.0.0.1:${adminPort}/livez`)).json()).toEqual({ status: 'live' });
    const ready = await fetch(`http://127.0.0.1:${adminPort}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', database: 'usable' }]);
    expect((await fetch(`http://127.0.0.1:${adminPort}/v1/retailers/`)).status).toBe(404);
    expect((await get(`${server.url}/metrics`)).status).toBe(404);
  },
);

test('a spool that is not a folder is reported with a one-sentence message', async () => {
  const file = database.slice('sqlite:'.length);
  const start = (spool: string) =>
    offerbook(['serve', '--database', database, '--port', '0', '--spool', spool]);
  const refusal = (spool: string, code: string) =>
    rejected(`--spool ${spool} is not a writable folder (${code})`);
  const missing = `${file}-missing`;
  expect(await Promise.all([start(missing), start(file)])).toEqual([
    refusal(missing, 'ENOENT'),
    refusal(file, 'ENOTDIR'),
  ]);
});

test('serve keeps running after the reader of its log is gone', async () => {
  const port = String(await freePort());
  const child = spawnOfferbook(['serve', '--port', port, '--database', database]);
  const url = `http://127.0.0.1:${port}`;
  await until(() => isOk(`${url}/readyz`));
  await child.stdout.cancel();
  const statuses = new Set<number>();
  for (let i = 0; i < 50; i++) statuses.add((await get(`${url}/v1/retailers/`)).status);
  child.kill('SIGTERM');
  expect([[...statuses], await child.exited]).toEqual([[200], 0]);
});

describe.each(['1', '2'])('with --workers %s', (workers) => {
  const start = (...args: string[]) =>
    offerbook(['serve', '--database', database, '--log-level', 'silent', '--workers', workers, ...args]);

  test.each(['1', '2'])(
    'a port used by a server with %s workers is reported with a one-sentence message',
    async (others) => {
      await using server = await ServerProcess.start(['--database', database, '--workers', others]);
      const { port } = new URL(server.url);
      expect(await start('--port', port)).toEqual(
        rejected(`port ${port} on 127.0.0.1 is in use; choose another with --port`),
      );
    },
  );

  test('an admin port that is in use is reported with a one-sentence message, even if its process allows sharing the port', async () => {
    await using other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      reusePort: true,
      fetch: () => new Response(),
    });
    expect(await start('--port', '0', '--admin-port', String(other.port))).toEqual(
      rejected(`port ${other.port} on 127.0.0.1 is in use; choose another with --admin-port`),
    );
  });

  test('options that cannot be used are reported with a one-sentence message', async () => {
    const port = String(await freePort());
    const replica = '--replica-url must be a URL such as postgres://user@host/name';
    for (const [args, sentence] of [
      [['--port', port, '--admin-port', port], `--port and --admin-port are both ${port}; they must differ`],
      [['--port', '8080', '--host', '192.0.2.1'], 'cannot listen on 192.0.2.1, port 8080'],
      [
        ['--port', '0', '--replica-url', 'postgres://user:hunter2@127.0.0.1/name'],
        '--replica-url needs a PostgreSQL database: SQLite has no replicas',
      ],
      // The message does not repeat the password.
      [['--port', '0', '--replica-url', 'user:hunter2@host'], replica],
    ] as const)
      expect(await start(...args)).toEqual(rejected(sentence));
  });
});

describe('SIGTERM', () => {
  test.each(['1', '2'])(
    'with %s workers and a drain delay, both ports report the stop while requests succeed and connections end',
    async (workers) => {
      const adminPort = String(await freePort());
      const args = ['--database', database, '--workers', workers, '--admin-port', adminPort];
      // Longer than the test takes, so that the delay cannot end too early.
      await using server = await ServerProcess.start([...args, '--drain-delay', '300']);
      const state = async () => {
        const ready = [server.url, `http://127.0.0.1:${adminPort}`].map(async (url) => get(`${url}/readyz`));
        const page = await get(`${server.url}/v1/retailers/`, { Connection: 'close' });
        const readyz = (await Promise.all(ready)).map(({ status }) => status);
        return { readyz, page: page.status, connection: page.headers.get('Connection') };
      };
      expect((await state()).readyz).toEqual([200, 200]);
      process.kill(server.pid, 'SIGTERM');
      // Workers may learn of the stop at different times.
      const stopping = await until(
        state,
        ({ readyz, connection }) => readyz.every((status) => status === 503) && connection !== null,
      );
      expect(stopping).toEqual({ readyz: [503, 503], page: 200, connection: 'close' });
      await using next = await ServerProcess.start([...args.slice(0, 4), '--drain-delay', '1']);
      expect(await next.stop('SIGTERM')).toBe(0);
    },
  );

  test('closes idle keep-alive connections at once, while requests in progress finish', async () => {
    const mayAnswer = Promise.withResolvers<void>();
    const app = async ({ url }: Request) => {
      if (url.endsWith('/slow')) await mayAnswer.promise;
      return new Response('done');
    };
    const listener = listen(app, readServeSettings({ port: '0' }, {}), false);
    const connections = ['/', '/slow'].map((path) => {
      const socket = connect(listener.port, '127.0.0.1');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
      const ended = Promise.withResolvers<string>();
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('close', () => ended.resolve(received));
      return { read: () => received, ended: ended.promise };
    });
    const [idle, busy] = connections as [(typeof connections)[0], (typeof connections)[0]];
    await until(idle.read, (text) => text.endsWith('done'));
    let isStopped = false;
    const stopped = listener.stop().then(() => {
      isStopped = true;
    });
    await idle.ended;
    expect([busy.read(), isStopped]).toEqual(['', false]);
    mayAnswer.resolve();
    expect(await busy.ended).toEndWith('done');
    await stopped;
  });
});

test.each(DATABASES)(
  'on $name, all threads that share the port serve an import, reject a revoked token, and stop on SIGTERM',
  async ({ create }) => {
    await seed(await create());
    const server = await ServerProcess.start(['--database', database, '--workers', '3']);
    await server.logged('worker ready', 3);
    // Each new connection reaches any of the workers. A response without a list has no length.
    const counts = async () => {
      const asked = Array.from({ length: 30 }, async () => {
        const response = await get(`${server.url}/v1/retailers/`, { Connection: 'close' });
        return ((await response.json()) as { data?: unknown[] }).data?.length;
      });
      return new Set(await Promise.all(asked));
    };
    expect(await counts()).toEqual(new Set([3]));
    await using stores = closing(await openStores(database));
    const added = ndjson([retailer(9, { cashbackOffers: [offer(99)] })]);
    await importCatalogue(stores.catalogue, sourceFrom(added), { merge: true });
    await until(counts, (all) => Bun.deepEquals(all, new Set([4])), SOON_MS);
    const [issued] = (await stores.tokens.list()).tokens;
    await stores.tokens.revoke(issued?.id ?? ('' as never));
    await until(counts, (all) => Bun.deepEquals(all, new Set([undefined])), SOON_MS);
    expect(await server.stop('SIGTERM')).toBe(0);
  },
);

test('the workers of a node together accept exactly as many requests as the limit allows', async () => {
  const flags = ['--workers', '3', '--rate-limit-public', '100'];
  await using server = await ServerProcess.start(['--database', database, ...flags]);
  await server.logged('worker ready', 3);
  const asked = Array.from({ length: 400 }, async () => {
    const response = await get(`${server.url}/v1/coupons/`, { Connection: 'close' });
    await response.arrayBuffer();
    return response.status;
  });
  const statuses = await Promise.all(asked);
  expect([200, 429].map((status) => statuses.filter((each) => each === status).length)).toEqual([100, 300]);
  // Stop first, because the last log lines are written at the end. A worker that had to wait for a core may have returned
  // only 429.
  expect(await server.stop('SIGTERM')).toBe(0);
  const answered = server.logLines
    .map((line) => JSON.parse(line) as { status?: number; worker?: number })
    .filter(({ status }) => status === 200 || status === 429)
    .map(({ worker }) => worker);
  expect([...new Set(answered)].sort()).toEqual([1, 2, 3]);
});
