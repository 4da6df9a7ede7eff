import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newUuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { isStorageError, StorageError } from '../../src/domain/storage-error.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { RETAILERS } from '../../src/storage/schema/tables.ts';
import { advanceClock } from '../../src/storage/stores/change-clock.ts';
import { startFaultProxy } from '../chaos/cluster/fault-proxy.ts';
import { freePort, newPostgresDatabase } from '../support/postgres-server.ts';
import { EVERYTHING, newOrganisation, openTestStores, rejection } from './open-test-stores.ts';

describe('PostgreSQL', () => {
  const open = openTestStores();
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown) => uncaught.push(error);

  beforeAll(() => {
    process.on('uncaughtException', onUncaught);
  });
  afterAll(() => {
    process.off('uncaughtException', onUncaught);
  });

  test('a statement that exceeds the timeout reports the database as unavailable, and none of its data appears in the next response', async () => {
    const database = open.database(await newPostgresDatabase(), {
      ...COMMAND_OPTIONS,
      connectionsMax: 1,
      statementTimeoutMs: 300,
    });
    const breaksOff = `SELECT i, CASE WHEN i = 5000 THEN pg_sleep(30) END FROM generate_series(1, 9000) AS i`;
    const next = () => database.all<{ one: number }>('SELECT 1 AS one');
    for (const attempt of [
      () => database.all(breaksOff),
      () => database.read((connection) => connection.all(breaksOff)),
    ]) {
      expect(await rejection(attempt())).toMatchObject({
        kind: 'unavailable',
        message: 'PostgreSQL is unavailable (canceling statement due to statement timeout)',
      });
      expect(await next()).toEqual([{ one: 1 }]);
      expect(await next()).toEqual([{ one: 1 }]);
    }
  });

  test('any string is read back exactly as it was written', async () => {
    const url = await newPostgresDatabase();
    await open.stores(url);
    const database = open.database(url);
    const anyText = fc
      .oneof(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', ' ', '\n', 'N') }),
      )
      .map((text) => text.replaceAll('\0', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 5 }), async (texts) => {
        const rows = texts
          .map((text) => ({ id: newUuid(), document: text, source: text }))
          .sort((a, b) => (a.id < b.id ? -1 : 1));
        const ids = rows.map(({ id }) => id);
        const found = await database.write(async (connection) => {
          await connection.putMany(RETAILERS, rows);
          const stored = await connection.findMany(RETAILERS, ids);
          await connection.deleteMany(RETAILERS, ids);
          return stored.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        });
        expect(found.map((row) => ({ ...row }))).toEqual(rows);
      }),
      { numRuns: 200 },
    );
  });

  test('queued pages do not delay other statements, and all of them are read', async () => {
    const url = await newPostgresDatabase();
    const database = open.database(url, { ...SERVER_OPTIONS, statementTimeoutMs: 0 });
    let pages: Promise<unknown>[] = [];
    // No page can be read while a different connection holds the lock.
    await open.database(url).write(async (connection) => {
      await connection.all('SELECT pg_advisory_xact_lock(1)');
      pages = Array.from({ length: 40 }, async (_, i) => {
        const [row] = await database.allWithBytes<{ data: Uint8Array; number: number }>(
          'SELECT $1::integer AS number, $1::text AS data FROM pg_advisory_xact_lock_shared(1)',
          i,
        );
        return [row?.number, Buffer.from(row?.data ?? []).toString()];
      });
      await database.all('SELECT 1');
      await database.write((other) => other.all('SELECT 1'));
    });
    expect(await Promise.all(pages)).toEqual(Array.from({ length: 40 }, (_, i) => [i, String(i)]));
  });

  test('if PostgreSQL takes 3 s to accept a connection, a server reports it as unavailable after 2 s, and a command waits', async () => {
    const url = new URL(await newPostgresDatabase());
    await using proxy = await startFaultProxy(Number(url.port), 3_000);
    url.port = String(proxy.port);
    const answers = [SERVER_OPTIONS, COMMAND_OPTIONS].map((options) =>
      open
        .database(url.href, options)
        .all('SELECT 1 AS one')
        .catch(({ message }: Error) => message),
    );
    expect(await Promise.all(answers)).toEqual([
      `PostgreSQL at 127.0.0.1:${proxy.port} is unavailable (Connection timeout after 2s)`,
      [{ one: 1 }],
    ]);
  });

  test.each(['throws', 'returns'] as const)(
    'a transaction that lost its connection between two statements sends nothing more when its callback %s, and does not affect other transactions',
    async (end) => {
      const url = await newPostgresDatabase();
      const admin = open.database(url);
      const stores = await open.stores(url);
      // One shared connection, so that the next statement gets the lost connection's slot.
      const database = open.database(url, { ...COMMAND_OPTIONS, connectionsMax: 1 });
      const { id: orgId } = await newOrganisation(stores);
      const clock = async () =>
        (await stores.transactions.page({ orgId, window: EVERYTHING, limit: 1 })).completeThroughMs;
      const before = await clock();

      const isLost = Promise.withResolvers<void>();
      const mayProceed = Promise.withResolvers<void>();
      const afterwards = Promise.withResolvers<Error>();
      const losing = rejection(
        database.write(async (connection) => {
          await advanceClock(connection, orgId, before + 1);
          await admin.all(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND state = 'idle in transaction'`,
          );
          mayProceed.promise.then(async () => {
            afterwards.resolve(await rejection(advanceClock(connection, orgId, before + 2)));
          });
          isLost.resolve();
          await afterwards.promise;
          if (end === 'throws') throw new Error('so the work gives up');
        }),
      );
      await isLost.promise;
      const other = await rejection(
        database.write(async (connection) => {
          await advanceClock(connection, orgId, before + 3);
          mayProceed.resolve();
          expect(await afterwards.promise).toMatchObject({ errno: '57P01' });
          // A COMMIT or ROLLBACK of the lost transaction would be sent now.
          await new Promise<void>((resolve) => setImmediate(resolve));
          await advanceClock(connection, orgId, before + 4);
          throw new Error('changed its mind');
        }),
      );

      expect(await losing).toMatchObject({ kind: 'unavailable' });
      expect(other.message).toBe('changed its mind');
      expect(await clock()).toBe(before);
      expect(uncaught).toEqual([]);
    },
  );

  test('a write that loses its connection is never retried, because it has consumed part of its file, and the next write succeeds', async () => {
    const url = await newPostgresDatabase();
    const admin = open.database(url);
    const database = open.database(url, { ...COMMAND_OPTIONS, connectionsMax: 1 });
    const file = ['a row'];
    const written: string[] = [];
    const error = await rejection(
      database.write(async (connection) => {
        for (const row of file.splice(0)) {
          const [backend] = await connection.all<{ pid: number }>('SELECT pg_backend_pid() AS pid');
          await admin.all('SELECT pg_terminate_backend($1)', backend?.pid ?? -1);
          await connection.all('SELECT 1');
          written.push(row);
        }
      }),
    );
    expect(error).toMatchObject({ kind: 'unavailable' });
    expect(written).toEqual([]);
    expect(await database.write((connection) => connection.all<{ one: number }>('SELECT 1 AS one'))).toEqual([
      { one: 1 },
    ]);
    expect(uncaught).toEqual([]);
  });

  test('statements beyond the queue limit are rejected immediately', async () => {
    const options = { ...COMMAND_OPTIONS, connectionsMax: 1, statementTimeoutMs: 2_000 };
    const database = open.database(await newPostgresDatabase(), options);
    const asked = Array.from({ length: 103 }, () => database.all<{ one: number }>('SELECT 1 AS one'));
    const outcomes = await Promise.allSettled(asked);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused.every((error) => isStorageError(error, 'overloaded'))).toBe(true);
    expect(refused).toEqual(
      Array.from(
        { length: 3 },
        () => new StorageError('overloaded', 'too many queries are waiting for PostgreSQL'),
      ),
    );
    expect(await database.all<{ one: number }>('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('the server is configured to detect clients that disappeared', async () => {
    const database = open.database(await newPostgresDatabase());
    const [row] = await database.all(
      `SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('tcp_keepalives_interval') AS interval,
              current_setting('tcp_keepalives_count') AS count`,
    );
    expect(row).toEqual({ idle: '10', interval: '5', count: '3' });
  });

  test('with several servers in a URL, the primary is used', async () => {
    const url = new URL(await newPostgresDatabase());
    const nobody = await freePort();
    const several = url.href.replace(url.host, `127.0.0.1:${nobody},${url.host}`);
    expect(await open.database(several).all<{ one: number }>('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const none = url.href.replace(url.host, `127.0.0.1:${nobody},127.0.0.1:${nobody}`);
    expect(await rejection(open.database(none).all('SELECT 1'))).toMatchObject({
      kind: 'unavailable',
      message: `PostgreSQL at 127.0.0.1:${nobody},127.0.0.1:${nobody} is unavailable (Failed to connect)`,
    });
  });

  test('closing immediately after a failed transaction leaves no connection open', async () => {
    const url = await newPostgresDatabase();
    const wrong = new URL(url);
    wrong.password = 'wrong';
    for (const each of [url, wrong.href]) {
      const database = open.database(each);
      await rejection(
        database.write(async (connection) => {
          await connection.all('SELECT 1 / 0');
        }),
      );
      await database.close();
    }
    expect(uncaught).toEqual([]);
  });
});
