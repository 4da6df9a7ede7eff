// A standby replaces the primary while servers and pollers are running: Complete-Through never goes back, and pollers that
// continue from their watermarks end with the right copy, even if the new primary lacks changes that were announced.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { printTimestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { SQL } from 'bun';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { offerbook } from '../support/command.ts';
import { transaction } from '../support/fixtures.ts';
import { query, untilCaughtUp } from '../support/postgres-replica.ts';
import { PASSWORD, postgresUrl, USER } from '../support/postgres-server.ts';
import { TestNode } from '../support/test-node.ts';
import { until } from '../support/until.ts';
import { failoverOf, freeze, Pair, untilReplicaIsRead } from './cluster/pair.ts';
import { Scene } from './cluster/scene.ts';
import { compare, readAll } from './model/comparison.ts';
import { readPage } from './traffic/page-reader.ts';
import { openWalkPoller } from './traffic/pollers.ts';

const ROWS = Array.from({ length: 12 }, (_, i) => i + 1);
let pair: Pair;

beforeAll(async () => {
  pair = await Pair.start();
});

afterAll(() => pair[Symbol.asyncDispose]());

async function doctor(env: Record<string, string>): Promise<string | undefined> {
  const { stdout } = await offerbook(['doctor', '--port', '0', '--json'], { env });
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] };
  return checks.find(({ check }) => check === 'failover')?.state;
}

test('with a read-only role, a server returns 503 while announced changes are missing, until a command has recorded the failover', async () => {
  const name = await pair.newDatabase();
  const url = pair.url(name);
  await using writer = await TestNode.start({ databaseUrl: url, database: SERVER_OPTIONS });
  await writer.transactions([transaction(1, { passbackData: 'kept' })]);
  const token = await writer.token('private');
  await writer.stopNode();
  const admin = new SQL(postgresUrl(pair.primary.port, name));
  await admin.unsafe(
    `CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`,
  );
  await admin.close();
  await pair.untilCaughtUp();
  await using node = await TestNode.start({
    databaseUrl: pair.url(name, { user: 'reader:reader' }),
    database: SERVER_OPTIONS,
  });
  const read = async () => readPage(await node.get('/v1/transactions/', token));
  await pair.cut();
  await writer.transactions([transaction(1, { passbackData: 'lost' })]);
  const announced = await read();
  // The old primary still accepts writes, so that no connection is lost.
  await pair.promote();
  await until(async () => {
    await node.get('/v1/transactions/', token);
    return node.logLines.some((line) => line.includes('the database lacks changes'));
  });
  expect((await node.get('/v1/transactions/', token)).status).toBe(503);

  const env = { OFFERBOOK_DATABASE_URL: url };
  expect((await offerbook(['orgs', 'create', 'other'], { env })).code).toBe(0);
  expect(await failoverOf(node)).toMatchObject({ level: 50, lost: ['acme'] });
  const after = await read();
  expect(after.rows).toMatchObject([{ passbackData: 'kept' }]);
  expect(after.completeThrough > announced.completeThrough).toBe(true);
  expect(await doctor(env)).toBe('fault');
  // No client has polled, so nothing has to be sent again.
  const marked = await offerbook(['failover', 'mark', '--nothing-lost', '--json'], { env });
  expect(JSON.parse(marked.stdout)).toEqual({ stamped: 0 });
  expect(await doctor(env)).toBe('ok');
  expect((await read()).rows).toEqual(after.rows);
  await pair.primary.process.stop();
  await pair.replacePrimary();
});

test("pages contain changes that the replica lacks only if the client's window requires them, and after the replica's promotion, the node reads another replica", async () => {
  const other = await pair.addStandby();
  const url = pair.url(await pair.newDatabase(), { others: [other] });
  const stores = await openStores(url, CREATE_OPTIONS);
  await stores.close();
  await pair.untilCaughtUp();
  const wake = freeze(other);
  await using node = await TestNode.start({
    databaseUrl: url,
    database: SERVER_OPTIONS,
    settings: { replicaUrl: url },
  });
  await untilReplicaIsRead(node);
  wake();
  const token = await node.token('private');
  const read = async (search = '') => readPage(await node.get(`/v1/transactions/${search}`, token));
  const change = async (version: number) => {
    await node.transactions([transaction(1, { passbackData: `version ${version}` })]);
    return printTimestamp((await node.stores.transactions.page(EVERYTHING)).completeThroughMs);
  };
  const EVERYTHING = {
    orgId: (await node.organisation()).id,
    window: { minMs: 0, maxMs: 8.64e15 },
    limit: 1,
  };
  const first = await change(1);
  for (const server of [pair.standby, other]) await pair.untilCaughtUp(server);
  for (const server of [pair.standby, other]) await pair.cut(server);
  const second = await change(2);
  await change(3);
  const version = ({ rows, completeThrough }: Awaited<ReturnType<typeof readPage>>) => ({
    versions: rows.map(({ passbackData }) => passbackData),
    completeThrough,
  });
  expect(version(await read())).toEqual({ versions: ['version 1'], completeThrough: first });
  expect(version(await read(`?updatedAtGreaterThan=${second}`))).toEqual({
    versions: [],
    completeThrough: second,
  });
  const end = printTimestamp(timestampMs(second) + 1);
  expect(version(await read(`?updatedAtLessThan=${end}`))).toEqual({
    versions: ['version 2'],
    completeThrough: second,
  });

  await pair.promote();
  await pair.primary.process.stop();
  // The node's replica has been promoted, or does not follow the new primary.
  await node.logged(({ msg }) => String(msg).startsWith('the replica is unusable'));
  const conninfo = `host=127.0.0.1 port=${pair.standby.port} user=${USER} password=${PASSWORD}`;
  await query(other, `ALTER SYSTEM SET primary_conninfo = '${conninfo}'`);
  await query(other, 'SELECT pg_reload_conf()');
  await untilReplicaIsRead(node);
  expect(await failoverOf(node)).toMatchObject({ level: 50, lost: ['acme'] });
  await node.logged(({ msg }) => msg === 'transactions have new stamps after a failover');
  await untilCaughtUp(pair.standby, other);
  const repaired = version(await read(`?updatedAtGreaterThan=${second}`));
  expect(repaired).toEqual({ versions: ['version 1'], completeThrough: expect.any(String) });
  expect(repaired.completeThrough > second).toBe(true);
  await other.process.stop();
  await pair.replacePrimary();
});

test('if no server was running during a failover, doctor and the server report it until an operator marks it', async () => {
  const url = pair.url(await pair.newDatabase());
  const env = { OFFERBOOK_DATABASE_URL: url };
  const scene = await Scene.open(url);
  const poller = openWalkPoller(scene.pages([scene.node(0)]));
  await scene.change(...ROWS);
  await pair.untilCaughtUp();
  await pair.cut();
  await scene.change(2);
  await poller.walk(5);
  const { completeThrough } = await scene.page(0);
  const [token] = scene.tokens;
  await scene[Symbol.asyncDispose]();
  await pair.primary.process.stop();
  await pair.promote();

  const clock = () => timestampMs(completeThrough) + 60_000;
  await using node = await TestNode.start({ databaseUrl: url, database: SERVER_OPTIONS, clock });
  await node.logged(({ msg }) => String(msg).includes('no server knows whether changes were lost'));
  expect(await doctor(env)).toBe('fault');
  // The clocks have jumped, so that the watermark is not in the future.
  const read = async () =>
    readPage(await node.get(`/v1/transactions/?updatedAtGreaterThan=${completeThrough}`, token));
  const after = await read();
  expect(after).toEqual({ rows: [], cursor: undefined, completeThrough: printTimestamp(clock()) });
  const marked = await offerbook(['failover', 'mark', '--json'], { env });
  expect(JSON.parse(marked.stdout)).toEqual({ stamped: ROWS.length });
  expect(await doctor(env)).toBe('ok');
  expect((await read()).rows).toHaveLength(ROWS.length);
});

test('if the cluster returns to the old primary, servers refuse it until an operator has marked it and restarted them', async () => {
  await pair.replacePrimary();
  const url = pair.url(await pair.newDatabase());
  const env = { OFFERBOOK_DATABASE_URL: url };
  const scene = await Scene.open(url);
  let send = scene.node(0);
  const poller = openWalkPoller(scene.pages([(path) => send(path)]));
  await scene.change(...ROWS);
  await pair.untilCaughtUp();
  await pair.promote();
  await failoverOf(scene.nodes[0]);
  await scene.change(2, 3);
  await poller.walk(5);
  await pair.standby.process.stop();
  const { logLines } = scene.nodes[0];
  await until(async () => {
    await scene.node(0)('/v1/transactions/');
    return logLines.some((line) => line.includes('but this process has used timeline'));
  });
  expect((await scene.node(0)('/v1/transactions/')).status).toBe(503);
  const [token] = scene.tokens;
  await scene[Symbol.asyncDispose]();

  const marked = await offerbook(['failover', 'mark', '--json'], { env });
  expect(JSON.parse(marked.stdout)).toEqual({ stamped: ROWS.length });
  await using node = await TestNode.start({ databaseUrl: url, database: SERVER_OPTIONS });
  send = (path) => node.get(path, token);
  await poller.walk(5);
  expect([compare(await readAll(node.stores, scene.orgId), poller.copy), scene.brokenPromises]).toEqual([
    { lost: [], extra: [] },
    [],
  ]);
});
