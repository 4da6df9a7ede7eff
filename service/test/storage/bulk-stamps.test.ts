import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { TransactionStore } from '../../src/domain/stores.ts';
import type { Database } from '../../src/storage/database.ts';
import { transactionStore } from '../../src/storage/stores/transaction-store.ts';
import { BULK_ROWS_MIN, BULK_STAMPS_MAX } from '../../src/storage/transactions/bulk-stamps.ts';
import { DATABASES } from '../support/databases.ts';
import { idOf, newOrganisation, openTestStores, rejection } from './open-test-stores.ts';

const LARGE = 5;

for (const testDatabase of DATABASES) {
  describe(`large writes on ${testDatabase.name}`, () => {
    const open = openTestStores();

    async function openStore(bulkRowsMin?: number): Promise<{
      database: Database;
      store: TransactionStore;
      orgId: number;
    }> {
      const url = await testDatabase.create();
      const stores = await open.stores(url);
      const { id: orgId } = await newOrganisation(stores);
      const database = open.database(url);
      const options = { clock: Date.now, walks: stores.walks, bulkRowsMin };
      return { database, store: transactionStore(database, options), orgId };
    }

    /** Writes these ids with the write's own stamp, or a stamp of long ago, and returns the stamp. */
    function write(store: TransactionStore, orgId: number, ids: readonly number[], historyMs?: number) {
      return store.write(orgId, async (writer) => {
        const updatedAtMs = historyMs ?? writer.stampMs;
        await writer.put(ids.map((id) => ({ id: idOf(id), updatedAtMs, document: `doc ${id}` })));
        await writer.advanceClock(updatedAtMs);
        return updatedAtMs;
      });
    }

    const listed = async (database: Database) =>
      (await database.all<{ stamp: number }>('SELECT stamp FROM bulk_writes ORDER BY stamp')).map(
        ({ stamp }) => stamp,
      );
    const marked = async (database: Database) =>
      (
        await database.all<{ stamp: number }>(
          'SELECT DISTINCT updated_at AS stamp FROM transactions WHERE in_bulk = 1 ORDER BY updated_at',
        )
      ).map(({ stamp }) => stamp);
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

    test('begin at twenty thousand transactions', async () => {
      const { database, store, orgId } = await openStore();
      await write(store, orgId, numbers(0, BULK_ROWS_MIN - 1));
      expect(await listed(database)).toEqual([]);
      const stampMs = await write(store, orgId, numbers(BULK_ROWS_MIN, BULK_ROWS_MIN));
      expect(await listed(database)).toEqual([stampMs]);
      expect(await marked(database)).toEqual([stampMs]);
    });

    test('leave nothing behind when they are undone', async () => {
      const { database, store, orgId } = await openStore(LARGE);
      const undone = store.write(orgId, async (writer) => {
        await writer.put(
          numbers(0, LARGE).map((id) => ({ id: idOf(id), updatedAtMs: writer.stampMs, document: 'doc' })),
        );
        throw new Error('no');
      });
      expect((await rejection(undone)).message).toBe('no');
      expect(await listed(database)).toEqual([]);
    });

    test('are forgotten once nothing of them is left, which makes room for others', async () => {
      const { database, store, orgId } = await openStore(LARGE);
      const stamps = [];
      for (let i = 0; i < BULK_STAMPS_MAX; i++)
        stamps.push(await write(store, orgId, numbers(LARGE * i, LARGE)));
      expect(await listed(database)).toEqual(stamps);
      // The list is full: the next one is written the usual way.
      const usual = await write(store, orgId, numbers(10_000, LARGE));
      expect(await marked(database)).toEqual(stamps);
      // Overwritten by smaller writes, the first one leaves its place.
      await write(store, orgId, numbers(0, LARGE - 1));
      await write(store, orgId, [LARGE - 1]);
      const last = await write(store, orgId, numbers(20_000, LARGE));
      expect(await listed(database)).toEqual([...stamps.slice(1), last]);
      expect(await marked(database)).not.toContain(usual);
    });

    test('are listed if and only if their transactions are marked, whatever is written', async () => {
      const { database, store, orgId } = await openStore(LARGE);
      const writes = fc.array(
        fc.record({
          ids: fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 12 }),
          history: fc.option(fc.nat({ max: 20 })),
        }),
        { minLength: 1, maxLength: 8 },
      );
      const used: number[] = [];
      await fc.assert(
        fc.asyncProperty(writes, async (all) => {
          for (const { ids, history } of all) {
            // A history load brings back a stamp that was used before, listed or not.
            const historyMs =
              history === null ? undefined : used.at(-1 - (history % Math.max(1, used.length)));
            used.push(await write(store, orgId, ids, historyMs));
            const wrong = await database.all(
              `SELECT id FROM transactions t WHERE (in_bulk = 1) <>
                 EXISTS (SELECT 1 FROM bulk_writes b WHERE b.org_id = t.org_id AND b.stamp = t.updated_at)`,
            );
            expect(wrong).toEqual([]);
          }
        }),
        { numRuns: 60 },
      );
    }, 60_000);
  });
}
