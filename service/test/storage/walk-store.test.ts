import { describe, expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { EVERYTHING, openTestStores } from './open-test-stores.ts';

const HOUR_MS = 3_600_000;

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
      const stored = open.database(testDatabase.name === 'SQLite' ? `${url}-walks` : url);
      expect(await stored.all('SELECT org_id, pinned_stamp FROM walks')).toEqual([
        { org_id: 2, pinned_stamp: 6 },
      ]);
    });
  });
}
