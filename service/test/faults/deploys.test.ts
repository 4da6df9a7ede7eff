// Nodes that are replaced, frozen or slow under load, or whose database is locked, behind the proxies that docs/operations/proxies.md recommends. The long
// form is `bun service/test/faults/deploys-main.ts`.

import { describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { LoadedService, type Seeded, seed } from '../load/loaded-service.ts';
import { DATABASES } from '../support/databases.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { lacks } from '../support/programs.ts';
import { PROXIES, ReverseProxy } from '../support/reverse-proxy.ts';
import { testsWith } from '../support/tests-with.ts';
import { Fleet, type LoadReport } from './deploys.ts';

const present = PROXIES.filter((name) => !lacks(name));
const { afterAll, beforeAll } = testsWith();
let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed((await DATABASES[0]?.create()) ?? '');
});

describe.skipIf(present.length === 0)(`behind ${present.join(' and ')}`, () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start(seeded, present);
  });
  afterAll(() => fleet[Symbol.asyncDispose]());

  test('no request fails while nodes are stopped and started one after the other', async () => {
    const reports = await fleet.underLoad(100, () => fleet.replaceAll(2));
    expect(reports.map(withoutFigures)).toEqual(ALL_SERVED);
    expect(fleet.exitCodes).toEqual([0, 0]);
    expect(Math.min(...reports.map(({ answered }) => answered))).toBeGreaterThan(250);
  });

  test('no request fails while a node is frozen for three seconds', async () => {
    const reports = await fleet.underLoad(50, async () => {
      fleet.signal(0, 'SIGSTOP');
      await Bun.sleep(3_000);
      fleet.signal(0, 'SIGCONT');
    });
    expect(reports.map(withoutFigures)).toEqual(ALL_SERVED);
  });

  test('no request fails while one node is replaced and the other is too slow for its health checks', async () => {
    const reports = await fleet.underLoad(25, () =>
      fleet.replace(0, async () => {
        for (let pause = 0; pause < 4; pause += 1) await slowDown(fleet, 1);
      }),
    );
    expect(reports.map(withoutFigures)).toEqual(ALL_SERVED);
  });

  test('while the transactions are locked, the proxies pass on every 503, send no request twice, and serve the catalogue', async () => {
    // Readers of SQLite never wait for a lock.
    const databaseUrl = await newPostgresSchema();
    await using fleet = await Fleet.start(await seed(databaseUrl), present);
    const reports = await fleet.underLoad(40, () => lockTransactions(databaseUrl, 2_500));
    for (const { answered, failures, statuses } of reports) {
      const { 200: served = 0, 503: unavailable = 0, ...others } = statuses;
      expect({ failures, others }).toEqual({ failures: {}, others: {} });
      // Every fourth request is for transactions.
      expect(served).toBeGreaterThanOrEqual(Math.floor((answered * 3) / 4) - 2);
      expect(unavailable).toBeGreaterThan(0);
    }
    const answered = reports.reduce((sum, report) => sum + report.answered, 0);
    expect(await fleet.responses()).toBe(answered);
  });
});

const ALL_SERVED = present.map((proxy) => ({ proxy, failures: {}, statuses: ['200'] }));

function withoutFigures({ proxy, failures, statuses }: LoadReport) {
  return { proxy, failures, statuses: Object.keys(statuses) };
}

/** Holds a lock that keeps all readers waiting, as some ALTER TABLE statements do. */
async function lockTransactions(url: string, durationMs: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.begin(async (connection) => {
      await connection`LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE`;
      await Bun.sleep(durationMs);
    });
  } finally {
    await sql.end();
  }
}

/** Lets a node run for only a tenth of each second. */
async function slowDown(fleet: Fleet, place: number): Promise<void> {
  fleet.signal(place, 'SIGSTOP');
  await Bun.sleep(900);
  fleet.signal(place, 'SIGCONT');
  await Bun.sleep(100);
}

describe.each(PROXIES)('%s', (name) => {
  const { afterAll, beforeAll, test } = testsWith(name);
  /** Paths that reached a stub node. */
  const seen: string[] = [];
  let isReady = true;
  let failedChecks = 0;
  const answer = (request: Request) => {
    // A health check has no Host header, so its URL is a path alone.
    const { pathname } = new URL(request.url, 'http://node');
    if (pathname === '/readyz') {
      failedChecks += Number(!isReady);
      return new Response('', { status: isReady ? 200 : 503 });
    }
    seen.push(pathname);
    if (pathname === '/hangs') return new Promise<Response>(() => {});
    return new Response('', { status: pathname === '/busy' ? 503 : 200 });
  };
  let nodes: Bun.Server<undefined>[];
  let proxy: ReverseProxy;

  beforeAll(async () => {
    nodes = [1, 2].map(() => Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer }));
    proxy = await ReverseProxy.start(
      name,
      nodes.map(({ url }) => url.origin),
      // Longer than the five seconds in which nginx may try the other node.
      { readTimeoutSeconds: 6 },
    );
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    for (const node of nodes) await node.stop(true);
  });

  test.each([
    ['/busy', 503],
    ['/hangs', 504],
  ])('the proxy sends a request to only one node if the response to %s is %d', async (path, status) => {
    seen.length = 0;
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(proxy.url + path)));
    expect(answers.map((response) => response.status)).toEqual(Array(8).fill(status));
    expect(seen).toEqual(Array(8).fill(path));
  });

  test('the proxy keeps sending requests when all nodes fail their health checks', async () => {
    isReady = false;
    // Three for each node, and one more after the last of these.
    while (name === 'haproxy' && failedChecks < 8) await Bun.sleep(20);
    expect((await fetch(`${proxy.url}/page`)).status).toBe(200);
    isReady = true;
  });

  test('if one of two nodes refuses a connection, the proxy sends the request to the other node', async () => {
    await nodes[0]?.stop(true);
    seen.length = 0;
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`${proxy.url}/page`)));
    expect(answers.map((response) => response.status)).toEqual(Array(8).fill(200));
    expect(seen).toEqual(Array(8).fill('/page'));
  });
});

test('a node with workers reports on its admin port that it is stopping', async () => {
  await using node = await LoadedService.start(seeded, ['--workers', '2', '--drain-delay', '1']);
  const status = () =>
    fetch(`${node.adminUrl}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  expect(await status()).toBe(200);
  const exited = node.stop('SIGTERM');
  let seen = 200;
  while (seen === 200) seen = await status();
  expect(seen).toBe(503);
  expect(await exited).toBe(0);
});

test('a stopping node reports that it is stopping, serves requests during the drain delay, and then closes its connections', async () => {
  await using node = await LoadedService.start(seeded, ['--drain-delay', '1']);
  const get = (path: string) =>
    fetch(node.url + path, { headers: { Authorization: `Bearer ${seeded.publicToken}` } });
  const connection = async () => (await get('/v1/coupons/')).headers.get('Connection');
  expect([(await get('/readyz')).status, await connection()]).toEqual([200, null]);
  const toldAtMs = performance.now();
  const exited = node.stop('SIGTERM');
  while ((await get('/readyz')).status === 200) await Bun.sleep(5);
  expect([(await get('/v1/coupons/')).status, await connection()]).toEqual([200, 'close']);
  expect(await exited).toBe(0);
  expect(performance.now() - toldAtMs).toBeGreaterThan(1_000);
});
