import { expect, test } from 'bun:test';
import { DatabaseUnavailable } from '../../src/domain/failures.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { FaultProxy } from '../faults/fault-proxy.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { openTestStores, rejection } from './open-test-stores.ts';

/** A search among several servers that all are silent is over after a second; a connection would be opened then. */
const OPENED_MS = 2_000;
const open = openTestStores();

/** A URL that leads through a proxy, twice, so that the right one of two servers has to be found first. */
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

test('closing while connections are being opened leaves none, and none is opened afterwards', async () => {
  const url = await newPostgresDatabase();
  await using proxy = await FaultProxy.start(Number(new URL(url).port));
  const database = open.database(await behind(proxy, url), SERVER_OPTIONS);
  // The proxy keeps what it has when it falls silent.
  proxy.fallSilent();
  const asked = rejection(database.all('SELECT 1'));
  await database.close();
  proxy.comeBack();
  expect(await asked).toBeInstanceOf(DatabaseUnavailable);
  expect(await rejection(database.all('SELECT 1'))).toEqual(
    new DatabaseUnavailable('the database has been closed'),
  );
  await Bun.sleep(OPENED_MS);
  expect(await otherConnections(url)).toEqual([]);
});

test('when connections fall silent, others take their place', async () => {
  const url = await newPostgresDatabase();
  await using proxy = await FaultProxy.start(Number(new URL(url).port));
  const options = { ...SERVER_OPTIONS, statementTimeoutMs: 100 };
  const database = open.database(await behind(proxy, url), options);
  await database.all('SELECT 1');
  proxy.fallSilent();
  const asked = await Promise.all([rejection(database.all('SELECT 2')), rejection(database.all('SELECT 3'))]);
  proxy.comeBack();
  expect(asked.map(({ message }) => message)).toEqual([
    'PostgreSQL has not answered for 1100 ms',
    'PostgreSQL has not answered for 1100 ms',
  ]);
  expect(await database.all<{ one: number }>('SELECT 4 AS one')).toEqual([{ one: 4 }]);
});
