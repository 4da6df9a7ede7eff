// Failovers, simulated on one PostgreSQL server. chaos/failover.test.ts promotes real standbys.

import { describe, expect, test } from 'bun:test';
import { Logger } from '../../src/domain/logger.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import type { Database } from '../../src/storage/database.ts';
import { watchCluster } from '../../src/storage/postgres/cluster-watch.ts';
import { readTransactionPage } from '../../src/storage/transactions/transaction-page.ts';
import { transaction } from '../support/fixtures.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { failOver } from '../support/simulated-failover.ts';
import { TestNode } from '../support/test-node.ts';
import { until } from '../support/until.ts';
import {
  EVERYTHING,
  newIds,
  newOrganisation,
  openTestStores,
  rejection,
  writeTransactions,
} from './open-test-stores.ts';

const open = openTestStores();
const STAMP_MS = Date.parse('2026-11-14T12:00:00Z');
const LATER_MS = STAMP_MS + 60_000;
const auditor = { clock: () => LATER_MS, by: 'the test' };

/** A database with an organisation whose last stamp is STAMP_MS + 1. */
async function prepare() {
  const { url, stores, orgId } = await open.scene({ create: newPostgresSchema }, STAMP_MS);
  await writeTransactions(stores, orgId, newIds(2));
  return { stores, orgId, database: open.database(url), query: { orgId, window: EVERYTHING, limit: 10 } };
}

describe('recording a failover', () => {
  test('until a failover is recorded, imports are rejected and change nothing', async () => {
    const { stores, orgId, database } = await prepare();
    await failOver(database);
    const before = await database.all('SELECT * FROM transactions');
    expect(await rejection(writeTransactions(stores, orgId, newIds(1)))).toEqual(
      new StorageError('unavailable', 'PostgreSQL has just failed over; try again'),
    );
    expect(await database.all('SELECT * FROM transactions')).toEqual(before);
    await database.recordFailover(auditor);
    expect(await writeTransactions(stores, orgId, newIds(1))).toBe(LATER_MS + 1);
  });

  test('recording a failover moves every change clock to the present, and none back', async () => {
    const { stores, database } = await prepare();
    await newOrganisation(stores, 'fast');
    const fastMs = LATER_MS + 3_600_000;
    await database.all("UPDATE organisations SET last_stamp = $1 WHERE name = 'fast'", fastMs);
    const clocksSql = `
      SELECT name, timeline_id AS timeline, c.last_stamp AS before, moved_to AS moved, o.last_stamp AS clock
        FROM timeline_clocks c JOIN organisations o ON o.id = org_id ORDER BY timeline_id, name`;
    await failOver(database);
    await database.recordFailover(auditor);
    const first = [
      { name: 'acme', timeline: 2, before: STAMP_MS + 1, moved: LATER_MS, clock: LATER_MS },
      { name: 'fast', timeline: 2, before: fastMs, moved: fastMs, clock: fastMs },
    ];
    expect(await database.all<object>(clocksSql)).toEqual(first);
    // The second failover is recorded on a machine with a slow clock.
    await failOver(database);
    await database.recordFailover({ ...auditor, clock: () => STAMP_MS });
    expect(await database.all<object>(clocksSql)).toEqual([
      ...first,
      { name: 'acme', timeline: 3, before: LATER_MS, moved: LATER_MS, clock: LATER_MS },
      { name: 'fast', timeline: 3, before: fastMs, moved: fastMs, clock: fastMs },
    ]);
  });

  test('recording a failover skips the ids of timelines whose records were lost', async () => {
    const { database } = await prepare();
    await failOver(database, { unrecorded: 2 });
    await database.recordFailover(auditor);
    expect(await database.all<object>('SELECT id FROM timelines ORDER BY id')).toEqual([
      { id: 1 },
      { id: 4 },
    ]);
  });

  test('recording a failover skips revisions that servers may have loaded and the failover has lost', async () => {
    const { stores, database } = await prepare();
    const { catalogue, tokens, activation, webhooks } = await stores.revisions();
    await failOver(database);
    await database.recordFailover(auditor);
    expect(await stores.revisions()).toEqual({
      catalogue: catalogue + 1_000,
      tokens: tokens + 1_000,
      activation: activation + 1_000,
      webhooks: webhooks + 1_000,
    });
  });
});

/** Lets a test act while a page is being read. */
function newGate() {
  const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    reached: reached.promise,
    open: () => open.resolve(),
    async pass() {
      reached.resolve();
      await open.promise;
    },
  };
}

describe('pages that are being read when a failover is noticed', () => {
  type Parts = Parameters<typeof watchCluster>[0];

  function watch(database: Database, replica?: Parts['replica']) {
    const logger = new Logger('silent', () => {});
    return watchCluster({ database, auditor, logger, replica, openOwn: () => database });
  }

  test.each(['the primary', 'a replica'])(
    'a page that %s sent before the failover is discarded',
    async (source) => {
      const { database, query } = await prepare();
      const gate = newGate();
      let isFirst = true;
      const slowly = async <Result>(reading: Promise<Result>): Promise<Result> => {
        const result = await reading;
        if (isFirst) await gate.pass();
        isFirst = false;
        return result;
      };
      const cluster =
        source === 'a replica'
          ? watch(database, { findPage: (page) => slowly(readTransactionPage(database, page)) })
          : watch({ ...database, allWithBytes: (...args) => slowly(database.allWithBytes(...args)) });
      await cluster.check();
      const reading = cluster.readPage(query);
      await gate.reached;
      await failOver(database);
      await cluster.check();
      gate.open();
      expect((await reading).completeThroughMs).toBe(LATER_MS);
    },
  );
});

test('after a failover that lost changes, later pages of a walk contain the restamped rows', async () => {
  let nowMs = STAMP_MS;
  await using node = await TestNode.start({ databaseUrl: await newPostgresSchema(), clock: () => nowMs });
  const token = await node.token('private');
  await node.transactions([1, 2, 3, 4].map((number) => transaction(number)));
  nowMs += 1_000;
  await node.transactions([transaction(1, { status: 'CONFIRMED' })]);
  const read = async (search: string) => {
    const response = await node.get(`/v1/transactions/?limit=2${search}`, token);
    const { data, cursor } = (await response.json()) as { data: { id: string }[]; cursor?: string };
    return {
      ids: data.map(({ id }) => id),
      cursor,
      completeThrough: response.headers.get('Complete-Through'),
    };
  };
  const begun = await read('');
  nowMs += 1_000;
  const database = open.database(node.databaseUrl);
  await failOver(database, { clockMs: STAMP_MS });
  await node.logged(({ msg }) => msg === 'transactions have new stamps after a failover');
  const later = await read(`&cursor=${begun.cursor}`);
  expect(later.ids).toEqual([transaction(3).id, transaction(4).id]);
  expect(String(later.completeThrough) > String(begun.completeThrough)).toBe(true);
});

test('the thread that sends webhooks notices failovers', async () => {
  await using node = await TestNode.start({ databaseUrl: await newPostgresSchema() });
  await node.stores.webhooks.create((await node.organisation()).id, 'https://partner.invalid/', 0);
  await node.logged(({ msg }) => msg === 'this node sends webhooks');
  const database = open.database(node.databaseUrl);
  const noticed = () => node.logLines.filter((line) => line.includes('PostgreSQL has failed over')).length;
  await failOver(database);
  // Once by the node itself, and once by the thread.
  await until(noticed, (count) => count === 2, 20_000);
});
