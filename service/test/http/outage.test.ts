// A database that becomes unreachable: the catalogue and known tokens are served from memory, transactions get 503, and
// the service recovers without a restart.

import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { newTokenText } from '../../src/domain/access-token.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { temporaryFolder } from '../support/databases.ts';
import { id, offer, retailer, transaction } from '../support/fixtures.ts';
import { freePort, postgresUrl, sharedPostgres, startPostgres } from '../support/postgres-server.ts';
import { TestNode } from '../support/test-node.ts';
import { until } from '../support/until.ts';

test('while PostgreSQL is stopped, deal links and links from new POSTs redirect, links from older POSTs get 503, and all links recover afterwards', async () => {
  const server = await startPostgres();
  const adminPort = await freePort();
  const node = await TestNode.start({
    databaseUrl: postgresUrl(server.port, 'postgres'),
    database: SERVER_OPTIONS,
    settings: { adminPort, spool: temporaryFolder() },
  });
  const isUsable = async () => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return /^offerbook_database_usable (.*)$/m.exec(text)?.[1];
  };
  try {
    await node.catalogue([retailer(1, { cashbackOffers: [offer(11)] })]);
    await node.transactions([transaction(1)]);
    const { public: pub, private: prv } = await node.tokens();
    const statuses = async () => [
      (await node.get('/v1/retailers/', pub)).status,
      (await node.get('/v1/transactions/', prv)).status,
      (await node.get('/readyz')).status,
    ];
    expect(await statuses()).toEqual([200, 200, 200]);
    expect(await isUsable()).toBe('1');
    const { publicId } = await node.organisation();
    await node.links();
    const deal = (user: string) =>
      `${node.url}/v1/cashback-offers/${id(11)}/activate/?orgId=${publicId}&passbackUid=${user}`;
    const follow = async (url: string) => (await fetch(url, { redirect: 'manual' })).status;
    const activate = async (user: string) =>
      ((await (await fetch(deal(user), { method: 'POST' })).json()) as { url: string }).url;
    const [older, followed] = [await activate('before'), await activate('followed')];
    expect(await follow(followed)).toBe(302);

    await server.process.stop();
    const away = await node.get('/v1/transactions/', prv);
    expect([
      away.status,
      away.headers.get('Retry-After'),
      ((await away.json()) as { code: string }).code,
    ]).toEqual([503, '2', 'unavailable']);
    expect(await statuses()).toEqual([200, 503, 200]);
    // A well-formed token that is not in memory cannot be checked.
    expect((await node.get('/v1/retailers/', newTokenText('public'))).status).toBe(503);
    // A mistyped token is detected without the database.
    expect((await node.get('/v1/retailers/', `${pub}x`)).status).toBe(401);
    expect(await follow(older)).toBe(503);
    expect(await follow(deal('follows'))).toBe(302);
    expect(await follow(await activate('meanwhile'))).toBe(302);
    await until(isUsable, (value) => value === '0');
    await node.get('/v1/transactions/', prv, { 'Request-Id': 'refused' });

    await server.process.start();
    await until(statuses, (all) => Bun.deepEquals(all, [200, 200, 200]));
    expect(await follow(older)).toBe(302);
    await until(isUsable, (value) => value === '1');
    // The outage is logged once with its reason, and a rejected request does not log a stack trace.
    await node.logged(({ msg }) => msg === 'the database has recovered');
    const lines = node.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const outages = lines.filter(({ msg }) => msg === 'the database is unreachable; serving from memory');
    expect(outages).toMatchObject([{ level: 50 }]);
    const everyLine = { time: expect.any(String), pid: process.pid, requestId: 'refused' };
    expect(lines.filter(({ requestId }) => requestId === 'refused')).toEqual([
      {
        ...everyLine,
        level: 40,
        reason: expect.stringMatching(/^PostgreSQL (at \S+ )?is unavailable \(.+\)$/),
        msg: 'unavailable',
      },
      {
        ...everyLine,
        level: 30,
        tokenId: expect.any(String),
        method: 'GET',
        route: '/v1/transactions/',
        status: 503,
        durationMs: expect.any(Number),
        address: '127.0.0.1',
      },
    ]);
    expect((await node.get('/v1/retailers/', newTokenText('public'))).status).toBe(401);
    await node.catalogue([retailer(2, { cashbackOffers: [offer(12)] })]);
  } finally {
    await node[Symbol.asyncDispose]();
    await server.process.stop();
  }
});

test('the metric and /readyz report failing pages while everything else works, until a page is read successfully', async () => {
  const { port } = await sharedPostgres();
  const admin = postgres(postgresUrl(port, 'postgres'), { max: 1, onnotice: () => {} });
  const name = `limited_${Bun.randomUUIDv7().replaceAll('-', '')}`;
  await admin.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD 'test'`);
  await admin.unsafe(`CREATE DATABASE ${name} OWNER ${name}`);
  const adminPort = await freePort();
  const node = await TestNode.start({
    databaseUrl: `postgres://${name}:test@127.0.0.1:${port}/${name}`,
    database: SERVER_OPTIONS,
    settings: { adminPort },
  });
  const told = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    const readyz = await node.get('/readyz');
    return {
      usable: /^offerbook_database_usable (.*)$/m.exec(metrics)?.[1],
      readyz: [readyz.status, await readyz.json()],
    };
  };
  const usable = { usable: '1', readyz: [200, { status: 'ready', database: 'usable' }] };
  try {
    const prv = await node.token('private');
    expect(await told()).toEqual(usable);
    // Open connections stay; those for pages of transactions have not been opened yet.
    await admin.unsafe(`ALTER ROLE ${name} CONNECTION LIMIT 1`);
    expect((await node.get('/v1/transactions/', prv)).status).toBe(503);
    const unusable = { usable: '0', readyz: [200, { status: 'ready', database: 'unusable' }] };
    expect(await told()).toEqual(unusable);
    // Reloads still work, because they use other connections than pages.
    await node.catalogue([retailer(1, { cashbackOffers: [offer(11)] })]);
    expect(await told()).toEqual(unusable);
    await admin.unsafe(`ALTER ROLE ${name} CONNECTION LIMIT -1`);
    await until(told, (each) => Bun.deepEquals(each, usable));
    expect((await node.get('/v1/transactions/', prv)).status).toBe(200);
  } finally {
    await node[Symbol.asyncDispose]();
    await admin.end();
  }
});
