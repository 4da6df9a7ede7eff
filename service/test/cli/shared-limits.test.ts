// Limits that hold for a whole service: over the workers of one node, and over several nodes that share a
// PostgreSQL, also while that comes and goes.

import { describe, expect, test } from 'bun:test';
import { offerbook, ServerProcess } from '../support/command.ts';
import { DATABASES } from '../support/databases.ts';
import { newPostgresDatabase, postgresUrl, startPostgres } from '../support/postgres-server.ts';
import { TestNode } from '../support/test-node.ts';

/** Asks for the same list so many times at once, each over a connection of its own; returns how often each status came. */
async function ask(urls: readonly string[], token: string, count: number): Promise<Record<number, number>> {
  const statuses = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const response = await fetch(`${urls[i % urls.length]}/v1/coupons/`, {
        headers: { Authorization: `Bearer ${token}`, Connection: 'close' },
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  const tally: Record<number, number> = {};
  for (const status of statuses) tally[status] = (tally[status] ?? 0) + 1;
  return tally;
}

/** Two windows must not fall into one test: waits for the next one when this one is nearly over. */
async function windowWithTimeLeft(seconds = 4): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1000) await Bun.sleep(leftMs + 100);
}

describe.each(DATABASES.map((it) => [it.name, it] as const))(
  'the workers of one node on %s',
  (_, { create }) => {
    test('let exactly as many requests through as the limit says, together', async () => {
      const env = { OFFERBOOK_DATABASE_URL: await create() };
      await offerbook(['orgs', 'create', 'acme'], { env });
      const issued = await offerbook(['tokens', 'issue', '--org', 'acme', '--kind', 'public', '--json'], {
        env,
      });
      const { token } = JSON.parse(issued.stdout) as { token: string };
      await using server = await ServerProcess.start(['--workers', '3', '--rate-limit-public', '100'], {
        env,
      });
      const ready = () => server.logLines.filter((line) => line.includes('"msg":"ready"')).length;
      while (ready() < 3) await Bun.sleep(10);
      expect(await ask([server.url], token, 400)).toEqual({ 200: 100, 429: 300 });
      // The last lines of the log come at the end.
      expect(await server.stop('SIGTERM')).toBe(0);
      const served = new Set(
        server.logLines
          .map((line) => JSON.parse(line) as { status?: number; pid: number })
          .filter(({ status }) => status === 200)
          .map(({ pid }) => pid),
      );
      expect(served.size).toBe(3);
    }, 60_000);
  },
);

describe('nodes that share PostgreSQL', () => {
  const SHARED = { rateLimitStore: 'database', rateLimitPublic: 50, rateLimitFailedAuth: 20 } as const;

  test('let exactly as many requests through as the limit says, together', async () => {
    const databaseUrl = await newPostgresDatabase();
    await using first = await TestNode.start({ databaseUrl, settings: SHARED });
    await using second = await TestNode.start({ databaseUrl, settings: SHARED });
    const token = await first.token('public');
    await windowWithTimeLeft();
    expect(await ask([first.url, second.url], token, 200)).toEqual({ 200: 50, 429: 150 });
    expect(await ask([first.url, second.url], 'no token', 60)).toEqual({ 401: 20, 429: 40 });
    const refused = await first.get('/v1/coupons/', token);
    expect(refused.headers.get('RateLimit')).toMatch(/^"public";r=0;t=\d+$/);
    expect(Number(refused.headers.get('Retry-After'))).toBeWithin(1, 61);
  }, 60_000);

  test('let no more through than a large limit says, and hardly less', async () => {
    const databaseUrl = await newPostgresDatabase();
    const settings = { rateLimitStore: 'database', rateLimitPublic: 1_000 } as const;
    await using first = await TestNode.start({ databaseUrl, settings });
    await using second = await TestNode.start({ databaseUrl, settings });
    const token = await first.token('public');
    await windowWithTimeLeft(8);
    let passed = 0;
    for (let round = 0; round < 15; round++) {
      passed += (await ask([first.url, second.url], token, 100))[200] ?? 0;
    }
    // At most one block, a hundredth of the limit, is left over at each node.
    expect(passed).toBeWithin(1_000 - 2 * 10, 1_000 + 1);
  }, 60_000);

  test('count for themselves while it is away, say so, and share again when it is back', async () => {
    const server = await startPostgres();
    try {
      const databaseUrl = postgresUrl(server.port, 'postgres');
      const settings = { ...SHARED, rateLimitPublic: 10 };
      await using first = await TestNode.start({ databaseUrl, settings });
      await using second = await TestNode.start({ databaseUrl, settings });
      const token = await first.token('public');
      expect((await second.get('/v1/coupons/', token)).status).toBe(200);
      await server.process.stop();
      // Notices, with a request that is let through all the same.
      for (const node of [first, second]) expect((await node.get('/v1/coupons/', token)).status).toBe(200);
      for (const node of [first, second]) {
        await node.logged(
          ({ level, msg }) =>
            level === 40 && msg === 'the database does not count requests; each node counts for itself',
        );
      }
      expect((await ask([first.url], token, 30))[200]).toBe(9);

      await server.process.start();
      for (const node of [first, second]) {
        await node.logged(({ msg }) => msg === 'the database counts requests again');
      }
      await windowWithTimeLeft();
      const other = await first.token('public');
      expect(await ask([first.url, second.url], other, 30)).toEqual({ 200: 10, 429: 20 });
    } finally {
      await server.process.stop();
    }
  }, 90_000);
});

test('SQLite cannot be shared by nodes, and a start that asks for it is refused', async () => {
  const [sqlite] = DATABASES;
  const env = { OFFERBOOK_DATABASE_URL: (await sqlite?.create()) ?? '', OFFERBOOK_LOG_LEVEL: 'silent' };
  expect(await offerbook(['serve', '--port', '0', '--rate-limit-store', 'database'], { env })).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'offerbook: --rate-limit-store database needs PostgreSQL; on SQLite, limits are shared by all workers\n',
  });
});
