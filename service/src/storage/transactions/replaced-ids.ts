// Finds the transactions that were in a window at an earlier stamp and have been replaced since. Together with the unchanged
// transactions, the versions found form the state as of that stamp. Reads only versions replaced after that stamp, so the
// length of the earlier history does not matter.
//
// All versions that an import replaces get the same until_stamp. Two indexes list the versions of each import: one in order of
// id, one in order of from_stamp, the stamp of the version itself.
//
// There are three ways to read the versions. The first one that reads a bounded number of them is used:
//   many small imports   everything they replaced, sorted
//   few in the window    each import's versions in the window, by from_stamp, then sorted
//   otherwise            the imports' versions, merged by id (merge-runs.ts)

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from '../../domain/transaction.ts';
import type { Connection, SqlValue } from '../database.ts';
import { type Dialect, type Statement, splitIds, uuidOf } from '../sql.ts';
import { mergeRuns, runsSql, valuesSql } from './merge-runs.ts';
import type { IdQuery } from './window-ids.ts';

/** Each import costs one or two index seeks. With more imports than this, all versions that they replaced are read at once. */
const IMPORTS_MAX = 100;
/** If the imports replaced more versions than this, they are read one by one after all. */
const SINCE_MAX = 10_000;
/** If the window contains more versions than this, they are merged instead of sorted. */
const SORTED_MAX = 2_000;

interface ReplacedQuery extends IdQuery {
  readonly asOfMs: number;
  /** Window of the versions' own stamps; ends at `asOfMs` or earlier. */
  readonly window: StampWindow;
}

/** Returns the first ids at or after the cursor, in order. */
export async function findReplaced(connection: Connection, query: ReplacedQuery): Promise<readonly Uuid[]> {
  let stamps = await readStamps(connection, query, IMPORTS_MAX + 1);
  if (stamps.length === 0) return [];
  if (stamps.length > IMPORTS_MAX) {
    const since = await findFew(connection, SINCE_SQL, query, query.asOfMs, SINCE_MAX);
    if (since !== undefined) return since;
    stamps = await readStamps(connection, query, Number.MAX_SAFE_INTEGER);
  }
  const inWindow = await findFew(connection, IN_WINDOW_SQL, query, JSON.stringify(stamps), SORTED_MAX);
  if (inWindow !== undefined) return inWindow;
  const { orgId, cursor, window, count } = query;
  return mergeRuns(
    {
      numbers: stamps,
      read: (numbers, size, last) =>
        connection.all(RUNS_SQL, orgId, cursor, last, size, numbers, window.minMs, window.maxMs),
    },
    count,
  );
}

/** Returns the stamps of the first `countMax` imports after `asOfMs` that replaced any version. */
async function readStamps(
  connection: Connection,
  { orgId, asOfMs }: ReplacedQuery,
  countMax: number,
): Promise<number[]> {
  const rows = await connection.all<{ value: number }>(STAMPS_SQL, orgId, asOfMs, countMax);
  return rows.map(({ value }) => value);
}

/** Returns undefined if there are more than `countMax` versions. */
async function findFew(
  connection: Connection,
  statement: Statement,
  { orgId, window, cursor, count }: ReplacedQuery,
  since: SqlValue,
  countMax: number,
): Promise<readonly Uuid[] | undefined> {
  const params = [orgId, since, window.minMs, window.maxMs, cursor, count];
  const [few] = await connection.all<{ total: number; ids: string | null }>(statement, ...params);
  return few !== undefined && few.total <= countMax ? splitIds(few.ids).map(uuidOf) : undefined;
}

/**
 * Counts versions, up to one more than `countMax`. Returns the first ids in the window if there are at most `countMax`. Reads the
 * versions twice, because materialising them would be slower.
 */
function firstOfFew(sql: Dialect, versions: (columns: string) => string, countMax: number): string {
  return `
  WITH counted AS MATERIALIZED (SELECT count(*) AS total FROM (${versions('1')}) AS few)
  SELECT total, CASE WHEN total <= ${countMax} THEN (
    SELECT ${sql.joinIds} FROM (
      SELECT DISTINCT id FROM (${versions('h.id, h.from_stamp')}) AS few
       WHERE from_stamp BETWEEN $3 AND $4 AND id >= $5::uuid ORDER BY id LIMIT $6
    ) AS ids
  ) END AS ids FROM counted`;
}

/** All versions replaced since $2. The limit also makes both databases use the index on until_stamp. */
export const SINCE_SQL: Statement = (sql) =>
  firstOfFew(
    sql,
    (columns) => `
    SELECT ${columns} FROM history AS h WHERE org_id = $1 AND until_stamp > $2 ORDER BY until_stamp LIMIT ${SINCE_MAX + 1}`,
    SINCE_MAX,
  );

/** The versions in the window that the imports in $2 replaced. */
export const IN_WINDOW_SQL: Statement = (sql) => {
  const condition = 'org_id = $1 AND until_stamp = v.value AND from_stamp BETWEEN $3 AND $4';
  const limit = `LIMIT ${SORTED_MAX + 1}`;
  const ofImport = sql.joinEach('history', 'id, from_stamp', condition, `ORDER BY from_stamp ${limit}`);
  const imports = sql.valuesTable('$2', 'bigint');
  return firstOfFew(
    sql,
    (columns) => `SELECT ${columns} FROM ${imports} CROSS JOIN ${ofImport} ${limit}`,
    SORTED_MAX,
  );
};

/** Stamp of the next import after `after` that replaced any version. */
export function nextStamp(after: string): string {
  return `SELECT until_stamp FROM history WHERE org_id = $1 AND until_stamp > ${after} ORDER BY until_stamp LIMIT 1`;
}

/** The stamps of the first $3 imports since $2. */
export const STAMPS_SQL = `${valuesSql('$2', nextStamp)} LIMIT $3`;

/** The versions that each import replaced within the window from $6 to $7. */
export const RUNS_SQL: Statement = (sql) =>
  runsSql(sql, 'FROM history WHERE org_id = $1 AND until_stamp = v.value AND from_stamp BETWEEN $6 AND $7');
