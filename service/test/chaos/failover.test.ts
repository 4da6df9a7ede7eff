// A standby replaces the primary while servers and pollers are running: Complete-Through never goes back, and pollers that
// continue from their watermarks end with the right copy, even if the new primary lacks changes that were announced.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { printTimestamp, type Timestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { SQL } from 'bun';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { COMMAND_OPTIONS, CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { offerbook, ServerProcess } from '../support/command.ts';
import { transaction } from '../support/fixtures.ts';
import { postgresProcesses, signalIfThere } from '../support/postgres-processes.ts';
import { query, removePostgres, startReplica, untilCaughtUp } from '../support/postgres-replica.ts';
import { freePort, PASSWORD, type PostgresServer, startPostgres, USER } from '../support/postgres-server.ts';
import { ndjson, TestNode } from '../support/test-node.ts';
import { untilReplicaIsRead } from './cluster/replica-scene.ts';
import { Scene } from './cluster/scene.ts';
import { compare, readAll } from './model/comparison.ts';
import { readPage } from './traffic/page-reader.ts';
import { OpenWalkPoller } from './traffic/pollers.ts';

const ROWS = Array.from({ length: 12 }, (_, i) => i + 1);
const servers: PostgresServer[] = [];
let primary: PostgresServer;
let standby: PostgresServer;

beforeAll(async () => {
  primary = await startPostgres(['-c', 'fsync=off']);
  standby = await startReplica(primary);
  servers.push(primary, standby);
});

afterAll(async () => {
  for (const server of servers) await removePostgres(server);
});

/** A new database on the primary, and the URL of both servers. */
async function newUrl(): Promise<string> {
  const name = `scene_${Bun.randomUUIDv7().replaceAll('-', '')}`;
  await query(primary, `CREATE DATABASE ${name}`);
  await untilCaughtUp(primary, standby);
  return urlOf([primary, standby], name);
}

function urlOf(all: readonly PostgresServer[], database: string, user = `${USER}:${PASSWORD}`): string {
  return `postgres://${user}@${all.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${database}`;
}

/** From now on, the standby receives nothing. */
async function cutReplication(server = standby): Promise<void> {
  await query(server, `ALTER SYSTEM SET primary_conninfo = ''`);
  await query(server, 'SELECT pg_reload_conf()');
  while ((await query(server, 'SELECT 1 FROM pg_stat_wal_receiver')).length > 0) await Bun.sleep(10);
}

/** Promotes the standby, and gives it a standby of its own for the next test. */
async function promote(): Promise<void> {
  await query(standby, 'SELECT pg_promote()');
}

async function nextPair(): Promise<void> {
  primary = standby;
  await query(primary, 'ALTER SYSTEM RESET primary_conninfo');
  standby = await startReplica(primary);
  servers.push(standby);
}

async function untilServed(scene: Scene): Promise<void> {
  for (const index of [0, 1] as const)
    while ((await scene.node(index)('/v1/transactions/')).status !== 200) await Bun.sleep(20);
  // The stores of the test notice with their next statement that their server is gone.
  for (const { stores } of scene.nodes) await stores.revisions().catch(() => {});
}

/** Imports a change on a machine whose clock is an hour ahead, and returns the Complete-Through of a page with the change. */
async function changeWithFastClock(scene: Scene, databaseUrl: string, token: string): Promise<Timestamp> {
  const fastClock = () => Date.parse('2026-11-14T13:00:00Z');
  const stores = await openStores(databaseUrl, COMMAND_OPTIONS, fastClock);
  const org = await scene.nodes[0].organisation('fast');
  const rows = ndjson([transaction(201, { passbackData: 'lost' })]);
  await importTransactions(stores.transactions, org, sourceFrom(rows), fastClock, {});
  await stores.close();
  return (await readPage(await scene.nodes[0].get('/v1/transactions/', token))).completeThrough;
}

const failoverOf = (node: TestNode) =>
  node.logged(({ msg }) => String(msg).startsWith('PostgreSQL has failed over'));

async function doctor(env: Record<string, string>): Promise<string | undefined> {
  const { stdout } = await offerbook(['doctor', '--port', '0', '--json'], { env });
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] };
  return checks.find(({ check }) => check === 'failover')?.state;
}

test('after a synchronous failover, no transaction gets a new stamp, and walks in progress continue', async () => {
  await using scene = await Scene.open(await newUrl());
  const poller = new OpenWalkPoller(scene.pages([scene.node(0)]));
  await scene.change(...ROWS);
  await poller.walk(5);
  const env = { OFFERBOOK_DATABASE_URL: scene.nodes[0].databaseUrl };
  await using workers = await ServerProcess.start(['--workers', '2'], { env });
  const begun = await readPage(await scene.node(1)('/v1/transactions/?limit=5'));
  const before = await readAll(scene.nodes[0].stores, scene.orgId);
  await untilCaughtUp(primary, standby);
  await promote();
  await primary.process.stop();
  await untilServed(scene);
  expect(await failoverOf(scene.nodes[0])).toMatchObject({ level: 30, timeline: 2 });
  await workers.logged('PostgreSQL has failed over; no change was lost', 2);
  // Walk records are unlogged, so the new primary has none: later pages show current data.
  const rest = await readPage(await scene.node(1)(`/v1/transactions/?limit=50&cursor=${begun.cursor}`));
  expect([...begun.rows, ...rest.rows]).toHaveLength(ROWS.length);
  expect(rest.completeThrough >= begun.completeThrough).toBe(true);
  expect(await readAll(scene.nodes[0].stores, scene.orgId)).toEqual(before);
  await scene.change(3);
  await poller.walk(5);
  expect([
    compare(await readAll(scene.nodes[0].stores, scene.orgId), poller.copy),
    scene.brokenPromises,
  ]).toEqual([{ lost: [], extra: [] }, []]);
  const entries = await scene.nodes[0].stores.audit.list({ limit: 1 });
  expect(entries.map(({ action, details }) => ({ action, details }))).toEqual([
    { action: 'failover recorded', details: { timeline: 2 } },
  ]);
  await nextPair();
});

test('after a failover that lost changes, pollers end with the right copy, and the loss is reported', async () => {
  const url = await newUrl();
  const adminPort = await freePort();
  await using scene = await Scene.open(url, { adminPort });
  const pollers = [0, 1].map((index) => new OpenWalkPoller(scene.pages([scene.node(index as 0 | 1)])));
  await scene.change(...ROWS);
  for (const poller of pollers) await poller.walk(5);
  const token = await scene.nodes[0].token('private', 'fast');
  await scene.nodes[0].transactions([transaction(201, { passbackData: 'kept' })], 'fast');
  await untilCaughtUp(primary, standby);
  await cutReplication();
  await scene.change(2, 3, 99);
  await pollers[0]?.walk(5);
  const announced = await changeWithFastClock(scene, url, token);
  // Both servers have announced the changes that will be lost.
  await scene.node(1)('/v1/transactions/?limit=1');
  await scene.nodes[1].get('/v1/transactions/', token);
  const old = primary;
  await promote();
  await failoverOf(scene.nodes[0]);
  // The old primary still accepts writes. Both servers have left it.
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  };
  while ((await metric('offerbook_database_rivals')) !== 1) await Bun.sleep(20);
  for (const node of scene.nodes)
    expect(await failoverOf(node)).toMatchObject({
      level: 50,
      lost: ['acme', 'fast'],
      timeline: expect.any(Number),
    });
  const restamped = ({ msg }: Record<string, unknown>) =>
    msg === 'transactions have new stamps after a failover';
  const allRestamped = () =>
    scene.nodes.flatMap(({ logLines }) => logLines.map((line) => JSON.parse(line))).filter(restamped);
  while (allRestamped().length < 2) await Bun.sleep(10);
  await untilServed(scene);
  await scene.change(4);
  for (const poller of pollers) await poller.walk(5);
  const truth = await readAll(scene.nodes[0].stores, scene.orgId);
  expect(pollers.map((poller) => compare(truth, poller.copy))).toEqual([
    // Nothing can withdraw a row that was sent.
    { lost: [], extra: [transaction(99).id] },
    { lost: [], extra: [] },
  ]);
  expect(scene.brokenPromises).toEqual([]);
  // The stamp of the lost change was an hour ahead of the clock that recorded the failover.
  const later = await readPage(
    await scene.nodes[0].get(`/v1/transactions/?updatedAtGreaterThan=${announced}`, token),
  );
  expect(later.rows).toMatchObject([{ id: transaction(201).id, passbackData: 'kept' }]);
  expect(later.completeThrough > announced).toBe(true);
  expect(allRestamped().sort((a, b) => a.org.localeCompare(b.org))).toMatchObject([
    { org: 'acme', transactions: ROWS.length },
    { org: 'fast', transactions: 1 },
  ]);

  // The old primary has the lost changes, in the format of imports.
  const oldUrl = url.replace(/@.*\//, `@127.0.0.1:${old.port}/`);
  const env = {
    OFFERBOOK_DATABASE_URL: url.replace(`127.0.0.1:${old.port},`, ''),
    OFFERBOOK_OLD_URL: oldUrl,
  };
  const summary = await offerbook(['failover', 'report', '--json'], { env });
  expect(JSON.parse(summary.stdout)).toEqual({
    organisations: [
      { org: 'acme', transactions: 3 },
      { org: 'fast', transactions: 1 },
    ],
  });
  const rows = await offerbook(['failover', 'report', '--org', 'acme'], { env });
  await old.process.stop();
  const imported = await offerbook(['import', 'transactions', '-', '--org', 'acme'], {
    env,
    stdin: rows.stdout,
  });
  expect(imported.code).toBe(0);
  for (const poller of pollers) await poller.walk(5);
  const repaired = await readAll(scene.nodes[0].stores, scene.orgId);
  expect(repaired.size).toBe(ROWS.length + 1);
  expect(pollers.map((poller) => compare(repaired, poller.copy))).toEqual([
    { lost: [], extra: [] },
    { lost: [], extra: [] },
  ]);
  await nextPair();
});

test('with a read-only role, a server returns 503 while announced changes are missing, until a command has recorded the failover', async () => {
  const url = await newUrl();
  const name = url.slice(url.lastIndexOf('/') + 1);
  await using writer = await TestNode.start({ databaseUrl: url });
  await writer.transactions([transaction(1, { passbackData: 'kept' })]);
  const token = await writer.token('private');
  await writer.stopNode();
  const admin = new SQL(urlOf([primary], name));
  await admin.unsafe(
    `CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`,
  );
  await admin.close();
  await untilCaughtUp(primary, standby);
  await using node = await TestNode.start({ databaseUrl: urlOf([primary, standby], name, 'reader:reader') });
  const read = async () => readPage(await node.get('/v1/transactions/', token));
  await cutReplication();
  await writer.transactions([transaction(1, { passbackData: 'lost' })]);
  const announced = await read();
  // The old primary still accepts writes, so that no connection is lost.
  await promote();
  const lacksChanges = () => node.logLines.some((line) => line.includes('the database lacks changes'));
  while (!lacksChanges()) await node.get('/v1/transactions/', token);
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
  await primary.process.stop();
  await nextPair();
});

test("pages contain changes that the replica lacks only if the client's window requires them, and after the replica's promotion, the node reads another replica", async () => {
  const name = new URL((await newUrl()).replace(/,[^/]*/, '')).pathname.slice(1);
  const other = await startReplica(primary);
  servers.push(other);
  const url = urlOf([primary, standby, other], name);
  const stores = await openStores(url, CREATE_OPTIONS);
  await stores.close();
  await untilCaughtUp(primary, standby);
  const frozen = postgresProcesses(other.directory);
  for (const pid of frozen) signalIfThere(pid, 'SIGSTOP');
  await using node = await TestNode.start({ databaseUrl: url, settings: { replicaUrl: url } });
  await untilReplicaIsRead(node);
  for (const pid of frozen) signalIfThere(pid, 'SIGCONT');
  const token = await node.token('private');
  const read = async (search = '') => readPage(await node.get(`/v1/transactions/${search}`, token));
  const change = async (version: number) => {
    await node.transactions([transaction(1, { passbackData: `version ${version}` })]);
    return printTimestamp((await node.stores.transactions.page(EVERYTHING)).completeThroughMs);
  };
  const EVERYTHING = {
    orgId: (await node.organisation()).id,
    cursor: undefined,
    window: { minMs: 0, maxMs: 8.64e15 },
    limit: 1,
  };
  const first = await change(1);
  for (const server of [standby, other]) await untilCaughtUp(primary, server);
  for (const server of [standby, other]) await cutReplication(server);
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

  await promote();
  await primary.process.stop();
  // The node's replica has been promoted, or does not follow the new primary.
  await node.logged(({ msg }) => String(msg).startsWith('the replica is unusable'));
  const conninfo = `host=127.0.0.1 port=${standby.port} user=${USER} password=${PASSWORD}`;
  await query(other, `ALTER SYSTEM SET primary_conninfo = '${conninfo}'`);
  await query(other, 'SELECT pg_reload_conf()');
  await untilReplicaIsRead(node);
  expect(await failoverOf(node)).toMatchObject({ level: 50, lost: ['acme'] });
  await node.logged(({ msg }) => msg === 'transactions have new stamps after a failover');
  await untilCaughtUp(standby, other);
  const repaired = version(await read(`?updatedAtGreaterThan=${second}`));
  expect(repaired).toEqual({ versions: ['version 1'], completeThrough: expect.any(String) });
  expect(repaired.completeThrough > second).toBe(true);
  await other.process.stop();
  await nextPair();
});

test('if no server was running during a failover, doctor and the server report it until an operator marks it', async () => {
  const url = await newUrl();
  const env = { OFFERBOOK_DATABASE_URL: url };
  const scene = await Scene.open(url);
  const poller = new OpenWalkPoller(scene.pages([scene.node(0)]));
  await scene.change(...ROWS);
  await untilCaughtUp(primary, standby);
  await cutReplication();
  await scene.change(2);
  await poller.walk(5);
  const { completeThrough } = await readPage(await scene.node(0)('/v1/transactions/'));
  const [token] = scene.tokens;
  await scene[Symbol.asyncDispose]();
  await primary.process.stop();
  await promote();

  const clock = () => timestampMs(completeThrough) + 60_000;
  await using node = await TestNode.start({ databaseUrl: url, clock });
  await node.logged(({ msg }) => String(msg).includes('no server knows whether changes were lost'));
  expect(await doctor(env)).toBe('fault');
  // The clocks have jumped, so that the watermark is not in the future.
  const after = await readPage(
    await node.get(`/v1/transactions/?updatedAtGreaterThan=${completeThrough}`, token),
  );
  expect(after).toEqual({ rows: [], cursor: undefined, completeThrough: printTimestamp(clock()) });
  const marked = await offerbook(['failover', 'mark', '--json'], { env });
  expect(JSON.parse(marked.stdout)).toEqual({ stamped: ROWS.length });
  expect(await doctor(env)).toBe('ok');
  const again = await readPage(
    await node.get(`/v1/transactions/?updatedAtGreaterThan=${completeThrough}`, token),
  );
  expect(again.rows).toHaveLength(ROWS.length);
});

test('if the cluster returns to the old primary, servers refuse it until an operator has marked it and restarted them', async () => {
  await nextPair();
  const url = await newUrl();
  const env = { OFFERBOOK_DATABASE_URL: url };
  const scene = await Scene.open(url);
  let send = scene.node(0);
  const poller = new OpenWalkPoller(scene.pages([(path) => send(path)]));
  await scene.change(...ROWS);
  await untilCaughtUp(primary, standby);
  await promote();
  await failoverOf(scene.nodes[0]);
  await scene.change(2, 3);
  await poller.walk(5);
  await standby.process.stop();
  const { logLines } = scene.nodes[0];
  while (!logLines.some((line) => line.includes('but this process has used timeline'))) {
    await scene.node(0)('/v1/transactions/');
    await Bun.sleep(20);
  }
  expect((await scene.node(0)('/v1/transactions/')).status).toBe(503);
  const [token] = scene.tokens;
  await scene[Symbol.asyncDispose]();

  const marked = await offerbook(['failover', 'mark', '--json'], { env });
  expect(JSON.parse(marked.stdout)).toEqual({ stamped: ROWS.length });
  await using node = await TestNode.start({ databaseUrl: url });
  send = (path) => node.get(path, token);
  await poller.walk(5);
  expect([compare(await readAll(node.stores, scene.orgId), poller.copy), scene.brokenPromises]).toEqual([
    { lost: [], extra: [] },
    [],
  ]);
});
