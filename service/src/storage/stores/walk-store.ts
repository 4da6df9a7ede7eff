// Which changes the later pages of a walk may show. The stamp is shared by all nodes and tokens through the database
// and only ever rises, and every first page that leads to others is noted down before it is sent. So it is never below
// the Complete-Through of any of them: a walk that broke off cannot hide anything from the next one, wherever that
// begins and goes on.

import type { Clock } from '../../domain/clock.ts';
import { BadInput, DatabaseUnavailable, Refused } from '../../domain/failures.ts';
import type { Walk, WalkStore } from '../../domain/stores.ts';
import type { Database } from '../database.ts';
import { isFileFault } from '../sqlite/sqlite-errors.ts';

const KEEP_MS = 60 * 60_000;
/** Later, so that nobody whose clock is ahead deletes what others go by, and notes down a lower stamp in its place. */
const FORGET_MS = 3 * KEEP_MS;
/** How often walks are looked for that are too old, unless there are more of them than are deleted at once. */
const CLEAN_UP_EVERY_MS = 60_000;
/** So few that nobody has to wait for it. Each walk adds one at most, so that this keeps up with any number of them. */
const CLEAN_UP_BATCH = 500;
/** Others hold the lock for a moment only, to do the same. */
const LOCK_TIMEOUT_MS = 1_000;

/** What finds the pin of a walk, if it is not too old. */
export type PinKey = readonly [orgId: number, minMs: number, maxMs: number, notBeforeMs: number];

export function pinKey({ orgId, window }: Walk, clock: Clock): PinKey {
  return [orgId, window.minMs, window.maxMs, clock() - KEEP_MS];
}

/**
 * With a PinKey as four of the parameters, from this one on. Null for a walk that is too old: as a condition, the age
 * would tempt PostgreSQL to search by it.
 */
export function findPinSql(first: number): string {
  const [orgId, min, max, notBefore] = [0, 1, 2, 3].map((i) => `$${first + i}`);
  return `SELECT CASE WHEN pinned_at >= ${notBefore} THEN pinned_stamp END AS pinned_stamp FROM walks
   WHERE org_id = ${orgId} AND min_stamp = ${min} AND max_stamp = ${max}`;
}

const FIND_SQL = findPinSql(1);

/** Deletes the oldest walks before a moment. Walks that others are about to begin anew are passed over. */
export const FORGET_SQL = {
  sqlite: `DELETE FROM walks WHERE (org_id, min_stamp, max_stamp) IN (
    SELECT org_id, min_stamp, max_stamp FROM walks WHERE pinned_at < $1 ORDER BY pinned_at LIMIT ${CLEAN_UP_BATCH}
  ) RETURNING org_id`,
  postgres: `DELETE FROM walks WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM walks WHERE pinned_at < $1 ORDER BY pinned_at LIMIT ${CLEAN_UP_BATCH} FOR UPDATE SKIP LOCKED
  )) RETURNING org_id`,
};

/** The database is opened when the first walk begins: most programs serve none. */
export function walkStore(
  open: () => Promise<Database>,
  clock: Clock,
): WalkStore & { close(): Promise<void> } {
  let cleanedUpAtMs = Number.NEGATIVE_INFINITY;
  let cleaning: Promise<void> | undefined;

  async function write(database: Database, { orgId, window }: Walk, stampMs: number): Promise<number> {
    return database.write(async (connection) => {
      const [row] = await connection.all<{ pinned_stamp: number }>(
        `INSERT INTO walks (org_id, min_stamp, max_stamp, pinned_stamp, pinned_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (org_id, min_stamp, max_stamp) DO UPDATE SET
           pinned_stamp = CASE WHEN walks.pinned_stamp > excluded.pinned_stamp
                               THEN walks.pinned_stamp ELSE excluded.pinned_stamp END,
           pinned_at = CASE WHEN walks.pinned_at > excluded.pinned_at
                            THEN walks.pinned_at ELSE excluded.pinned_at END
         RETURNING pinned_stamp`,
        orgId,
        window.minMs,
        window.maxMs,
        stampMs,
        clock(),
      );
      return row?.pinned_stamp ?? stampMs;
    }, LOCK_TIMEOUT_MS);
  }

  /** Beside the walk that gave rise to it, which neither waits for it nor hears of a failure. */
  function cleanUp(database: Database): void {
    const nowMs = clock();
    if (cleaning !== undefined || Math.abs(nowMs - cleanedUpAtMs) < CLEAN_UP_EVERY_MS) return;
    cleaning = database
      .write((connection) => connection.all(FORGET_SQL[database.dialect], nowMs - FORGET_MS), LOCK_TIMEOUT_MS)
      .then(({ length }) => length < CLEAN_UP_BATCH)
      .catch(() => true)
      .then((isDone) => {
        if (isDone) cleanedUpAtMs = nowMs;
        cleaning = undefined;
      });
  }

  return {
    async pin(walk, stampMs) {
      try {
        const database = await open();
        const pinnedMs = await write(database, walk, stampMs);
        cleanUp(database);
        return pinnedMs;
      } catch (error) {
        if (error instanceof BadInput || isFileFault(error)) return undefined;
        // Whoever holds the lock may be about to note a lower stamp for the same walk.
        if (error instanceof Refused) {
          throw new DatabaseUnavailable('a walk could not be noted down in time', { cause: error });
        }
        throw error;
      }
    },
    async find(walk) {
      // Where nothing can be noted down, nothing has been.
      const database = await open().catch(() => undefined);
      if (database === undefined) return undefined;
      const [row] = await database.all<{ pinned_stamp: number | null }>(FIND_SQL, ...pinKey(walk, clock));
      return row?.pinned_stamp ?? undefined;
    },
    async close() {
      await cleaning;
    },
  };
}
