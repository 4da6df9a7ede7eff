import { describe, expect, test } from 'bun:test';
import { sqlitePath } from '../../src/storage/open-database.ts';
import { DATABASES } from '../support/databases.ts';
import { damageTable } from './damage-table.ts';
import { EVERYTHING, idOf, openTestStores } from './open-test-stores.ts';

const HOUR_MS = 3_600_000;

for (const testDatabase of DATABASES) {
  describe(`walks on ${testDatabase.name}`, () => {
    const open = openTestStores();
    const walk = { tokenId: idOf(1), window: EVERYTHING };

    test('are known by token and window, and the last one to begin counts', async () => {
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

    test('are known for an hour', async () => {
      let nowMs = Date.UTC(2026, 10, 15);
      const { walks } = await open.stores(await testDatabase.create(), undefined, () => nowMs);
      await walks.begin(walk, 5);
      nowMs += HOUR_MS;
      expect(await walks.find(walk)).toBe(5);
      nowMs += 1;
      expect(await walks.find(walk)).toBeUndefined();
    });

    test('that began long ago make room a thousand at a time', async () => {
      const url = await testDatabase.create();
      let nowMs = Date.UTC(2026, 10, 15);
      const { walks } = await open.stores(url, undefined, () => nowMs);
      await walks.begin(walk, 5);
      const stored = open.database(testDatabase.name === 'SQLite' ? `${url}-walks` : url);
      await stored.write(async (connection) => {
        for (let i = 0; i < 1_500; i++) {
          await connection.all(
            'INSERT INTO walks (token_id, min_stamp, max_stamp, stamp, begun_at) VALUES ($1, $2, 0, 0, $3)',
            idOf(2),
            i,
            nowMs - 4 * HOUR_MS + i,
          );
        }
      });
      const count = async () => (await stored.all<{ n: number }>('SELECT count(*) AS n FROM walks'))[0]?.n;
      nowMs += 60_000;
      await walks.begin(walk, 6);
      expect(await count()).toBe(501);
      await walks.begin(walk, 7);
      expect(await count()).toBe(1);
      expect(await walks.find(walk)).toBe(7);
    });
  });
}

describe.each(DATABASES.filter(({ name }) => name === 'SQLite'))('walks on $name', ({ create }) => {
  const open = openTestStores();

  test('begin though old notes cannot be forgotten', async () => {
    const url = await create();
    const walk = { tokenId: idOf(1), window: EVERYTHING };
    let nowMs = Date.UTC(2026, 10, 15);
    const { walks } = await open.stores(url, undefined, () => nowMs);
    await walks.begin(walk, 1);
    const stored = open.database(`${url}-walks`);
    await stored.write((connection) =>
      connection.all("CREATE TRIGGER stuck BEFORE DELETE ON walks BEGIN SELECT RAISE(ABORT, 'stuck'); END"),
    );
    nowMs += 4 * HOUR_MS;
    const other = { ...walk, tokenId: idOf(2) };
    await walks.begin(other, 2);
    expect(await walks.find(other)).toBe(2);
  });

  test('go on without their notes when the file of these is damaged', async () => {
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
