// Finds the transactions that were in a window at an earlier stamp and have been replaced since. Together with the unchanged
// transactions, the versions found form the state as of that stamp. Reads only versions replaced after that stamp, so the
// length of the earlier history does not matter.
//
// All versions that an import replaces get the same until_stamp. Two indexes list the versions of each import: one in order of
// id, one in order of from_stamp, the stamp of the version itself.
//
// If few versions are in the window, they are sorted; otherwise, the imports' versions are merged by id (merge-runs.ts).

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Connection } from '../database.ts';
import { type Statement, splitIds, uuidOf } from '../sql.ts';
import { mergeRuns, runsSql, valuesSql } from './merge-runs.ts';
import type { AsOfQuery } from './window-ids.ts';

/** If the window contains more versions than this, they are merged instead of sorted. */
const SORTED_MAX = 2_000;

/** Returns the first ids at or after the cursor, in order. */
export async function findReplaced(
  connection: Connection,
  { orgId, asOfMs, window, cursor, count }: AsOfQuery,
): Promise<readonly Uuid[]> {
  const rows = await connection.all<{ value: number }>(STAMPS_SQL, orgId, asOfMs);
  if (rows.length === 0) return [];
  const stamps = rows.map(({ value }) => value);
  const params = [orgId, JSON.stringify(stamps), window.minMs, window.maxMs, cursor, count];
  const [few] = await connection.all<{ total: number; ids: string | null }>(IN_WINDOW_SQL, ...params);
  if (few !== undefined && few.total <= SORTED_MAX) return splitIds(few.ids).map(uuidOf);
  return mergeRuns(
    {
      numbers: stamps,
      read: (numbers, size, last) =>
        connection.all(RUNS_SQL, orgId, cursor, last, size, numbers, window.minMs, window.maxMs),
    },
    count,
  );
}

/**
 * Counts the versions in the window that the imports in $2 replaced, up to one more than SORTED_MAX. Returns the first ids if there
 * are at most SORTED_MAX. Reads the versions twice, because materialising them would be slower.
 */
export const IN_WINDOW_SQL: Statement = (sql) => {
  const condition = 'org_id = $1 AND until_stamp = v.value AND from_stamp BETWEEN $3 AND $4';
  const limit = `LIMIT ${SORTED_MAX + 1}`;
  const ofImport = sql.joinEach('history', 'id, from_stamp', condition, `ORDER BY from_stamp ${limit}`);
  const versions = (columns: string) =>
    `SELECT ${columns} FROM ${sql.valuesTable('$2', 'bigint')} CROSS JOIN ${ofImport} ${limit}`;
  return `
  WITH counted AS MATERIALIZED (SELECT count(*) AS total FROM (${versions('1')}) AS few)
  SELECT total, CASE WHEN total <= ${SORTED_MAX} THEN (
    SELECT ${sql.joinIds} FROM (
      SELECT DISTINCT id FROM (${versions('h.id')}) AS few WHERE id >= $5::uuid ORDER BY id LIMIT $6
    ) AS ids
  ) END AS ids FROM counted`;
};

/** Stamp of the next import after `after` that replaced any version. */
export function nextStamp(after: string): string {
  return `SELECT until_stamp FROM history WHERE org_id = $1 AND until_stamp > ${after} ORDER BY until_stamp LIMIT 1`;
}

/** The stamps of the imports since $2. */
export const STAMPS_SQL = valuesSql('$2', nextStamp);

/** The versions that each import replaced within the window from $6 to $7. */
export const RUNS_SQL: Statement = (sql) =>
  runsSql(sql, 'FROM history WHERE org_id = $1 AND until_stamp = v.value AND from_stamp BETWEEN $6 AND $7');
