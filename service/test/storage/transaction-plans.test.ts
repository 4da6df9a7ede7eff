import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { FIRST_ID, LAST_ID, newUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { STAMP_SQL } from '../../src/storage/backup/new-timeline.ts';
import { VERSIONS } from '../../src/storage/copy-database.ts';
import type { Connection, Database, SqlValue } from '../../src/storage/database.ts';
import { POSTGRES_DIALECT } from '../../src/storage/postgres/postgres-dialect.ts';
import { scanSql } from '../../src/storage/scan.ts';
import { HISTORY, TRANSACTIONS } from '../../src/storage/schema/tables.ts';
import type { Statement } from '../../src/storage/sql.ts';
import { COUNT_SQL, CURRENT_SQL } from '../../src/storage/stores/erasure-store.ts';
import {
  CURRENT_SQL as CURRENT_OF_USER_SQL,
  NEWEST_OF_USER_SQL,
  PURGE_SQL,
  transactionHistory,
} from '../../src/storage/stores/transaction-history.ts';
import {
  FIND_SQL,
  PUT_SOURCES_SQL,
  RETAILERS_SQL,
  USED_SQL,
} from '../../src/storage/stores/transaction-store.ts';
import { CHANGES_SQL } from '../../src/storage/transactions/changes-page.ts';
import {
  DOCUMENTS_AS_OF_SQL,
  DOCUMENTS_SQL,
  FITTING_SQL,
} from '../../src/storage/transactions/page-documents.ts';
import {
  IN_WINDOW_SQL,
  RUNS_SQL as REPLACED_RUNS_SQL,
  STAMPS_SQL,
} from '../../src/storage/transactions/replaced-ids.ts';
import { SPAN_MS, spanOf } from '../../src/storage/transactions/stamp-window.ts';
import {
  BY_ID_SQL,
  NARROW_SQL,
  NEARLY_BY_ID_SQL,
  readTransactionPage,
} from '../../src/storage/transactions/transaction-page.ts';
import {
  FEW_SQL,
  NAMING_SQL,
  SPANS_SQL,
  RUNS_SQL as USER_RUNS_SQL,
  userKey,
} from '../../src/storage/transactions/user-ids.ts';
import {
  BOUNDS_SQL,
  FILLED_SPANS_SQL,
  FOUND_EDGE_SQL,
  findWindowIds,
  RUNS_SQL,
  SORTED_EDGE_SQL,
} from '../../src/storage/transactions/window-ids.ts';
import { DATABASES } from '../support/databases.ts';
import { writeDocuments } from '../support/put-documents.ts';
import { EVERYTHING, openTestStores, TEST_AUDITOR } from './open-test-stores.ts';

const END_MS = Date.UTC(2026, 10, 14);
/** In a new organisation, all changes may be in one span. To the planner, that span looks like the whole table. */
const AGES = [
  { age: 'three years', rows: 50_000, spreadMs: 3 * 365 * DAY_MS },
  { age: 'three thin years', rows: 20_000, spreadMs: 3 * 365 * DAY_MS },
  { age: 'an hour', rows: 15_000, spreadMs: DAY_MS / 24 },
];
/** Maximum length of a document that the first statement joins. */
const SHARE = 4_000;
/** Both indexes of the history start with the same columns. If a statement needs no other column, either index is fine. */
const BY_UNTIL = 'history_by_id or history_by_from';
const USER = 'x'.repeat(150);
const CURSOR = '30000000-0000-0000-0000-000000000000' as Uuid;

for (const [testDatabase, { age, rows, spreadMs }] of DATABASES.flatMap((each) =>
  AGES.map((a) => [each, a] as const),
)) {
  describe(`query plans for a page of ${age} on ${testDatabase.name}`, () => {
    const open = openTestStores(afterAll);
    let database: Database;

    beforeAll(async () => {
      const { url, stores, orgId } = await open.scene(testDatabase, END_MS - spreadMs);
      database = open.database(url);
      if (database.sql === POSTGRES_DIALECT) {
        // Without autovacuum, the test controls when there are statistics.
        for (const table of ['transactions', 'history'])
          await database.all(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
      }
      const documents = Array.from({ length: rows }, (_, i) => {
        const each = (i % 2 === 0 ? newUuid() : crypto.randomUUID()) as Uuid;
        // A fifth of the transactions come from one import.
        const updatedAtMs = i % 5 === 0 ? END_MS : END_MS - Math.floor((i / rows) * spreadMs);
        return { id: each, updatedAtMs, document: JSON.stringify({ id: each, passbackUid: USER }) };
      });
      await writeDocuments(stores.transactions, orgId, documents);
      // Some transactions have an earlier version, and a version that an import after END_MS has replaced.
      for (const [fromMs, until] of [
        [-10_000, 'updated_at - 5000'],
        [0, `${END_MS + 5_000}`],
      ] as const) {
        await database.write((connection) =>
          connection.all(
            `INSERT INTO history (id, until_stamp, org_id, from_stamp, document)
             SELECT id, ${until}, org_id, updated_at + $1, document FROM transactions LIMIT 20000`,
            fromMs,
          ),
        );
      }
    });

    /** Every statement of a page, with parameters like those of a wide window, and the indexes it must use. */
    function statements(): [statement: Statement, params: SqlValue[], indexes: string[]][] {
      const { sql } = database;
      const isPostgres = sql === POSTGRES_DIALECT;
      const byKey = isPostgres ? 'transactions_pkey' : 'sqlite_autoindex_transactions_1';
      const historyKey = isPostgres ? 'history_pkey' : 'sqlite_autoindex_history_1';
      const ids = JSON.stringify([CURSOR, LAST_ID]);
      const documents = [1, ids, SHARE];
      const user = [1, userKey(USER)];
      const [minMs, maxMs] = [END_MS - spreadMs / 2, END_MS];
      const spans = (spanMs: number) => Array.from({ length: 60 }, (_, i) => Math.floor(END_MS / spanMs) - i);
      const lastSpan = spanOf(END_MS);
      const edge = [1, CURSOR, 101, maxMs - 2 ** 22, maxMs, 2_000];
      return [
        [BY_ID_SQL, [1, CURSOR, 100, SHARE], [byKey]],
        [FIND_SQL, [1, CURSOR], [byKey]],
        [NEARLY_BY_ID_SQL, [1, CURSOR, 100, SHARE, maxMs, maxMs], [historyKey, byKey]],
        [DOCUMENTS_AS_OF_SQL, [...documents, maxMs, maxMs], [historyKey, byKey]],
        [FITTING_SQL, [...documents, maxMs, maxMs], [historyKey, byKey]],
        [STAMPS_SQL, [1, maxMs], [BY_UNTIL]],
        [IN_WINDOW_SQL, [1, '[1,2,3]', minMs, maxMs, CURSOR, 101], ['history_by_from']],
        [
          REPLACED_RUNS_SQL,
          [1, CURSOR, LAST_ID, 4, JSON.stringify([END_MS + 5_000]), minMs, maxMs],
          ['history_by_id'],
        ],
        [scanSql({ table: TRANSACTIONS, orgId: 1, columns: 'id, document' }), [1, CURSOR], [byKey]],
        [
          PURGE_SQL,
          [1, minMs],
          [BY_UNTIL, ...(isPostgres ? [] : ['SEARCH history USING INTEGER PRIMARY KEY (rowid=?)'])],
        ],
        [scanSql({ table: HISTORY, orgId: 1, ...VERSIONS }), [1, minMs, CURSOR], ['history_by_id']],
        [DOCUMENTS_SQL, documents, [byKey]],
        [BOUNDS_SQL, [1], ['transactions_by_stamp']],
        [CHANGES_SQL, [1, minMs, CURSOR, 101], ['transactions_by_stamp']],
        [FEW_SQL, user, ['transactions_by_user']],
        [SPANS_SQL, [...user, 0, 2_000], ['transactions_by_user']],
        [
          USER_RUNS_SQL,
          [1, CURSOR, LAST_ID, 4, JSON.stringify(spans(2 ** 30)), userKey(USER), minMs, maxMs],
          ['transactions_by_user'],
        ],
        [NAMING_SQL, [1, ids, USER, maxMs, maxMs, minMs], [historyKey, byKey]],
        [CURRENT_OF_USER_SQL, [1, ids], [byKey]],
        [NEWEST_OF_USER_SQL, [...user, USER, 100], ['transactions_by_user']],
        [CURRENT_SQL, user, ['transactions_by_user']],
        [COUNT_SQL, [...user, USER], [historyKey, 'transactions_by_user']],
        [RETAILERS_SQL, [1, ids], [byKey]],
        [USED_SQL, [0, ids], [byKey]],
        [PUT_SOURCES_SQL, [JSON.stringify([[1, CURSOR, null, null]])], [byKey]],
        [STAMP_SQL, [JSON.stringify([[1, CURSOR]]), maxMs, '', maxMs], [byKey]],
        [SORTED_EDGE_SQL, edge, ['transactions_by_stamp']],
        [FOUND_EDGE_SQL, [...edge, lastSpan], ['transactions_by_span']],
        [RUNS_SQL, [1, CURSOR, LAST_ID, 4, JSON.stringify(spans(SPAN_MS))], ['transactions_by_span']],
        [FILLED_SPANS_SQL, [1, 0, lastSpan], ['transactions_by_span']],
        ...[minMs, maxMs - 60_000].map((fromMs): [Statement, SqlValue[], string[]] => [
          NARROW_SQL,
          [1, CURSOR, 100, SHARE, fromMs, maxMs - 1, maxMs],
          [BY_UNTIL, 'transactions_by_stamp', byKey],
        ]),
      ];
    }

    async function explain(command: string, sql: string, params: readonly SqlValue[]): Promise<string[]> {
      const lines = await database.all<Record<string, string>>(`${command} ${sql}`, ...params);
      return lines.map((line) => line['QUERY PLAN'] ?? line.detail ?? '');
    }

    /** PostgreSQL uses one generic plan for all parameters. The plan for these parameters is also checked. */
    async function plansOf(sql: string, params: readonly SqlValue[]): Promise<string[][]> {
      if (database.sql !== POSTGRES_DIALECT) return [await explain('EXPLAIN QUERY PLAN', sql, params)];
      return [await explain('EXPLAIN', sql, params), await explain('EXPLAIN (GENERIC_PLAN)', sql, [])];
    }

    /** How the plan reads transactions and their history: the names of indexes, or the plan's line if it uses none. */
    function accesses(plan: readonly string[]): string[] {
      const found = plan
        .filter((line) =>
          /(SEARCH|SCAN) (transactions|history|t|h)\b(?!.*LEFT-JOIN)|(?<!Tid )Scan .*on (transactions|history)/.test(
            line,
          ),
        )
        .map(
          (line) =>
            /(?:USING (?:COVERING )?INDEX|Scan using) (\S+)/.exec(line)?.[1] ??
            line.replace(/^\s*(->)?\s*|\s+\(cost.*$/g, ''),
        );
      return [...new Set(found)].sort();
    }

    /**
     * Signs that a plan reads more than necessary: a filter in addition to the index (except on the limited set of rows near a
     * page), an index used only by its first column, or table reads for columns that an index of stamps or spans contains.
     */
    function waste(plan: readonly string[]): string[] {
      return plan.filter((line) =>
        /Filter: .*((?<!\+ )org_id|(?<!near(_\d)?\.)updated_at)|\(org_id[<>=]\?( AND org_id[<>]\?)?\)|Index Scan using transactions_by_s|USING INDEX transactions_by_s/.test(
          line,
        ),
      );
    }

    async function expectIntendedPlans(): Promise<void> {
      for (const [statement, params, indexes] of statements()) {
        const sql = typeof statement === 'string' ? statement : statement(database.sql);
        for (const plan of await plansOf(sql, params)) {
          const used = accesses(plan);
          const expected = indexes.flatMap((index) =>
            index === BY_UNTIL ? used.filter((each) => BY_UNTIL.includes(each)) : [index],
          );
          expect({ sql, accesses: used, waste: waste(plan) }).toEqual({
            sql,
            accesses: [...new Set(expected)].sort(),
            // Waste does not matter in these: they need one seek, the ids of one user, or given ids.
            waste: [BOUNDS_SQL, COUNT_SQL, STAMP_SQL, USED_SQL].includes(statement) ? waste(plan) : [],
          });
        }
      }
    }

    test('every statement uses the intended index, with and without statistics', async () => {
      await expectIntendedPlans();
      await database.write((connection) => connection.all('ANALYZE'));
      await expectIntendedPlans();
      // PostgreSQL uses index-only scans only after a VACUUM.
      if (database.sql === POSTGRES_DIALECT) await database.all('VACUUM');
      await expectIntendedPlans();
    });

    test.if(age === 'an hour')(
      'the search by user finds every transaction once, the newest first',
      async () => {
        const history = transactionHistory(database, TEST_AUDITOR);
        const { newest: found, count } = await history.findByPassbackUid(USER, { orgId: 1 });
        expect(count).toBe(rows);
        // A limited search returns the newest transactions and counts all of them.
        expect(await history.findByPassbackUid(USER, { orgId: 1, limit: 100 })).toEqual({
          count: rows,
          newest: found.slice(0, 100),
        });
        expect(new Set(found.map(({ id }) => id)).size).toBe(rows);
        expect(found.length).toBe(rows);
        expect(found.map(({ fromMs }) => fromMs)).toEqual(
          found.map(({ fromMs }) => fromMs).sort((a, b) => b - a),
        );
      },
    );

    test('every page of a walk, the last one included, runs only statements whose plans are checked', async () => {
      const run = new Set<Statement>();
      const recording = <T extends Pick<Connection, 'all' | 'allWithBytes'>>(connection: T): T => ({
        ...connection,
        all: <Row>(statement: Statement, ...params: SqlValue[]) =>
          connection.all<Row>(statement, ...params).finally(() => run.add(statement)),
        allWithBytes: <Row extends { data: Uint8Array | null }>(
          statement: Statement,
          ...params: SqlValue[]
        ) => connection.allWithBytes<Row>(statement, ...params).finally(() => run.add(statement)),
      });
      const recorded: Database = {
        ...recording(database),
        read: <T>(work: (connection: Connection) => Promise<T>) =>
          database.read((connection) => work(recording(connection))),
      };
      const pages = [CURSOR, 'ffffff00-0000-0000-0000-000000000000' as Uuid].map(async (cursor) => {
        const window = { minMs: EVERYTHING.minMs, maxMs: END_MS };
        const page = await readTransactionPage(recorded, { orgId: 1, cursor, window, limit: 100 });
        return page.cursor === undefined;
      });
      expect(await Promise.all(pages)).toEqual([false, true]);
      expect(run.size).toBeGreaterThan(0);
      const checked = statements().map(([statement]) => statement);
      expect([...run].filter((statement) => !checked.includes(statement))).toEqual([]);
    });

    // SQLite does not report how many entries it reads. Its statements and plans are the same as PostgreSQL's.
    if (testDatabase.name === 'SQLite') return;

    test('a page of any window reads at most 40,000 index entries', async () => {
      await database.write((connection) => connection.all('ANALYZE'));
      const stamp = fc.integer({ min: END_MS - spreadMs, max: END_MS });
      const window = fc
        .tuple(stamp, fc.oneof(stamp, fc.constant(END_MS), fc.constant(Number.MAX_SAFE_INTEGER)))
        .map(([a, b]) => ({ minMs: Math.min(a, b), maxMs: Math.max(a, b) }));
      const cursor = fc.oneof(
        fc.constant(FIRST_ID),
        fc.uuid().map((id) => id as Uuid),
      );
      await fc.assert(
        fc.asyncProperty(window, cursor, async (anyWindow, anyCursor) => {
          let entries = 0;
          const counting = (connection: Connection): Connection => ({
            ...connection,
            async all<Row>(statement: Statement, ...params: SqlValue[]) {
              const sql = typeof statement === 'string' ? statement : statement(database.sql);
              const explained = `EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) ${sql}`;
              const [row] = await connection.all<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
                explained,
                ...params,
              );
              entries += row === undefined ? 0 : entriesRead(row['QUERY PLAN'][0].Plan);
              return connection.all<Row>(statement, ...params);
            },
          });
          const query = { orgId: 1, cursor: anyCursor, count: 101, window: anyWindow };
          await database.read((connection) => findWindowIds(counting(connection), query));
          expect(entries).toBeGreaterThan(0);
          expect(entries).toBeLessThanOrEqual(40_000);
        }),
        { numRuns: 30 },
      );
    });
  });
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Number of entries that index scans returned or filtered out. */
function entriesRead(node: PlanNode): number {
  const own = node['Node Type'].startsWith('Index')
    ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
    : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + entriesRead(child), own);
}
