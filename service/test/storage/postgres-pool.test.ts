import { expect, test } from 'bun:test';
import { StorageError } from '../../src/domain/storage-error.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { type FaultProxy, startFaultProxy } from '../chaos/cluster/fault-proxy.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { until } from '../support/until.ts';
import { openTestStores, rejection } from './open-test-stores.ts';

const open = openTestStores();

/** A URL that lists the proxy twice, so that the pool has to search for the primary first. */
async function behind(proxy: FaultProxy, url: string): Promise<string> {
  const { username, password, pathname } = new URL(url);
  const servers = `127.0.0.1:${proxy.port},127.0.0.1:${proxy.port}`;
  return `postgres://${username}:${password}@${servers}${pathname}`;
}

async function otherConnections(url: string): Promise<unknown[]> {
  return open
    .database(url, { ...COMMAND_OPTIONS, connectionsMax: 1 })
    .all(`SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`);
}

test('closing a pool while connections are being opened leaves no connection open, and none is opened later', async () => {
  const url = await newPostgresSchema();
  await using proxy = await startFaultProxy(Number(new URL(url).port));
  const database = open.database(await behind(proxy, url), SERVER_OPTIONS);
  // The proxy keeps its open connections when it falls silent.
  proxy.fallSilent();
  const asked = rejection(database.all('SELECT 1'));
  await database.close();
  proxy.comeBack();
  // The search for the primary has ended; it would have opened a connection for this statement.
  expect(await asked).toMatchObject({ kind: 'unavailable' });
  expect(await rejection(database.all('SELECT 1'))).toEqual(
    new StorageError('unavailable', 'the database has been closed'),
  );
  await until(
    () => otherConnections(url),
    (rows) => rows.length === 0,
  );
});

test('new connections replace unresponsive ones', async () => {
  const url = await newPostgresSchema();
  await using proxy = await startFaultProxy(Number(new URL(url).port));
  const options = { ...SERVER_OPTIONS, statementTimeoutMs: 100 };
  const database = open.database(await behind(proxy, url), options);
  await database.all('SELECT 1');
  proxy.fallSilent();
  const asked = await Promise.all([rejection(database.all('SELECT 2')), rejection(database.all('SELECT 3'))]);
  proxy.comeBack();
  expect(asked.map(({ message }) => message)).toEqual([
    'PostgreSQL has not responded for 1100 ms',
    'PostgreSQL has not responded for 1100 ms',
  ]);
  expect(await database.all<{ one: number }>('SELECT 4 AS one')).toEqual([{ one: 4 }]);
});

test('each pool counts its connections in use and its waiting statements', async () => {
  const url = await newPostgresSchema();
  const database = open.database(url, { ...SERVER_OPTIONS, statementTimeoutMs: 60_000 });
  const idle = { pages: { inUse: 0, waiting: 0, max: 7 }, other: { inUse: 0, waiting: 0, max: 2 } };
  expect(database.pools()).toEqual(idle);
  const end = Promise.withResolvers<void>();
  const held = [1, 2, 3].map(() => database.write(() => end.promise));
  const reading = database.read(() => end.promise);
  const busy = { pages: { inUse: 1, waiting: 0, max: 7 }, other: { inUse: 2, waiting: 1, max: 2 } };
  await until(
    () => database.pools(),
    (pools) => Bun.deepEquals(pools, busy),
  );
  const single = database.all<{ one: number }>('SELECT 1 AS one');
  await until(
    () => database.pools(),
    (pools) => pools?.other.waiting === 2,
  );
  end.resolve();
  await Promise.all([...held, reading, single]);
  expect(database.pools()).toEqual(idle);
});

test('a running statement counts as a connection in use', async () => {
  const url = await newPostgresSchema();
  const database = open.database(url, { ...SERVER_OPTIONS, statementTimeoutMs: 60_000 });
  const locker = open.database(url, COMMAND_OPTIONS);
  await locker.write(async (connection) => {
    await connection.all('SELECT pg_advisory_xact_lock(1)');
    void database.all('SELECT pg_advisory_lock_shared(1)').catch(() => {});
    const pools = await until(
      () => database.pools(),
      (each) => each?.other.inUse === 1,
    );
    expect(pools?.other).toEqual({ inUse: 1, waiting: 0, max: 2 });
  });
  await until(
    () => database.pools(),
    (pools) => pools?.other.inUse === 0,
  );
});
