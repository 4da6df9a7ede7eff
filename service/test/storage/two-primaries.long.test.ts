// Two servers of one URL that both accept writes: a standby was promoted while the old primary is still running.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Logger } from '../../src/domain/logger.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import type { ReplicaState } from '../../src/domain/stores.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { startFaultProxy } from '../chaos/cluster/fault-proxy.ts';
import { freezeAll, postgresProcesses } from '../support/postgres-processes.ts';
import { query, removePostgres, startReplica, untilCaughtUp } from '../support/postgres-replica.ts';
import {
  PASSWORD,
  type PostgresServer,
  postgresUrl,
  startPostgres,
  USER,
} from '../support/postgres-server.ts';
import { failOver } from '../support/simulated-failover.ts';
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
const PORT_SQL = 'SELECT inet_server_port() AS port';

let old: PostgresServer;
let promoted: PostgresServer;

beforeAll(async () => {
  old = await startPostgres(['-c', 'fsync=off']);
  await query(old, "CREATE ROLE plain LOGIN PASSWORD 'plain'");
  promoted = await startReplica(old);
});

afterAll(async () => {
  for (const server of [promoted, old]) await removePostgres(server);
});

function urlOf(servers: readonly Pick<PostgresServer, 'port'>[], user = `${USER}:${PASSWORD}`): string {
  return `postgres://${user}@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`;
}

async function portOf(url: string, options = SERVER_OPTIONS): Promise<number | undefined> {
  const [row] = await open.database(url, options).all<{ port: number }>(PORT_SQL);
  return row?.port;
}

describe('a standby that has not received a failover', () => {
  const STAMP_MS = Date.parse('2026-11-14T12:00:00Z');
  const LATER_MS = STAMP_MS + 60_000;

  /** Opens stores that read from the standby, then lets the primary fail over while the standby is paused. */
  async function failOverWithoutStandby(stack: AsyncDisposableStack, lookIntervalMs: number) {
    const name = `replica_${Bun.randomUUIDv7().replaceAll('-', '')}`;
    await query(old, `CREATE DATABASE ${name}`);
    const early = await open.stores(postgresUrl(old.port, name), COMMAND_OPTIONS, () => STAMP_MS);
    const { id: orgId } = await newOrganisation(early);
    await writeTransactions(early, orgId, newIds(2));
    await untilCaughtUp(old, promoted);
    const states: ReplicaState[] = [];
    const stores = await openStores(postgresUrl(old.port, name), SERVER_OPTIONS, () => LATER_MS, {
      replica: {
        url: postgresUrl(promoted.port, name),
        onChange: (state) => states.push(state),
        lookIntervalMs,
      },
      clusterLogger: new Logger('silent', () => {}),
    });
    stack.defer(() => stores.close());
    await stores.revisions();
    await until(() => states.at(-1)?.isUsable);
    stack.defer(() => query(promoted, 'SELECT pg_wal_replay_resume()').then(() => {}));
    await query(promoted, 'SELECT pg_wal_replay_pause()');
    await failOver(open.database(postgresUrl(old.port, name)));
    await stores.revisions();
    return { stores, states, orgId };
  }

  test('a replica that does not know the new timeline becomes unusable', async () => {
    await using stack = new AsyncDisposableStack();
    const { states } = await failOverWithoutStandby(stack, 20);
    const { reason } = await until(
      () => states.at(-1) as ReplicaState,
      (state) => !state.isUsable,
    );
    expect(reason).toBe('it does not follow the new primary');
  });

  test('until the replica has been measured again, pages that it may lack are read from the primary', async () => {
    await using stack = new AsyncDisposableStack();
    const { stores, orgId } = await failOverWithoutStandby(stack, 3_600_000);
    const query = { orgId, cursor: undefined, window: EVERYTHING, limit: 10 };
    expect((await stores.transactions.page(query)).completeThroughMs).toBe(LATER_MS);
  });
});

describe('two servers that accept writes', () => {
  test('a pool that is in use moves to the promoted server, and every later search finds it', async () => {
    const database = open.database(urlOf([old, promoted]), SERVER_OPTIONS);
    const port = async () => (await database.all<{ port: number }>(PORT_SQL))[0]?.port;
    expect(await port()).toBe(old.port);
    expect(database.rivals()).toEqual([]);
    const [begun, promoting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const committed = rejection(
      open.database(urlOf([old, promoted])).write(() => {
        begun.resolve();
        return promoting.promise;
      }),
    );
    await begun.promise;
    await query(promoted, 'SELECT pg_promote()');
    await until(port, (found) => found === promoted.port);
    expect(database.rivals()).toEqual([`127.0.0.1:${old.port}`]);
    const urls = Array.from({ length: 10 }, (_, i) => urlOf(i % 2 === 0 ? [old, promoted] : [promoted, old]));
    // On a busy machine, a server may choose the old primary until its next search, so these are commands, one at a time.
    for (const url of urls) expect(await portOf(url, COMMAND_OPTIONS)).toBe(promoted.port);
    // A command that began to write on the old primary does not commit there.
    promoting.resolve();
    expect(await committed).toEqual(
      new StorageError(
        'unavailable',
        `another PostgreSQL server has replaced 127.0.0.1:${old.port} during this transaction, which was rolled back; try again`,
      ),
    );
    // An ordinary role is allowed to ask for the timeline.
    expect(await portOf(urlOf([old, promoted], 'plain:plain'), COMMAND_OPTIONS)).toBe(promoted.port);
  });

  test('a command waits for a server that is slow to respond, because it may have replaced the first', async () => {
    await using slow = await startFaultProxy(promoted.port, 500);
    const url = urlOf([old, { port: slow.port }]);
    expect(await portOf(url, COMMAND_OPTIONS)).toBe(promoted.port);
  });

  test('a process that has used the promoted server refuses to return to the old one', async () => {
    const database = open.database(urlOf([old, promoted]), SERVER_OPTIONS);
    await database.all(PORT_SQL);
    const wake = freezeAll(postgresProcesses(promoted.directory));
    try {
      let error: Error;
      do error = await rejection(database.all(PORT_SQL));
      while (!error.message.includes('timeline'));
      expect(error).toEqual(
        new StorageError(
          'unavailable',
          `the PostgreSQL server at 127.0.0.1:${old.port} is on timeline 1, but this process has used timeline 2`,
        ),
      );
    } finally {
      wake();
    }
    let port: number | undefined;
    do port = await portOf(urlOf([old, promoted]));
    while (port !== promoted.port);
  });
});
