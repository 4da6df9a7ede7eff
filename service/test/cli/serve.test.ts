// offerbook serve as a process: settings, readiness, draining, workers, and long URLs.

import { beforeEach, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { join } from 'node:path';
import { listen } from '../../src/cli/node/listen.ts';
import { readServeSettings } from '../../src/config.ts';
import { offerbook, ServerProcess, spawnOfferbook } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { SOON_MS, until } from '../support/until.ts';

let database: string;
let token: string;

async function seed(url: string): Promise<void> {
  database = url;
  const options = { env: { OFFERBOOK_DATABASE_URL: url } };
  await offerbook(['orgs', 'create', 'acme'], options);
  const issued = await offerbook(['tokens', 'issue', '--org', 'acme', '--kind', 'public', '--json'], options);
  token = JSON.parse(issued.stdout).token;
  const rows = Array.from({ length: 3 }, (_, i) => retailer(i + 1, { cashbackOffers: [offer(i + 11)] }));
  await offerbook(['import', 'catalogue', '-'], { ...options, stdin: ndjson(rows) });
}

beforeEach(() => seed(`sqlite:${join(temporaryFolder(), 'serve.db')}`));

const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers: { Authorization: `Bearer ${token}`, ...headers } });

test('serve returns imported data and reads settings from flags and variables, with flags taking precedence', async () => {
  await using server = await ServerProcess.start(['--database', database, '--page-size', '2'], {
    env: { OFFERBOOK_PAGE_SIZE: '1', OFFERBOOK_RATE_LIMIT_PUBLIC: '7' },
  });
  const response = await get(`${server.url}/v1/retailers/`);
  expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(2);
  expect(response.headers.get('RateLimit-Policy')).toBe('"public";q=7;w=60');
});

test('an empty flag overrides its variable, in workers too', async () => {
  await using server = await ServerProcess.start(
    ['--database', database, '--page-size', '2', '--workers', '2', '--public-url', ''],
    { env: { OFFERBOOK_PUBLIC_URL: 'https://old.example' } },
  );
  const response = await get(`${server.url}/v1/retailers/`);
  expect(response.headers.get('Link')).toStartWith(`<${server.url}/v1/retailers/?`);
});

test('a URL that is too long, up to 60 KB, gets 414 with a problem body', async () => {
  await using server = await ServerProcess.start(['--database', database]);
  const response = await get(`${server.url}/v1/retailers/?x=${'a'.repeat(60_000)}`);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    414,
    'uri_too_long',
  ]);
});

test.each(['1', '2'])(
  'with --workers %s, the admin port serves only health and metrics, and the metrics contain no token',
  async (workers) => {
    const adminPort = await freePort();
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

test('a replica requires PostgreSQL, and the error for an invalid replica URL does not repeat it', async () => {
  const refusal = async (url: string) => {
    const { code, stderr } = await offerbook([
      'serve',
      '--port',
      '0',
      '--database',
      database,
      '--replica-url',
      url,
    ]);
    return { code, stderr };
  };
  expect(await refusal('postgres://user:hunter2@127.0.0.1/name')).toEqual({
    code: 2,
    stderr: 'offerbook: --replica-url needs a PostgreSQL database: SQLite has no replicas\n',
  });
  expect(await refusal('user:hunter2@host')).toEqual({
    code: 2,
    stderr: 'offerbook: --replica-url must be a URL such as postgres://user@host/name\n',
  });
});

test('a spool that is not a folder is reported with a one-sentence message', async () => {
  const file = database.slice('sqlite:'.length);
  const start = (spool: string) =>
    offerbook(['serve', '--database', database, '--port', '0', '--spool', spool]);
  const refusal = (spool: string, code: string) => ({
    code: 2,
    stdout: '',
    stderr: `offerbook: --spool ${spool} is not a writable folder (${code})\n`,
  });
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
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady);
  await child.stdout.cancel();
  const statuses = new Set<number>();
  for (let i = 0; i < 200; i++) statuses.add((await get(`${url}/v1/retailers/`)).status);
  child.kill('SIGTERM');
  expect([[...statuses], await child.exited]).toEqual([[200], 0]);
});

describe.each(['1', '2'])('with --workers %s', (workers) => {
  const start = (...args: string[]) =>
    offerbook(['serve', '--database', database, '--log-level', 'silent', '--workers', workers, ...args]);
  const refusal = (sentence: string) => ({ code: 2, stdout: '', stderr: `offerbook: ${sentence}\n` });

  test.each(['1', '2'])(
    'a port used by a server with %s workers is reported with a one-sentence message',
    async (others) => {
      await using server = await ServerProcess.start(['--database', database, '--workers', others]);
      const { port } = new URL(server.url);
      expect(await start('--port', port)).toEqual(
        refusal(`port ${port} on 127.0.0.1 is in use; choose another with --port`),
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
      refusal(`port ${other.port} on 127.0.0.1 is in use; choose another with --admin-port`),
    );
  });

  test('an admin port equal to the port is reported with a one-sentence message', async () => {
    const port = String(await freePort());
    expect(await start('--port', port, '--admin-port', port)).toEqual(
      refusal(`--port and --admin-port are both ${port}; they must differ`),
    );
  });

  test("another machine's address is reported with a one-sentence message", async () => {
    expect(await start('--port', '8080', '--host', '192.0.2.1')).toEqual(
      refusal('cannot listen on 192.0.2.1, port 8080'),
    );
  });

  test('a replica URL with SQLite is reported with a one-sentence message', async () => {
    expect(await start('--port', '0', '--replica-url', 'postgres://user@127.0.0.1/name')).toEqual(
      refusal('--replica-url needs a PostgreSQL database: SQLite has no replicas'),
    );
  });
});

describe('SIGTERM', () => {
  test('lets requests in progress finish and exits 0', async () => {
    const server = await ServerProcess.start(['--database', database]);
    let ended = false;
    const statuses: number[] = [];
    const failures: unknown[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      while (!ended) {
        try {
          statuses.push((await get(`${server.url}/v1/retailers/`)).status);
        } catch (error) {
          // After the socket is closed, new connections are refused, but accepted requests must complete.
          if (!/refused|Unable to connect/i.test(String(error))) failures.push(error);
          return;
        }
      }
    });
    await until(() => statuses.length >= 200);
    const code = await server.stop('SIGTERM');
    ended = true;
    await Promise.all(clients);
    expect({ code, failures, statuses: [...new Set(statuses)] }).toEqual({
      code: 0,
      failures: [],
      statuses: [200],
    });
  });

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
      const stopping = await until(state, ({ readyz }) => readyz.every((status) => status === 503));
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
    const stopped = listener.stop();
    await idle.ended;
    expect(busy.read()).toBe('');
    mayAnswer.resolve();
    expect(await busy.ended).toEndWith('done');
    await stopped;
  });
});

describe.each(DATABASES.map((it) => [it.name, it] as const))('--workers on %s', (_, { create }) => {
  test('several threads share the port, all serve an import, and SIGTERM stops them', async () => {
    await seed(await create());
    const server = await ServerProcess.start(['--database', database, '--workers', '2']);
    await server.logged('worker ready', 2);
    const added = ndjson([retailer(9, { cashbackOffers: [offer(99)] })]);
    await offerbook(['import', 'catalogue', '-', '--merge', '--database', database], { stdin: added });
    // Each new connection reaches either worker.
    const counts = async () =>
      Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await get(`${server.url}/v1/retailers/`, { Connection: 'close' });
          return ((await response.json()) as { data: unknown[] }).data.length;
        }),
      );
    await until(counts, (all) => all.every((count) => count === 4), SOON_MS);
    expect(await server.stop('SIGTERM')).toBe(0);
  });

  test('a revocation takes effect in all workers', async () => {
    await seed(await create());
    await using server = await ServerProcess.start(['--database', database, '--workers', '3']);
    await server.logged('worker ready', 3);
    const statuses = async () => {
      const asked = Array.from({ length: 30 }, () =>
        get(`${server.url}/v1/retailers/`, { Connection: 'close' }),
      );
      return new Set((await Promise.all(asked)).map(({ status }) => status));
    };
    expect(await statuses()).toEqual(new Set([200]));
    const [{ id }] = JSON.parse(
      (await offerbook(['tokens', 'list', '--json', '--database', database])).stdout,
    );
    await offerbook(['tokens', 'revoke', id, '--database', database]);
    await until(statuses, (all) => !all.has(200), SOON_MS);
  });
});
