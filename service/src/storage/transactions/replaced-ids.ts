// Finds the transactions that were in a window of stamps at an earlier stamp and have been replaced since. Together with the
// transactions that have not changed since, they are the state as of that stamp. Reads only versions replaced after it, so
// the length of the history before it does not matter.
//
//   as of                       now
//   ──┼──────────────────────────┼──▶
//     │  until = 1    until = 2       All versions that an import replaces get the same until_stamp, so there are as many
//     │  [ids …]      [ids …]         until_stamps as imports. Two indexes hold the versions of each import: one in order
//     │  [from …]     [from …]        of id, one in order of from_stamp, the stamp of the version itself.
//
// There are three ways, for any number of imports and replaced versions:
//   many small imports   read everything that they replaced
//   few in the window    read the versions of each import by from_stamp
//   otherwise            merge the imports' versions by id (merge-runs.ts)

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from '../../domain/transaction.ts';
import type { Connection, SqlValue } from '../database.ts';
import { type Sql, type Statement, splitIds } from '../sql.ts';
import { mergeRuns, type RunRead } from './merge-runs.ts';

/** Every import costs one or two index seeks. With more imports than this, read everything they replaced instead, … */
const IMPORTS_FEW = 100;
/** … unless that is more than this. */
const SINCE_MAX = 10_000;
/** Up to this many versions in the window are sorted. */
const IN_WINDOW_MAX = 2_000;

export interface ReplacedQuery {
  readonly orgId: number;
  readonly cursor: Uuid;
  /** Number of ids to find. */
  readonly count: number;
  readonly asOfMs: number;
  /** The stamps of the versions; ends at `asOfMs` at the latest. */
  readonly window: StampWindow;
}

/** Returns the first ids from the cursor on, in order. */
export async function findReplaced(connection: Connection, query: ReplacedQuery): Promise<readonly Uuid[]> {
  let stamps = await readStamps(connection, query, IMPORTS_FEW + 1);
  if (stamps.length === 0) return [];
  if (stamps.length > IMPORTS_FEW) {
    const since = await findFew(connection, SINCE_SQL, query, query.asOfMs, SINCE_MAX);
    if (since !== undefined) return since;
    stamps = await readStamps(connection, query, Number.MAX_SAFE_INTEGER);
  }
  const list = JSON.stringify(stamps);
  const inWindow = await findFew(connection, IN_WINDOW_SQL, query, list, IN_WINDOW_MAX);
  if (inWindow !== undefined) return inWindow;
  const runs = stamps.map((stamp) => ({ stamp, weight: 1 }));
  return mergeRuns(runs, query.count, (reads, last) => readRuns(connection, query, reads, last));
}

/** Returns the stamps of the imports since. */
async function readStamps(
  connection: Connection,
  { orgId, asOfMs }: ReplacedQuery,
  most: number,
): Promise<number[]> {
  const rows = await connection.all<{ stamp: number }>(STAMPS_SQL, orgId, asOfMs, most);
  return rows.map(({ stamp }) => stamp);
}

/** Returns undefined if there are more than `most`. */
async function findFew(
  connection: Connection,
  statement: Statement,
  { orgId, window, cursor, count }: ReplacedQuery,
  which: SqlValue,
  most: number,
): Promise<readonly Uuid[] | undefined> {
  const [few] = await connection.all<{ total: number; ids: string | null }>(
    statement,
    orgId,
    which,
    window.minMs,
    window.maxMs,
    cursor,
    count,
  );
  return few !== undefined && few.total <= most ? splitIds(few.ids) : undefined;
}

async function readRuns(
  connection: Connection,
  { orgId, cursor, window }: ReplacedQuery,
  reads: readonly RunRead<{ stamp: number; weight: number }>[],
  last: Uuid,
): Promise<Uuid[][]> {
  const size = reads.reduce((most, read) => Math.max(most, read.size), 0);
  const rows = await connection.all<{ value: number; ids: string | null }>(
    RUNS_SQL,
    orgId,
    cursor,
    last,
    window.minMs,
    window.maxMs,
    size,
    JSON.stringify(reads.map(({ run }) => run.stamp)),
  );
  const found = new Map(rows.map(({ value, ids }) => [value, splitIds(ids)]));
  return reads.map(({ run }) => found.get(run.stamp) ?? []);
}

/**
 * Counts versions, up to one more than `most`, and returns the first ids of those in the window unless there are too many.
 * Reads the versions twice, because materialising them would be slower.
 */
function firstOfFew(sql: Sql, versions: (columns: string) => string, most: number): string {
  return `
  WITH counted AS MATERIALIZED (SELECT count(*) AS total FROM (${versions('1')}) AS few)
  SELECT total, CASE WHEN total <= ${most} THEN (
    SELECT ${sql.joinIds} FROM (
      SELECT DISTINCT id FROM (${versions('h.id, h.from_stamp')}) AS few
       WHERE from_stamp BETWEEN $3 AND $4 AND id >= $5 ORDER BY id LIMIT $6
    ) AS ids
  ) END AS ids FROM counted`;
}

/** All versions replaced since. The limit also makes both databases use the index on until_stamp. */
export const SINCE_SQL: Statement = (sql) =>
  firstOfFew(
    sql,
    (columns) => `
    SELECT ${columns} FROM history AS h WHERE org_id = $1 AND until_stamp > $2 ORDER BY until_stamp LIMIT ${SINCE_MAX + 1}`,
    SINCE_MAX,
  );

/** The versions in the window that each import replaced, one import after the other. */
export const IN_WINDOW_SQL: Statement = (sql) => {
  const condition = 'org_id = $1 AND until_stamp = v.value AND from_stamp BETWEEN $3 AND $4';
  const limit = `LIMIT ${IN_WINDOW_MAX + 1}`;
  const ofImport = sql.joinEach('history', 'id, from_stamp', condition, `ORDER BY from_stamp ${limit}`);
  const imports = sql.valuesTable('$2', 'bigint');
  return firstOfFew(
    sql,
    (columns) => `SELECT ${columns} FROM ${imports} CROSS JOIN ${ofImport} ${limit}`,
    IN_WINDOW_MAX,
  );
};

/** Finds the stamps by index seeks from one to the next. */
export const STAMPS_SQL = `
  WITH RECURSIVE stamps (stamp) AS (
    SELECT (${nextStamp('$2')})
    UNION ALL
    SELECT (${nextStamp('stamps.stamp')}) FROM stamps WHERE stamps.stamp IS NOT NULL
  )
  SELECT stamp FROM stamps WHERE stamp IS NOT NULL LIMIT $3`;

/** The stamp of the first import after a stamp that replaced anything. */
export function nextStamp(after: string): string {
  return `SELECT until_stamp FROM history WHERE org_id = $1 AND until_stamp > ${after} ORDER BY until_stamp LIMIT 1`;
}

/** For each import, its versions in the window from the id $2 to the id $3, in order of id. */
export const RUNS_SQL: Statement = (sql) => `
  SELECT v.value, (
    SELECT ${sql.joinIds} FROM (
      SELECT id FROM history
       WHERE org_id = $1 AND until_stamp = v.value AND id BETWEEN $2 AND $3 AND from_stamp BETWEEN $4 AND $5
       ORDER BY id NULLS FIRST LIMIT $6
    ) AS run
  ) AS ids FROM ${sql.valuesTable('$7', 'bigint')}`;
