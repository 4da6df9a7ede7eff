// A standby replaces the primary while servers and pollers are running: Complete-Through never goes back, and pollers that
// continue from their watermarks end with the right copy, even if the new primary lacks changes that were announced. Further
// failovers are in failover.long.test.ts.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { offerbook, ServerProcess } from '../support/command.ts';
import { transaction } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';
import { readMetric } from './cluster/node.ts';
import { failoverOf, Pair } from './cluster/pair.ts';
import { Scene } from './cluster/scene.ts';
import { readAll } from './model/comparison.ts';
import { readPage } from './traffic/page-reader.ts';
import { openWalkPoller } from './traffic/pollers.ts';

const ROWS = Array.from({ length: 12 }, (_, i) => i + 1);
let pair: Pair;

beforeAll(async () => {
  pair = await Pair.start();
});

afterAll(() => pair[Symbol.asyncDispose]());

async function untilServed(scene: Scene): Promise<void> {
  for (const index of [0, 1] as const)
    await until(
      async () => (await scene.node(index)('/v1/transactions/')).status,
      (status) => status === 200,
    );
  // The stores of the test notice with their next statement that their server is gone.
  for (const { stores } of scene.nodes) await stores.revisions().catch(() => {});
}

/** Imports a change on a machine whose clock is an hour ahead, and returns the Complete-Through of a page with the change. */
async function changeWithFastClock(scene: Scene, databaseUrl: string, token: string): Promise<Timestamp> {
  const fastClock = () => Date.parse('2026-11-14T13:00:00Z');
  const stores = await openStores(databaseUrl, COMMAND_OPTIONS, fastClock);
  const org = await scene.nodes[0].organisation('fast');
  const rows = ndjson([transaction(201, { passbackData: 'lost' })]);
  await importTransactions(stores, org, sourceFrom(rows), fastClock, {});
  await stores.close();
  return (await readPage(await scene.nodes[0].get('/v1/transactions/', token))).completeThrough;
}

test('after a synchronous failover, no transaction gets a new stamp, and walks in progress continue', async () => {
  await using scene = await Scene.open(pair.url(await pair.newDatabase()));
  const poller = openWalkPoller(scene.pages([scene.node(0)]));
  await scene.change(...ROWS);
  await poller.walk(5);
  const env = { OFFERBOOK_DATABASE_URL: scene.nodes[0].databaseUrl };
  await using workers = await ServerProcess.start(['--workers', '2'], { env });
  const begun = await scene.page(1, '?limit=5');
  const before = await readAll(scene.nodes[0].stores, scene.orgId);
  await pair.untilCaughtUp();
  await pair.promote();
  await pair.primary.process.stop();
  await untilServed(scene);
  expect(await failoverOf(scene.nodes[0])).toMatchObject({ level: 30, timeline: 2 });
  await workers.logged('PostgreSQL has failed over; no change was lost', 2);
  // Walk records are unlogged, so the new primary has none: later pages show current data.
  const rest = await scene.page(1, `?limit=50&cursor=${begun.cursor}`);
  expect([...begun.rows, ...rest.rows]).toHaveLength(ROWS.length);
  expect(rest.completeThrough >= begun.completeThrough).toBe(true);
  expect(await readAll(scene.nodes[0].stores, scene.orgId)).toEqual(before);
  await scene.change(3);
  await poller.walk(5);
  expect([await scene.compare(poller), scene.brokenPromises]).toEqual([{ lost: [], extra: [] }, []]);
  const entries = await scene.nodes[0].stores.audit.list({ limit: 1 });
  expect(entries.map(({ action, details }) => ({ action, details }))).toEqual([
    { action: 'failover recorded', details: { timeline: 2 } },
  ]);
  await pair.replacePrimary();
});

test('after a failover that lost changes, pollers end with the right copy, and the loss is reported', async () => {
  const url = pair.url(await pair.newDatabase());
  const adminPort = await freePort();
  await using scene = await Scene.open(url, { settings: { adminPort } });
  const pollers = [0, 1].map((index) => openWalkPoller(scene.pages([scene.node(index as 0 | 1)])));
  await scene.change(...ROWS);
  for (const poller of pollers) await poller.walk(5);
  const token = await scene.nodes[0].token('private', 'fast');
  await scene.nodes[0].transactions([transaction(201, { passbackData: 'kept' })], 'fast');
  await pair.untilCaughtUp();
  await pair.cut();
  await scene.change(2, 3, 99);
  await pollers[0]?.walk(5);
  const announced = await changeWithFastClock(scene, url, token);
  // Both servers have announced the changes that will be lost.
  await scene.node(1)('/v1/transactions/?limit=1');
  await scene.nodes[1].get('/v1/transactions/', token);
  // Both servers poll the old primary once more, so that both report the loss of all these changes.
  for (const node of scene.nodes) await node.links();
  const old = pair.primary;
  await pair.promote();
  await failoverOf(scene.nodes[0]);
  // The old primary still accepts writes. Both servers have left it.
  await until(
    () => readMetric(`http://127.0.0.1:${adminPort}`, 'offerbook_database_rivals'),
    (rivals) => rivals === 1,
  );
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
  await until(allRestamped, ({ length }) => length === 2);
  await untilServed(scene);
  await scene.change(4);
  for (const poller of pollers) await poller.walk(5);
  const differences = () => Promise.all(pollers.map((poller) => scene.compare(poller)));
  expect(await differences()).toEqual([
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
  expect((await readAll(scene.nodes[0].stores, scene.orgId)).size).toBe(ROWS.length + 1);
  expect(await differences()).toEqual(pollers.map(() => ({ lost: [], extra: [] })));
});
