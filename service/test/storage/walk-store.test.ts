import { describe, expect, test } from 'bun:test';
import { HOUR_MS } from '@offerbook/wire/time.ts';
import { sqlitePath } from '../../src/storage/open-database.ts';
import { DATABASES } from '../support/databases.ts';
import { damageTable } from './damage-table.ts';
import { EVERYTHING, idOf, openTestStores } from './open-test-stores.ts';

const open = openTestStores();

const START_MS = Date.UTC(2026, 10, 15);

describe.each(DATABASES)('walks on $name', (testDatabase) => {
  const walk = { tokenId: idOf(1), window: EVERYTHING };

  test('a walk is found by token and window, and the most recently started walk is used', async () => {
    const { walks } = await open.stores(await testDatabase.create());
    const others = [
      { ...walk, tokenId: idOf(2) },
      { ...walk, window: { ...EVERYTHING, minMs: 7 } },
      { ...walk, window: { ...EVERYTHING, maxMs: 7 } },
    ];
    expect(await walks.find(walk)).toBeUndefined();
    await walks.begin(walk, 9);
    expect(await walks.find(walk)).toBe(9);
    await walks.begin(walk, 8);
    expect(await walks.find(walk)).toBe(8);
    for (const other of others) expect(await walks.find(other)).toBeUndefined();
  });

  test('a walk can be found for one hour after its last start', async () => {
    const { stores, pass } = await open.scene(testDatabase, START_MS);
    const { walks } = stores;
    for (const stampMs of [5, 6]) {
      await walks.begin(walk, stampMs);
      pass(HOUR_MS);
      expect(await walks.find(walk)).toBe(stampMs);
    }
    pass(1);
    expect(await walks.find(walk)).toBeUndefined();
  });

  test('walks of several users and of all users are separate, and the walks of an erased user are deleted', async () => {
    const { stores, org } = await open.scene(testDatabase);
    const { walks } = stores;
    const users = [undefined, 'anna', 'bert'];
    for (const [i, passbackUid] of users.entries()) await walks.begin({ ...walk, passbackUid }, i + 1);
    const found = () => Promise.all(users.map((passbackUid) => walks.find({ ...walk, passbackUid })));
    expect(await found()).toEqual([1, 2, 3]);
    await stores.erasures.erase(org, 'anna');
    expect(await found()).toEqual([1, undefined, 3]);
  });

  test('old walks are deleted in batches of a thousand', async () => {
    const { url, stores, pass } = await open.scene(testDatabase, START_MS);
    const { walks } = stores;
    await walks.begin(walk, 5);
    const stored = open.database(testDatabase.name === 'SQLite' ? `${url}-walks` : url);
    const sql = `INSERT INTO walks (token_id, min_stamp, max_stamp, user_key, stamp, begun_at)
      VALUES ($1::uuid, $2, 0, 0, 0, $3)`;
    await stored.write(async (connection) => {
      for (let i = 0; i < 1_500; i++) await connection.all(sql, idOf(2), i, START_MS - 4 * HOUR_MS + i);
    });
    const count = async () => (await stored.all<{ n: number }>('SELECT count(*) AS n FROM walks'))[0]?.n;
    pass(60_000);
    await walks.begin(walk, 6);
    expect(await count()).toBe(501);
    await walks.begin(walk, 7);
    expect(await count()).toBe(1);
    expect(await walks.find(walk)).toBe(7);
  });

  test('a node whose clock is two hours ahead does not delete walks that other nodes still use', async () => {
    const { url, stores } = await open.scene(testDatabase, START_MS);
    const { walks } = stores;
    const ahead = await open.stores(url, undefined, () => START_MS + 2 * HOUR_MS);
    await walks.begin(walk, 5);
    await ahead.walks.begin({ ...walk, tokenId: idOf(2) }, 6);
    expect(await walks.find(walk)).toBe(5);
  });
});

describe.each(DATABASES.filter(({ name }) => name === 'PostgreSQL'))('walks on $name', ({ create }) => {
  test('deleting old walks skips walks that another node has locked', async () => {
    const { url, stores, pass } = await open.scene({ create }, START_MS);
    const { walks } = stores;
    const walkOf = (number: number) => ({ tokenId: idOf(number), window: EVERYTHING });
    const [locked, old, current] = [walkOf(1), walkOf(2), walkOf(3)];
    await walks.begin(locked, 1);
    await walks.begin(old, 2);
    pass(4 * HOUR_MS);
    const database = open.database(url);
    await open.database(url).write(async (connection) => {
      await connection.all('SELECT 1 FROM walks WHERE token_id = $1 FOR UPDATE', locked.tokenId);
      await walks.begin(current, 3);
    });
    const left = await database.all<{ id: string }>('SELECT token_id AS id FROM walks ORDER BY token_id');
    expect(left.map(({ id }) => id)).toEqual([locked.tokenId, current.tokenId]);
  });
});

describe.each(DATABASES.filter(({ name }) => name === 'SQLite'))('walks on $name', ({ create }) => {
  test('a walk continues without a snapshot if the walk file is damaged', async () => {
    const url = await create();
    const walk = { tokenId: idOf(1), window: EVERYTHING };
    const stores = await open.stores(url);
    await stores.walks.begin(walk, 7);
    await stores.close();
    damageTable(`${sqlitePath(url)}-walks`, 'walks');
    const { walks } = await open.stores(url);
    await walks.begin(walk, 8);
    expect(await walks.find(walk)).toBeUndefined();
  });
});
