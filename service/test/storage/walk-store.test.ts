import { describe, expect, test } from 'bun:test';
import type { Database } from '../../src/storage/database.ts';
import { FORGET_SQL } from '../../src/storage/stores/walk-store.ts';
import { DATABASES } from '../support/databases.ts';
import { EVERYTHING, openTestStores } from './open-test-stores.ts';

const HOUR_MS = 3_600_000;
const REFUSE_DELETING = {
  sqlite: [`CREATE TRIGGER refuse BEFORE DELETE ON walks BEGIN SELECT RAISE(ABORT, 'not now'); END`],
  postgres: [
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$`,
    'CREATE TRIGGER refuse BEFORE DELETE ON walks FOR EACH ROW EXECUTE FUNCTION refuse()',
  ],
};

for (const testDatabase of DATABASES) {
  describe(`walks that are noted down on ${testDatabase.name}`, () => {
    const open = openTestStores();

    test('are held to the latest stamp of any of them, each organisation and window by itself', async () => {
      const { walks } = await open.stores(await testDatabase.create());
      const walk = { orgId: 1, window: EVERYTHING };
      const others = [
        { ...walk, orgId: 2 },
        { ...walk, window: { ...EVERYTHING, minMs: 7 } },
        { ...walk, window: { ...EVERYTHING, maxMs: 7 } },
      ];
      expect(await walks.find(walk)).toBeUndefined();
      expect(await walks.pin(walk, 5)).toBe(5);
      expect(await walks.pin(walk, 9)).toBe(9);
      expect(await walks.pin(walk, 8)).toBe(9);
      expect(await walks.find(walk)).toBe(9);
      for (const other of others) expect(await walks.find(other)).toBeUndefined();
    });

    test('are held to the latest stamp also when clocks are two hours apart', async () => {
      const url = await testDatabase.create();
      const nowMs = Date.UTC(2026, 10, 15);
      const slow = await open.stores(url, undefined, () => nowMs);
      const fast = await open.stores(url, undefined, () => nowMs + 2 * HOUR_MS);
      const walk = { orgId: 1, window: EVERYTHING };
      expect(await slow.walks.pin(walk, 9)).toBe(9);
      // Its first page was read before the other one's.
      expect(await fast.walks.pin(walk, 8)).toBe(9);
      expect(await slow.walks.find(walk)).toBe(9);
    });

    test('are forgotten an hour after the last of them began, and make room when others begin', async () => {
      const url = await testDatabase.create();
      let nowMs = Date.UTC(2026, 10, 15);
      const { walks } = await open.stores(url, undefined, () => nowMs);
      const [early, late] = [1, 2].map((orgId) => ({ orgId, window: EVERYTHING }));
      if (early === undefined || late === undefined) throw new Error('there are two walks');
      await walks.pin(early, 5);
      nowMs += HOUR_MS;
      expect(await walks.find(early)).toBe(5);
      nowMs += 1;
      expect(await walks.find(early)).toBeUndefined();
      nowMs += 2 * HOUR_MS;
      expect(await walks.pin(late, 6)).toBe(6);
      const stored = walksOf(url);
      while ((await count(stored)) > 1) await Bun.sleep(5);
      expect(await stored.all('SELECT org_id, pinned_stamp FROM walks')).toEqual([
        { org_id: 2, pinned_stamp: 6 },
      ]);
    });

    test('are forgotten a few at a time, found by their age, however many there are', async () => {
      const url = await testDatabase.create();
      let nowMs = Date.UTC(2026, 10, 15);
      const { walks } = await open.stores(url, undefined, () => nowMs);
      await walks.pin({ orgId: 1, window: EVERYTHING }, 5);
      const stored = walksOf(url);
      await stored.write((connection) =>
        connection.all(
          `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
           INSERT INTO walks (org_id, min_stamp, max_stamp, pinned_stamp, pinned_at) SELECT 2, i, i, 1, 1 FROM n`,
        ),
      );
      nowMs += HOUR_MS;
      const counts: number[] = [];
      let orgId = 2;
      do {
        expect(await walks.pin({ orgId: ++orgId, window: EVERYTHING }, 6)).toBe(6);
        counts.push(await count(stored));
      } while ((counts.at(-1) ?? 0) > orgId);
      // No step takes many of them away, and none of the others goes.
      const steps = counts.map((each, i) => (counts[i - 1] ?? 3_001) - each);
      expect(Math.max(...steps)).toBeLessThan(1_500);
      expect(await count(stored)).toBe(orgId - 1);

      await stored.write((connection) => connection.all('ANALYZE'));
      const explain = stored.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN (GENERIC_PLAN)';
      const plan = await stored.all(
        `${explain} ${FORGET_SQL[stored.dialect]}`,
        ...(stored.dialect === 'sqlite' ? [1] : []),
      );
      expect(JSON.stringify(plan)).toMatch(/walks_by_age/);
      expect(JSON.stringify(plan)).not.toMatch(/Seq Scan|SCAN walks/);
    });

    test('are begun even when old ones cannot be forgotten', async () => {
      const url = await testDatabase.create();
      let nowMs = Date.UTC(2026, 10, 15);
      const { walks } = await open.stores(url, undefined, () => nowMs);
      const walk = { orgId: 1, window: EVERYTHING };
      await walks.pin(walk, 5);
      const stored = walksOf(url);
      await stored.write(async (connection) => {
        for (const statement of REFUSE_DELETING[stored.dialect]) await connection.all(statement);
      });
      nowMs += 4 * HOUR_MS;
      expect(await walks.pin({ ...walk, orgId: 2 }, 6)).toBe(6);
      expect(await walks.find({ ...walk, orgId: 2 })).toBe(6);
      expect(await count(stored)).toBe(2);
    });

    function walksOf(url: string): Database {
      return open.database(testDatabase.name === 'SQLite' ? `${url}-walks` : url);
    }

    async function count(stored: Database): Promise<number> {
      const [row] = await stored.all<{ count: number }>('SELECT count(*) AS count FROM walks');
      return row?.count ?? 0;
    }
  });
}
