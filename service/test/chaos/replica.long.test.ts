// Pages of transactions from a streaming replica that lags, is paused, is frozen, or has lost its primary: Complete-Through
// is still correct, and no poller misses a change, wherever its pages come from.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { printTimestamp, timestampMs } from '@offerbook/wire/timestamp.ts';
import { FIRST_ID } from '@offerbook/wire/uuid.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { freePort } from '../support/postgres-server.ts';
import { TestNode } from '../support/test-node.ts';
import { until } from '../support/until.ts';
import { readMetric } from './cluster/node.ts';
import { freeze, openReplicaScene, Pair, untilReplicaIsRead } from './cluster/pair.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await Pair.start();
});

afterAll(() => pair[Symbol.asyncDispose]());

afterEach(() => pair.release());

const openScene = () => openReplicaScene(pair);

describe('pages from a replica', () => {
  test("a page from a replica shows the replica's state and reports how far that state is complete", async () => {
    await using scene = await openScene();
    await scene.change(1);
    await pair.untilCaughtUp();
    const before = await scene.page(0);
    expect(await scene.page(1)).toEqual(before);

    await pair.hold();
    await scene.change(1, 2);
    const after = await scene.page(0);
    expect(after.completeThrough > before.completeThrough).toBe(true);
    expect(await scene.page(1)).toEqual(before);
    await pair.release();
    await pair.untilCaughtUp();
    expect(await scene.page(1)).toEqual(after);
  });

  test('the metrics report whether the replica is used and how far it lags', async () => {
    const adminPort = await freePort();
    await using scene = await openReplicaScene(pair, { settings: { adminPort } });
    const gauge = (name: string) => readMetric(`http://127.0.0.1:${adminPort}`, `offerbook_replica_${name}`);
    const untilLag = (accepts: (seconds: number) => boolean) => until(() => gauge('lag_seconds'), accepts);
    expect(await gauge('usable')).toBe(1);
    await pair.hold();
    await scene.change(1);
    await untilLag((seconds) => seconds > 0.5);
    await pair.release();
    await untilLag((seconds) => seconds === 0);
  });

  test('a page is read from the primary if the replica lags behind what the client already knows', async () => {
    await using scene = await openScene();
    await scene.change(1, 2, 3);
    await pair.untilCaughtUp();
    await pair.hold();
    await scene.change(2, 3);
    const told = await scene.page(0, '?limit=2');
    for (const search of [
      // Later pages of the walk, and a window that ends with what is complete.
      `?limit=2&cursor=${told.cursor}`,
      `?updatedAtLessThan=${printTimestamp(timestampMs(told.completeThrough) + 1)}`,
      `?updatedAtGreaterThan=${told.completeThrough}`,
    ])
      expect(await scene.page(1, search)).toEqual(await scene.page(0, search));
  });

  test('later pages show the state of the first page, even on the primary, which is ahead', async () => {
    await using scene = await openScene();
    await scene.change(1, 2, 3);
    const before = await scene.page(0);
    await pair.untilCaughtUp();
    await pair.hold();
    await scene.change(1, 3);
    const begun = await scene.page(1, '?limit=2');
    const later = await scene.page(0, `?limit=2&cursor=${begun.cursor}`);
    expect([...begun.rows, ...later.rows]).toEqual([...before.rows]);
    expect(later.completeThrough).toBe(begun.completeThrough);
  });

  test('a page is read from the primary if the replica lags by more than the limit', async () => {
    await using scene = await openReplicaScene(pair, { replicaLagMaxMs: 500 });
    await scene.change(1);
    await pair.untilCaughtUp();
    await pair.hold();
    await scene.change(1, 2);
    const { reason } = await scene.nodes[1].logged(
      ({ msg }) => msg === 'the replica is unusable; transactions are read from the primary',
    );
    expect(reason).toMatch(/^it is \d+ s behind$/);
    const instead = await scene.page(1);
    expect(instead.rows).toHaveLength(2);
    expect(instead).toEqual(await scene.page(0));
    await pair.release();
    await untilReplicaIsRead(scene.nodes[1]);
  });

  test('pages are read from the primary while the replica is frozen, and from the replica after it resumes', async () => {
    await using scene = await openScene();
    await scene.change(1);
    await pair.untilCaughtUp();
    const wake = freeze(pair.standby);
    await scene.change(1, 2);
    const { rows } = await scene.page(1);
    wake();
    expect(rows).toHaveLength(2);
    await untilReplicaIsRead(scene.nodes[1]);
  });

  test('a single page is served while the primary is unreachable, but a walk with several pages gets 503', async () => {
    await using scene = await openScene();
    await scene.change(1, 2, 3);
    await pair.untilCaughtUp();
    const { completeThrough } = await scene.page(1);
    const complete = `updatedAtLessThan=${printTimestamp(timestampMs(completeThrough) + 1)}`;
    const statuses: number[] = [];
    const after = `updatedAtGreaterThan=${completeThrough}`;
    const wake = freeze(pair.primary);
    try {
      for (const query of ['', after, complete, `limit=2&${complete}`, 'limit=2'])
        statuses.push((await scene.node(1)(`/v1/transactions/?${query}`)).status);
    } finally {
      wake();
    }
    expect(statuses).toEqual([200, 200, 200, 503, 503]);
  });
});

test('a node without its primary stops serving transactions, because it cannot see revocations', async () => {
  await using scene = await openReplicaScene(pair, { replicaLagMaxMs: 500 });
  const [, node] = scene.nodes;
  const token = await node.token('private');
  const status = async () => (await node.get('/v1/transactions/', token)).status;
  expect(await status()).toBe(200);
  const wake = freeze(pair.primary);
  try {
    expect(await status()).toBe(200);
    await until(status, (found) => found === 503);
  } finally {
    wake();
  }
  await until(status, (found) => found === 200);
});

test('a standby configured as the primary serves first pages and returns 503 for later pages', async () => {
  await using scene = await openScene();
  await scene.change(1, 2, 3);
  await pair.untilCaughtUp();
  // An address that follows the primary may briefly point to a standby.
  await using node = await TestNode.start({
    databaseUrl: scene.nodes[0].databaseUrl.replace(`:${pair.primary.port}/`, `:${pair.standby.port}/`),
    database: SERVER_OPTIONS,
  });
  const get = async (path: string) => (await node.get(`/v1/transactions/${path}`, scene.tokens[0])).status;
  expect([await get(''), await get('?limit=2'), await get(`?limit=2&cursor=${FIRST_ID}`)]).toEqual([
    200, 200, 503,
  ]);
});
