import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Database } from '../../src/storage/database.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { openPostgres } from '../../src/storage/postgres/postgres.ts';
import { removePostgres } from '../support/postgres-replica.ts';
import { type PostgresServer, postgresUrl, startPostgres } from '../support/postgres-server.ts';
import { takeAllConnections } from './postgres-faults.ts';

const ROUNDS = 3;
const ASKING = 24;
const PAUSE_MS = 10;

type Ask = (database: Database, number: number) => Promise<readonly unknown[]>;

/** Every way to send a statement. */
const WAYS: readonly Ask[] = [
  (database, number) => database.all('SELECT $1::integer AS number', number),
  (database, number) => database.allWithBytes('SELECT $1::integer AS number', number),
  (database, number) =>
    database.read(async (connection) => {
      const asked = [1, 2].map(() => connection.all('SELECT $1::integer AS number', number));
      const [first = [], second = []] = await Promise.all(asked);
      return Bun.deepEquals(first, second) ? first : [...first, ...second];
    }),
];

let primary: PostgresServer;
const uncaught: unknown[] = [];
const onUncaught = (error: unknown) => uncaught.push(error);

beforeAll(async () => {
  primary = await startPostgres(['-c', 'fsync=off', '-c', 'max_connections=30']);
  process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught);
});

afterAll(async () => {
  process.off('uncaughtException', onUncaught).off('unhandledRejection', onUncaught);
  await removePostgres(primary);
});

test('every response is correct or an error while database connections are closed and refused', async () => {
  const database = openPostgres(postgresUrl(primary.port, 'postgres'), SERVER_OPTIONS);
  const wrong: unknown[] = [];
  let [right, refused, isOver] = [0, 0, false];
  const ask = async (seat: number) => {
    for (let number = seat; !isOver; number += ASKING) {
      try {
        const rows = await WAYS[seat % WAYS.length]?.(database, number);
        if (Bun.deepEquals(rows, [{ number }])) right += 1;
        else wrong.push({ number, rows });
      } catch {
        refused += 1;
      }
      await Bun.sleep(Math.random() * PAUSE_MS);
    }
  };
  const asking = Array.from({ length: ASKING }, (_, seat) => ask(seat));
  for (let round = 0; round < ROUNDS; round += 1) {
    await Bun.sleep(100);
    const giveBack = await takeAllConnections({ primary });
    await giveBack();
  }
  // In the end, all data is unchanged.
  await Bun.sleep(1_000);
  isOver = true;
  await Promise.all(asking);
  const last = await database.all('SELECT 1 AS one');
  await database.close();
  expect(wrong).toEqual([]);
  expect(uncaught).toEqual([]);
  expect(last).toEqual([{ one: 1 }]);
  expect(right).toBeGreaterThan(1_000);
  expect(refused).toBeGreaterThan(0);
});
