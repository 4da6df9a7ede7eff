import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newUuid, type Uuid } from '../../src/domain/uuid.ts';
import type { Database, SqlValue } from '../../src/storage/database.ts';
import { COMMAND_OPTIONS, openDatabase, openStores } from '../../src/storage/open-stores.ts';
import { SPAN_SHIFTS } from '../../src/storage/stamp-window.ts';
import { EVERYTHING_SQL, NARROW_SQL } from '../../src/storage/transaction-page.ts';
import { BOUNDS_SQL, edgeSql, filledSpansSql, runsSql } from '../../src/storage/wide-window.ts';
import { DATABASES } from '../support/databases.ts';
import { newOrganisation } from './open-test-stores.ts';

const ROWS = 100_000;
const END_MS = Date.UTC(2026, 10, 14);
const SPREAD_MS = 3 * 365 * 86_400_000;
const CURSOR = '30000000-0000-0000-0000-000000000000';

for (const testDatabase of DATABASES) {
  describe(`the plans of a page on ${testDatabase.name}`, () => {
    let database: Database;

    beforeAll(async () => {
      const url = await testDatabase.create();
      const stores = await openStores(url, COMMAND_OPTIONS, () => END_MS - SPREAD_MS);
      const { id } = await newOrganisation(stores);
      database = openDatabase(url, COMMAND_OPTIONS);
      if (database.dialect === 'postgres') {
        // So that the test decides when there are statistics.
        await database.all('ALTER TABLE transactions SET (autovacuum_enabled = off)');
      }
      await stores.transactions.write(id, async (writer) => {
        await writer.put(
          Array.from({ length: ROWS }, (_, i) => ({
            id: (i % 2 === 0 ? newUuid() : crypto.randomUUID()) as Uuid,
            // A fifth of all were imported at once.
            updatedAtMs: i % 5 === 0 ? END_MS : END_MS - Math.floor((i / ROWS) * SPREAD_MS),
            document: 'x'.repeat(200),
          })),
        );
        await writer.advanceClock(END_MS);
      });
      await stores.close();
    }, 60_000);

    afterAll(() => database.close());

    /** Every statement of a page, with parameters like those of a wide window, and the indexes it must use. */
    function statements(): [sql: string, params: SqlValue[], indexes: string[]][] {
      const { dialect } = database;
      const byKey = dialect === 'sqlite' ? 'sqlite_autoindex_transactions_1' : 'transactions_pkey';
      const [minMs, maxMs] = [END_MS - SPREAD_MS / 2, END_MS];
      const spans = (shift: number) =>
        Array.from({ length: 60 }, (_, i) => Math.floor(END_MS / 2 ** shift) - i);
      return [
        [EVERYTHING_SQL, [1, CURSOR, 101], ['transactions_by_id']],
        [NARROW_SQL, [1, CURSOR, 101, minMs, maxMs], ['transactions_by_stamp', byKey]],
        [NARROW_SQL, [1, CURSOR, 101, maxMs - 60_000, maxMs - 1], ['transactions_by_stamp', byKey]],
        [BOUNDS_SQL, [1], ['transactions_by_stamp']],
        [edgeSql(dialect), [1, maxMs - 2 ** 22, maxMs, CURSOR, 101], ['transactions_by_stamp']],
        [runsSql(dialect, 0), [1, CURSOR, 4, JSON.stringify([END_MS])], ['transactions_by_stamp']],
        ...SPAN_SHIFTS[dialect].flatMap((shift): [string, SqlValue[], string[]][] => [
          [
            runsSql(dialect, shift),
            [1, CURSOR, 4, JSON.stringify(spans(shift))],
            [`transactions_by_span_${shift}`],
          ],
          [filledSpansSql(shift), [1, 0, Math.floor(END_MS / 2 ** shift)], [`transactions_by_span_${shift}`]],
        ]),
      ];
    }

    /** The ways in which the plan reads the table of transactions: the indexes, or how it does without. */
    async function accesses(sql: string, params: readonly SqlValue[]): Promise<string[]> {
      const explain = database.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
      const rows = await database.all<Record<string, string>>(`${explain} ${sql}`, ...params);
      const lines = rows.map((row) => row['QUERY PLAN'] ?? row.detail ?? '');
      const found = lines
        .filter((line) => /(SEARCH|SCAN) (transactions|t)\b(?!.*LEFT-JOIN)|Scan .*on transactions/.test(line))
        .map((line) => /(?:USING (?:COVERING )?INDEX|Scan using) (\S+)/.exec(line)?.[1] ?? line.trim());
      return [...new Set(found)].sort();
    }

    async function expectIntendedPlans(): Promise<void> {
      for (const [sql, params, indexes] of statements()) {
        expect({ sql, accesses: await accesses(sql, params) }).toEqual({ sql, accesses: indexes.toSorted() });
      }
    }

    test('use the intended index for every statement, with and without statistics', async () => {
      await expectIntendedPlans();
      await database.write((connection) => connection.all('ANALYZE'));
      await expectIntendedPlans();
    }, 30_000);
  });
}
