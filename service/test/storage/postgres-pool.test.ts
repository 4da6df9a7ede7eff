import { expect, test } from 'bun:test';
import { SERVER_OPTIONS } from '../../src/storage/open-stores.ts';
import { PostgresPool } from '../../src/storage/postgres/postgres-pool.ts';
import { FaultProxy } from '../faults/fault-proxy.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { openTestStores, rejection } from './open-test-stores.ts';

/** A search among several servers that all are silent is over after a second; the connection is opened then. */
const OPENED_MS = 2_000;
const open = openTestStores();

test('a connection that was given up while it was being opened is not there afterwards', async () => {
  const url = await newPostgresDatabase();
  const { port, username, password, pathname } = new URL(url);
  await using proxy = await FaultProxy.start(Number(port));
  const servers = `127.0.0.1:${proxy.port},127.0.0.1:${proxy.port}`;
  const pool = new PostgresPool(`postgres://${username}:${password}@${servers}${pathname}`, SERVER_OPTIONS);

  proxy.fallSilent();
  // Whoever waits for its first statement loses patience, …
  await rejection(
    pool.use((sql) => Promise.race([sql`SELECT 1`, impatience()]), { inTime: (answer) => answer }),
  );
  // … and then somebody finds that connections have been cut off.
  const cutOff = Object.assign(new Error('cut off'), { code: 'CONNECTION_CLOSED' });
  await rejection(pool.use(() => Promise.reject(cutOff), { inTime: (answer) => answer }));
  proxy.comeBack();

  await Bun.sleep(OPENED_MS);
  const others = await open
    .database(url)
    .all(`SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  await pool.close();
  expect(others).toEqual([]);
}, 10_000);

async function impatience(): Promise<never> {
  await Bun.sleep(20);
  throw new Error('no patience');
}
