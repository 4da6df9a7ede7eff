// Records failovers in the database. A promoted standby has a new timeline, and may lack changes that its predecessor had
// announced to clients. Therefore, nothing is written to transactions on a timeline that is not recorded, and recording it
// moves every change clock to the present: Complete-Through does not go back, and a later change gets a later stamp than those
// that may have been lost.
//
// A restored copy of the database has a different system identifier or timeline, so it is recorded in the same way.

import { isStorageError, StorageError } from '../../domain/storage-error.ts';
import { REVISIONS } from '../../domain/stores.ts';
import type { Connection, Database, Queries } from '../database.ts';
import { type Auditor, writeAudit } from '../stores/audit-log.ts';
import { advanceClock, lockClock, lockClocks } from '../stores/change-clock.ts';
import { IDENTITY_SQL } from './server-search.ts';

/** Longer than any write that could hold a change clock on a new primary before its timeline is recorded. */
const LOCK_TIMEOUT_MS = 10_000;
/** More revisions than a server can have loaded before the failover lost them: servers poll only twice a second. */
const REVISIONS_SKIPPED = 1_000;

/** One row, unless the server is a standby. `id` is null if its timeline is not recorded. */
export const CURRENT_SQL = `
  SELECT current.system, current.timeline, timelines.id
    FROM (${IDENTITY_SQL}) AS current LEFT JOIN timelines USING (system, timeline)
   WHERE current.timeline IS NOT NULL`;

/**
 * Skips an id for each timeline without a record. The next failover can lose a timeline's record, but servers may have seen its
 * id, so the id must not be reused.
 */
const INSERT_SQL = `
  INSERT INTO timelines (id, system, timeline, at, settled_at) OVERRIDING SYSTEM VALUE
  SELECT coalesce(max(id), 0) + greatest(1, $2::integer - coalesce(max(timeline) FILTER (WHERE system = $1), $2::integer)),
         $1, $2, $3::bigint, $4::bigint
    FROM timelines
  RETURNING id`;

export interface CurrentRow {
  readonly system: string;
  readonly timeline: number;
  readonly id: number | null;
}

/** Returns undefined on a standby, or if the server does not report its timeline. */
export async function readIfReported<Row>(queries: Queries, sql: string): Promise<Row | undefined> {
  try {
    const [row] = await queries.all<Row>(sql);
    return row;
  } catch (error) {
    if (isStorageError(error) && !isStorageError(error, 'denied')) throw error;
    return undefined;
  }
}

/**
 * Records the server's timeline if it is new. Does nothing on a standby or if the role is not allowed to write. Returns true if
 * the server reports its timeline, which some hosted services do not, and the timeline is recorded.
 */
export async function recordFailover(database: Database, auditor: Auditor): Promise<boolean> {
  const current = await readIfReported<CurrentRow>(database, CURRENT_SQL);
  if (current === undefined) return false;
  if (current.id !== null) return true;
  try {
    await database.write((connection) => recordCurrent(connection, auditor), LOCK_TIMEOUT_MS);
    return true;
  } catch (error) {
    if (isStorageError(error, 'denied')) return false;
    throw error;
  }
}

/** Throws a StorageError if this transaction runs on a timeline that is not recorded. */
export async function requireRecorded(connection: Queries): Promise<void> {
  const [current] = await connection.all<CurrentRow>(CURRENT_SQL);
  if (current !== undefined && current.id === null)
    throw new StorageError('unavailable', 'PostgreSQL has just failed over; try again');
}

/** Notes that an operator has dealt with all failovers: all transactions have new stamps, or nothing was lost. */
export async function settleFailovers(database: Database, nowMs: number): Promise<void> {
  await database.write(async (connection) => {
    await connection.all('UPDATE timelines SET settled_at = $1 WHERE settled_at IS NULL', nowMs);
    await connection.all(
      'UPDATE timeline_clocks SET restamped_at = $1 WHERE lost_through IS NOT NULL AND restamped_at IS NULL',
      nowMs,
    );
  });
}

export interface FailoverFacts {
  /** Null if there was no failover. */
  readonly lastAtMs: number | null;
  /** Number of failovers that may have lost changes and are not settled yet. */
  readonly unsettled: number;
  /** Number of organisations whose transactions still have to get new stamps. */
  readonly restamping: number;
}

export async function inspectFailovers(database: Database): Promise<FailoverFacts | undefined> {
  const [row] = await database.all<FailoverFacts>(`
    SELECT (SELECT at FROM timelines WHERE id > (SELECT min(id) FROM timelines) ORDER BY id DESC LIMIT 1) AS "lastAtMs",
           (SELECT count(*) FROM timelines WHERE settled_at IS NULL) AS unsettled,
           (SELECT count(*) FROM timeline_clocks WHERE lost_through IS NOT NULL AND restamped_at IS NULL) AS restamping`);
  return row;
}

async function recordCurrent(connection: Connection, auditor: Auditor): Promise<void> {
  // Servers commit without waiting for the disk or a standby, but the moved clocks must survive the next failover.
  await connection.all('SET LOCAL synchronous_commit = on');
  // Another process may be recording the same failover.
  await connection.all('LOCK TABLE timelines IN EXCLUSIVE MODE');
  const [current] = await connection.all<CurrentRow>(CURRENT_SQL);
  if (current === undefined || current.id !== null) return;
  const { system, timeline } = current;
  const isFirst = (await connection.all('SELECT id FROM timelines LIMIT 1')).length === 0;
  const nowMs = auditor.clock();
  const [inserted] = await connection.all<{ id: number }>(
    INSERT_SQL,
    system,
    timeline,
    nowMs,
    isFirst ? nowMs : null,
  );
  if (isFirst || inserted === undefined) return;
  await lockClocks(connection);
  await connection.all(
    `INSERT INTO timeline_clocks (timeline_id, org_id, last_stamp, moved_to)
     SELECT $1, id, last_stamp, greatest(last_stamp, $2) FROM organisations WHERE deleting_since IS NULL`,
    inserted.id,
    nowMs,
  );
  await connection.all(
    'UPDATE organisations SET last_stamp = $1 WHERE last_stamp < $1 AND deleting_since IS NULL',
    nowMs,
  );
  // The number of a lost revision must not be reused for other contents, because servers would not reload.
  await connection.all(
    `UPDATE revisions SET value = value + ${REVISIONS_SKIPPED} WHERE name IN (${REVISIONS.map((name) => `'${name}'`).join()})`,
  );
  await writeAudit(connection, auditor, 'failover recorded', null, { timeline });
}

/** A change clock at a failover: `lastStampMs` on the new primary, `movedToMs` after the failover was recorded, `clockMs` now. */
export interface ClockRow {
  readonly timelineId: number;
  readonly orgId: number;
  readonly org: string;
  readonly lastStampMs: number;
  readonly movedToMs: number;
  readonly clockMs: number;
}

/** Reads the change clocks at the failovers after this timeline. */
export function readClocksAfter(database: Database, timelineId: number): Promise<ClockRow[]> {
  return database.all<ClockRow>(
    `SELECT timeline_id AS "timelineId", org_id AS "orgId", name AS org, c.last_stamp AS "lastStampMs", moved_to AS "movedToMs",
            o.last_stamp AS "clockMs"
       FROM timeline_clocks c JOIN organisations o ON o.id = org_id
      WHERE timeline_id > $1 AND deleting_since IS NULL ORDER BY timeline_id, org_id`,
    timelineId,
  );
}

interface Loss extends ClockRow {
  readonly lostThroughMs: number;
}

/** Records which changes were lost by the failovers after this timeline, and that these failovers are settled. */
export async function settleAfter(
  database: Database,
  timelineId: number,
  losses: readonly Loss[],
  nowMs: number,
): Promise<void> {
  await database.write(async (connection) => {
    // Synchronous, because the next failover must not lose this record.
    await connection.all('SET LOCAL synchronous_commit = on');
    for (const loss of losses) await noteLoss(connection, loss);
    const sql = 'UPDATE timelines SET settled_at = $1 WHERE settled_at IS NULL AND id > $2';
    await connection.all(sql, nowMs, timelineId);
  }, LOCK_TIMEOUT_MS);
}

/**
 * Records that changes up to `lostThroughMs` were lost, unless another server has already recorded it. The clock moves only if
 * the last lost stamp is later, which happens if a machine with a fast clock assigned it.
 */
async function noteLoss(
  connection: Connection,
  { timelineId, orgId, movedToMs, lostThroughMs }: Loss,
): Promise<void> {
  if (lostThroughMs > movedToMs) {
    await lockClock(connection, orgId);
    await advanceClock(connection, orgId, lostThroughMs);
  }
  await connection.all(
    `UPDATE timeline_clocks SET lost_through = $3, moved_to = greatest(moved_to, $3), restamped_at = NULL
      WHERE timeline_id = $1 AND org_id = $2 AND (lost_through IS NULL OR moved_to < $3)`,
    timelineId,
    orgId,
    lostThroughMs,
  );
}
