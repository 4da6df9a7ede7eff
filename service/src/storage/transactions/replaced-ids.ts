// Finds the transactions whose version at a moment has been replaced since, but lay in a window of stamps then. With the
// transactions that have not changed since, they are the state of that moment. Only versions that were replaced after the
// moment are ever read: how long the history before it is does not matter.
//
//   the moment                  now
//   ──┼──────────────────────────┼──▶
//     │  until = 1    until = 2       an import gives all versions that it replaces the same stamp, so that there are as
//     │  [ids …]      [ids …]         many stamps as imports. One index holds the versions of each in the order of their
//     │  [from …]     [from …]        ids, another one in the order of the stamps from which they were true
//
// There are three ways, because the window, what has changed since and the imports that did it may be few or many:
//   many small imports   read all that they have replaced
//   few in the window    read those of each import by the stamps from which they were true
//   otherwise            merge the runs of the imports by id (merge-runs.ts)

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { StampWindow } from '../../domain/stores.ts';
import type { Connection, SqlValue } from '../database.ts';
import { type Dialect, inBoth, JOIN_IDS, splitIds, VALUES } from '../sql-dialect.ts';
import { mergeRuns, type RunRead } from './merge-runs.ts';

/** Every import costs an index seek or two; of more than this, what they have replaced is rather read one by one, */
const IMPORTS_FEW = 100;
/** unless that is more than this. */
const SINCE_MAX = 10_000;
/** Up to this many versions that lay in the window are sorted. */
const IN_WINDOW_MAX = 2_000;

export interface ReplacedQuery {
  readonly orgId: number;
  readonly cursor: Uuid;
  /** How many ids are wanted. */
  readonly count: number;
  readonly asOfMs: number;
  /** The stamps of the versions; ends at the moment, at the latest. */
  readonly window: StampWindow;
}

/** The first ids from the cursor on, in order. */
export async function findReplaced(
  connection: Connection,
  dialect: Dialect,
  query: ReplacedQuery,
): Promise<readonly Uuid[]> {
  let stamps = await readStamps(connection, query, IMPORTS_FEW + 1);
  if (stamps.length === 0) return [];
  if (stamps.length > IMPORTS_FEW) {
    const since = await findFew(connection, SINCE_SQL[dialect], query, query.asOfMs, SINCE_MAX);
    if (since !== undefined) return since;
    stamps = await readStamps(connection, query, Number.MAX_SAFE_INTEGER);
  }
  const list = JSON.stringify(stamps);
  const inWindow = await findFew(connection, IN_WINDOW_SQL[dialect], query, list, IN_WINDOW_MAX);
  if (inWindow !== undefined) return inWindow;
  const runs = stamps.map((stamp) => ({ stamp, weight: 1 }));
  return mergeRuns(runs, query.count, (reads, last) => readRuns(connection, dialect, query, reads, last));
}

/** The stamps of the imports since. */
async function readStamps(
  connection: Connection,
  { orgId, asOfMs }: ReplacedQuery,
  most: number,
): Promise<number[]> {
  const rows = await connection.all<{ stamp: number }>(STAMPS_SQL, orgId, asOfMs, most);
  return rows.map(({ stamp }) => stamp);
}

/** Undefined when there are too many. */
async function findFew(
  connection: Connection,
  sql: string,
  { orgId, window, cursor, count }: ReplacedQuery,
  which: SqlValue,
  most: number,
): Promise<readonly Uuid[] | undefined> {
  const [few] = await connection.all<{ total: number; ids: string | null }>(
    sql,
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
  dialect: Dialect,
  { orgId, cursor, window }: ReplacedQuery,
  reads: readonly RunRead<{ stamp: number; weight: number }>[],
  last: Uuid,
): Promise<Uuid[][]> {
  const size = reads.reduce((most, read) => Math.max(most, read.size), 0);
  const rows = await connection.all<{ value: number; ids: string | null }>(
    RUNS_SQL[dialect],
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
 * How many of some versions there are, and the first ids of those of the window, unless there are too many. They are read
 * twice, up to one too many, because keeping them would take longer.
 */
function firstOfFew(dialect: Dialect, versions: (columns: string) => string, most: number): string {
  return `
  WITH counted AS MATERIALIZED (SELECT count(*) AS total FROM (${versions('1')}) AS few)
  SELECT total, CASE WHEN total <= ${most} THEN (
    SELECT ${JOIN_IDS[dialect]} FROM (
      SELECT DISTINCT id FROM (${versions('h.id, h.from_stamp')}) AS few
       WHERE from_stamp BETWEEN $3 AND $4 AND id >= $5 ORDER BY id LIMIT $6
    ) AS ids
  ) END AS ids FROM counted`;
}

/** All that were replaced since. The limit also keeps both databases to the index that is meant. */
export const SINCE_SQL = inBoth((dialect) =>
  firstOfFew(
    dialect,
    (columns) => `
    SELECT ${columns} FROM history AS h WHERE org_id = $1 AND until_stamp > $2 ORDER BY until_stamp LIMIT ${SINCE_MAX + 1}`,
    SINCE_MAX,
  ),
);

/** Of each import, what it has replaced of the window. */
export const IN_WINDOW_SQL = inBoth((dialect) => {
  const condition = 'org_id = $1 AND until_stamp = v.value AND from_stamp BETWEEN $3 AND $4';
  const limit = `LIMIT ${IN_WINDOW_MAX + 1}`;
  // One import after the other. PostgreSQL would think of other ways if the limit did not stand in between.
  const ofStamp =
    dialect === 'sqlite'
      ? `history AS h ON ${condition}`
      : `LATERAL (SELECT id, from_stamp FROM history WHERE ${condition} ORDER BY from_stamp ${limit}) AS h`;
  const stamps = VALUES[dialect]('$2', 'bigint');
  return firstOfFew(
    dialect,
    (columns) => `SELECT ${columns} FROM ${stamps} CROSS JOIN ${ofStamp} ${limit}`,
    IN_WINDOW_MAX,
  );
});

/** Found by leaping from one to the next. */
export const STAMPS_SQL = `
  WITH RECURSIVE stamps (stamp) AS (
    SELECT (${nextStamp('$2')})
    UNION ALL
    SELECT (${nextStamp('stamps.stamp')}) FROM stamps WHERE stamps.stamp IS NOT NULL
  )
  SELECT stamp FROM stamps WHERE stamp IS NOT NULL LIMIT $3`;

/** The stamp of the first import after another one that has replaced anything. */
export function nextStamp(after: string): string {
  return `SELECT until_stamp FROM history WHERE org_id = $1 AND until_stamp > ${after} ORDER BY until_stamp LIMIT 1`;
}

/** For each stamp the versions of the window from one id to another, by id. */
export const RUNS_SQL = inBoth(
  (dialect) => `
  SELECT v.value, (
    SELECT ${JOIN_IDS[dialect]} FROM (
      SELECT id FROM history
       WHERE org_id = $1 AND until_stamp = v.value AND id BETWEEN $2 AND $3 AND from_stamp BETWEEN $4 AND $5
       ORDER BY id NULLS FIRST LIMIT $6
    ) AS run
  ) AS ids FROM ${VALUES[dialect]('$7', 'bigint')}`,
);
