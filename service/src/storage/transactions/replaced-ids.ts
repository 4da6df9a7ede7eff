// Finds the transactions whose version at a moment has been replaced since, but lay in a window of stamps then. With the
// transactions that have not changed since, they are the state of that moment.
//
//   S, the moment               now
//   ──┼──────────────────────────┼──▶
//     │  until = 1    until = 2       an import gives all versions that it replaces the same stamp, so the index by
//     │  [ids …]      [ids …]         that stamp holds each import as a run in the order of the ids
//
// There are four ways, because the window and what has changed since may each be small or large:
//   few replaced since   read all of them, which is nearly always none
//   few in the window    read the versions of the window
//   a few imports        merge their runs (merge-runs.ts)
//   many imports         walk the history by id

import type { StampWindow } from '../../domain/stores.ts';
import type { Uuid } from '../../domain/uuid.ts';
import type { Connection } from '../database.ts';
import { type Dialect, inBoth, VALUES } from '../sql-dialect.ts';
import { mergeRuns, type RunRead } from './merge-runs.ts';

/** Up to this many versions are read and sorted here. */
const FEW_MAX = 256;
/** Every import since the moment costs an index seek. */
const RUNS_MAX = 500;

export interface ReplacedQuery {
  readonly orgId: number;
  readonly cursor: Uuid;
  /** How many ids are wanted. */
  readonly count: number;
  readonly asOfMs: number;
  /** The stamps of the versions; ends at the moment, at the latest. */
  readonly window: StampWindow;
}

interface Version {
  readonly id: Uuid;
  readonly from_stamp: number;
  readonly until_stamp: number;
}

/** The first ids from the cursor on, in order. */
export async function findReplaced(
  connection: Connection,
  dialect: Dialect,
  query: ReplacedQuery,
): Promise<readonly Uuid[]> {
  const { orgId, asOfMs, window, count, cursor } = query;
  const since = await connection.all<Version>(SINCE_SQL, orgId, asOfMs);
  if (since.length <= FEW_MAX) return matching(since, query);
  const inWindow = await connection.all<Version>(IN_WINDOW_SQL, orgId, window.minMs, window.maxMs);
  if (inWindow.length <= FEW_MAX) return matching(inWindow, query);
  const stamps = await connection.all<{ stamp: number }>(STAMPS_SQL, orgId, asOfMs);
  if (stamps.length <= RUNS_MAX) {
    const runs = stamps.map(({ stamp }) => ({ stamp, weight: 1 }));
    return mergeRuns(runs, count, (reads, last) => readRuns(connection, dialect, query, reads, last));
  }
  const rows = await connection.all<{ id: Uuid }>(
    BY_ID_SQL,
    orgId,
    cursor,
    asOfMs,
    window.minMs,
    window.maxMs,
    count,
  );
  return rows.map(({ id }) => id);
}

function matching(
  versions: readonly Version[],
  { cursor, asOfMs, window: { minMs, maxMs }, count }: ReplacedQuery,
): Uuid[] {
  return versions
    .filter(
      ({ id, from_stamp: from, until_stamp: until }) =>
        id >= cursor && until > asOfMs && from >= minMs && from <= maxMs,
    )
    .map(({ id }) => id)
    .sort()
    .slice(0, count);
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
  const found = new Map(
    rows.map(({ value, ids }) => [value, ids === null ? [] : (ids.split(',') as Uuid[])]),
  );
  return reads.map(({ run }) => found.get(run.stamp) ?? []);
}

export const SINCE_SQL = `
  SELECT id, from_stamp, until_stamp FROM history
   WHERE org_id = $1 AND until_stamp > $2 ORDER BY until_stamp LIMIT ${FEW_MAX + 1}`;

export const IN_WINDOW_SQL = `
  SELECT id, from_stamp, until_stamp FROM history
   WHERE org_id = $1 AND from_stamp BETWEEN $2 AND $3 ORDER BY from_stamp LIMIT ${FEW_MAX + 1}`;

/** The stamps of the imports since, found by leaping from one to the next. */
export const STAMPS_SQL = `
  WITH RECURSIVE stamps (stamp) AS (
    SELECT (SELECT until_stamp FROM history WHERE org_id = $1 AND until_stamp > $2 ORDER BY until_stamp LIMIT 1)
    UNION ALL
    SELECT (SELECT until_stamp FROM history WHERE org_id = $1 AND until_stamp > stamps.stamp ORDER BY until_stamp LIMIT 1)
      FROM stamps WHERE stamps.stamp IS NOT NULL
  )
  SELECT stamp FROM stamps WHERE stamp IS NOT NULL LIMIT ${RUNS_MAX + 1}`;

export const RUNS_SQL = inBoth((dialect) => {
  const ids = dialect === 'sqlite' ? 'group_concat(id)' : `string_agg(id::text, ',')`;
  return `
  SELECT v.value, (
    SELECT ${ids} FROM (
      SELECT id FROM history
       WHERE org_id = $1 AND until_stamp = v.value AND id BETWEEN $2 AND $3 AND from_stamp BETWEEN $4 AND $5
       ORDER BY id LIMIT $6
    ) AS run
  ) AS ids FROM ${VALUES[dialect]('$7', 'bigint')}`;
});

export const BY_ID_SQL = `
  SELECT id FROM history
   WHERE org_id = $1 AND id >= $2 AND until_stamp > $3 AND from_stamp BETWEEN $4 AND $5
   ORDER BY id, until_stamp LIMIT $6`;
