// Finds the transactions that were in a window at an earlier stamp and have been replaced since. Together with the unchanged
// transactions, the versions found form the state as of that stamp. Reads only versions replaced after that stamp, so the
// length of the earlier history does not matter.
//
//   as of                       now
//   ──┼──────────────────────────┼──▶
//     │  until = 1    until = 2       All versions that an import replaces get the same until_stamp. Two indexes list the
//     │  [ids …]      [ids …]         versions of each import: one in order of id, one in order of from_stamp, the stamp
//     │  [from …]     [from …]        of the version itself.
//
// If the window contains few versions, they are read from the second index and sorted. Otherwise, the lists in the first index
// are merged by id (merge-runs.ts).

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from '../../domain/transaction.ts';
import type { Connection } from '../database.ts';
import { type Statement, splitIds } from '../sql.ts';
import { mergeRuns, type RunRead } from './merge-runs.ts';

/** If the window contains more versions than this, they are merged instead of sorted. */
const SORTED_MAX = 2_000;

interface ReplacedQuery {
  readonly orgId: number;
  readonly cursor: Uuid;
  /** Number of ids to find. */
  readonly count: number;
  readonly asOfMs: number;
  /** Window of the versions' own stamps; ends at `asOfMs` or earlier. */
  readonly window: StampWindow;
}

/** Returns the first ids at or after the cursor, in order. */
export async function findReplaced(connection: Connection, query: ReplacedQuery): Promise<readonly Uuid[]> {
  const { orgId, asOfMs, window, cursor, count } = query;
  const params = [orgId, asOfMs, window.minMs, window.maxMs, cursor, count];
  const [few] = await connection.all<{ total: number; ids: string | null }>(IN_WINDOW_SQL, ...params);
  if (few !== undefined && few.total <= SORTED_MAX) return splitIds(few.ids);
  const imports = await connection.all<{ value: number }>(STAMPS_SQL, orgId, asOfMs);
  const runs = imports.map(({ value }) => ({ stamp: value, weight: 1 }));
  return mergeRuns(runs, count, (reads, last) => readRuns(connection, query, reads, last));
}

async function readRuns(
  connection: Connection,
  { orgId, cursor, window }: ReplacedQuery,
  reads: readonly RunRead<{ stamp: number; weight: number }>[],
  last: Uuid,
): Promise<Uuid[][]> {
  const rows = await connection.all<{ value: number; ids: string | null }>(
    RUNS_SQL,
    orgId,
    cursor,
    last,
    window.minMs,
    window.maxMs,
    // Imports have equal weights, so all sizes are equal.
    reads[0]?.size ?? 0,
    JSON.stringify(reads.map(({ run }) => run.stamp)),
  );
  const found = new Map(rows.map(({ value, ids }) => [value, splitIds(ids)]));
  return reads.map(({ run }) => found.get(run.stamp) ?? []);
}

/** The stamps of all imports since $2, found with one index seek each. */
const STAMPS = `
  RECURSIVE stamps (value) AS (
    SELECT (${nextStamp('$2')})
    UNION ALL
    SELECT (${nextStamp('stamps.value')}) FROM stamps WHERE stamps.value IS NOT NULL
  )`;
export const STAMPS_SQL = `WITH ${STAMPS} SELECT value FROM stamps WHERE value IS NOT NULL`;

/**
 * Counts the versions in the window that imports since $2 have replaced, up to SORTED_MAX + 1. Returns the first ids unless there
 * are more than SORTED_MAX versions. Reads the versions twice, because materialising them would be slower.
 */
export const IN_WINDOW_SQL: Statement = (sql) => {
  const condition = 'org_id = $1 AND until_stamp = v.value AND from_stamp BETWEEN $3 AND $4';
  const limit = `LIMIT ${SORTED_MAX + 1}`;
  const ofImport = sql.joinEach('history', 'id, from_stamp', condition, `ORDER BY from_stamp ${limit}`);
  const versions = `FROM imports AS v CROSS JOIN ${ofImport} ${limit}`;
  return `
  WITH ${STAMPS}, imports AS MATERIALIZED (SELECT value FROM stamps WHERE value IS NOT NULL),
  counted AS MATERIALIZED (SELECT count(*) AS total FROM (SELECT 1 ${versions}) AS few)
  SELECT total, CASE WHEN total <= ${SORTED_MAX} THEN (
    SELECT ${sql.joinIds} FROM (
      SELECT DISTINCT id FROM (SELECT h.id ${versions}) AS few WHERE id >= $5 ORDER BY id LIMIT $6
    ) AS ids
  ) END AS ids FROM counted`;
};

/** Stamp of the next import after `after` that replaced any version. */
export function nextStamp(after: string): string {
  return `SELECT until_stamp FROM history WHERE org_id = $1 AND until_stamp > ${after} ORDER BY until_stamp LIMIT 1`;
}

/**
 * For each import in $7: up to $6 of the versions that it replaced within the window, with ids from $2 to $3, in order of id.
 */
export const RUNS_SQL: Statement = (sql) => `
  SELECT v.value, (
    SELECT ${sql.joinIds} FROM (
      SELECT id FROM history
       WHERE org_id = $1 AND until_stamp = v.value AND id BETWEEN $2 AND $3 AND from_stamp BETWEEN $4 AND $5
       ORDER BY id NULLS FIRST LIMIT $6
    ) AS run
  ) AS ids FROM ${sql.valuesTable('$7', 'bigint')}`;
