// PostgreSQL ends the pool's connections and refuses new ones, again and again, while statements are sent in every way.

import { expect, test } from 'bun:test';
import { Random } from '@offerbook/sandbox/random.ts';
import postgres from 'postgres';
import type { Database } from '../../src/storage/database.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { openPostgres } from '../../src/storage/postgres/postgres.ts';
import { newPostgresDatabase, PASSWORD } from '../support/postgres-server.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { until } from '../support/until.ts';

const ROUNDS = 3;
const ASKING = 24;
const PAUSE_MAX_MS = 10;
/** Responses between two outages, and errors within one. */
const RIGHT_MIN = 100;
const REFUSED_MIN = 50;

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

test('every response is correct or an error while database connections are closed and refused', async () => {
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught);
  const url = new URL(await newPostgresDatabase());
  const admin = postgres(url.href, { max: 1, onnotice: () => {} });
  const role = `lost_${crypto.randomUUID().replaceAll('-', '')}`;
  await admin.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
  const limit = (count: number) => admin.unsafe(`ALTER ROLE ${role} CONNECTION LIMIT ${count}`);
  const end = async () =>
    (await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${role}`).length;
  url.username = role;
  const database = openPostgres(url.href, SERVER_OPTIONS);

  const wrong: unknown[] = [];
  let [right, refused, isOver] = [0, 0, false];
  const ask = async (seat: number) => {
    const random = new Random(TEST_SEED, seat);
    for (let number = seat; !isOver; number += ASKING) {
      try {
        const rows = await WAYS[seat % WAYS.length]?.(database, number);
        if (Bun.deepEquals(rows, [{ number }])) right += 1;
        else wrong.push({ number, rows });
      } catch {
        refused += 1;
      }
      await Bun.sleep(random.whole(1, PAUSE_MAX_MS));
    }
  };
  const grown = (read: () => number, by: number) => {
    const wanted = read() + by;
    return until(read, (count) => count >= wanted);
  };
  const asking = Array.from({ length: ASKING }, (_, seat) => ask(seat));
  for (let round = 0; round < ROUNDS; round += 1) {
    await grown(() => right, RIGHT_MIN);
    await limit(0);
    // A connection that was being opened when the limit changed is not listed yet.
    await until(end, (count) => count === 0);
    await grown(() => refused, REFUSED_MIN);
    await limit(-1);
  }
  // In the end, all data is unchanged.
  await grown(() => right, RIGHT_MIN);
  isOver = true;
  await Promise.all(asking);
  const last = await database.all('SELECT 1 AS one');
  await database.close();
  await admin.unsafe(`DROP ROLE ${role}`);
  await admin.end();
  process.off('uncaughtException', onUncaught).off('unhandledRejection', onUncaught);
  expect({ wrong, uncaught, last }).toEqual({ wrong: [], uncaught: [], last: [{ one: 1 }] });
});
