// Notes at which stamp each walk has begun, for all nodes, through the database. Losing a note loses a snapshot and no
// change: a page without one says in its Complete-Through what it is complete up to.

import type { Clock } from '../../domain/clock.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { WalkStore } from '../../domain/stores.ts';
import type { Connection, Database } from '../database.ts';
import { isFileFault } from '../sqlite/sqlite-errors.ts';

const KEEP_MS = 60 * 60_000;
/** Later, so that no node whose clock is ahead deletes what others go by. */
const FORGET_MS = 3 * KEEP_MS;
/** How often a node forgets old walks, and how many of them at once: a walk must never wait for a long clean-up. */
const CLEAN_UP_EVERY_MS = 60_000;
const CLEAN_UP_MAX = 1_000;
/** Others hold the lock for a moment only, to do the same. */
const LOCK_TIMEOUT_MS = 1_000;

/** The disk is full, or we may only read. */
const CANNOT_WRITE = ['denied', 'full', 'invalid', 'missing'] as const;

const FIND_SQL = `SELECT stamp FROM walks
   WHERE token_id = $1 AND min_stamp = $2 AND max_stamp = $3 AND begun_at >= $4`;

const BEGIN_SQL = `INSERT INTO walks (token_id, min_stamp, max_stamp, stamp, begun_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (token_id, min_stamp, max_stamp) DO UPDATE SET stamp = excluded.stamp, begun_at = excluded.begun_at`;

const CLEAN_UP_SQL = {
  sqlite: `DELETE FROM walks WHERE (token_id, min_stamp, max_stamp) IN (
    SELECT token_id, min_stamp, max_stamp FROM walks WHERE begun_at < $1 ORDER BY begun_at LIMIT ${CLEAN_UP_MAX}
  ) RETURNING token_id`,
  postgres: `DELETE FROM walks WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM walks WHERE begun_at < $1 ORDER BY begun_at LIMIT ${CLEAN_UP_MAX} FOR UPDATE SKIP LOCKED
  )) RETURNING token_id`,
};

/** The database is opened when the first walk begins: most programs serve none. */
export function walkStore(open: () => Promise<Database>, clock: Clock): WalkStore {
  let cleanedUpAtMs = Number.NEGATIVE_INFINITY;

  /** In a transaction of its own: the walk that caused it does not fail with it. */
  async function cleanUp(database: Database, nowMs: number): Promise<void> {
    if (Math.abs(nowMs - cleanedUpAtMs) < CLEAN_UP_EVERY_MS) return;
    const forget = (connection: Connection) =>
      connection.all(CLEAN_UP_SQL[database.dialect], nowMs - FORGET_MS);
    const { length } = await database.write(forget, LOCK_TIMEOUT_MS).catch(() => []);
    // While there is more, the next walk to begin goes on with it.
    if (length < CLEAN_UP_MAX) cleanedUpAtMs = nowMs;
  }

  return {
    async begin({ tokenId, window }, stampMs) {
      const nowMs = clock();
      try {
        const database = await open();
        await database.write(
          (connection) => connection.all(BEGIN_SQL, tokenId, window.minMs, window.maxMs, stampMs, nowMs),
          LOCK_TIMEOUT_MS,
        );
        await cleanUp(database, nowMs);
      } catch (error) {
        // A note of an earlier walk would hold this one to an older state, so a lock that does not come free is no reason to go on.
        if (isStorageError(error, ...CANNOT_WRITE) || isFileFault(error)) return;
        throw error;
      }
    },
    async find({ tokenId, window }) {
      // Where nothing can be written, nothing has been.
      const database = await open().catch(() => undefined);
      if (database === undefined) return undefined;
      const sinceMs = clock() - KEEP_MS;
      try {
        const params = [tokenId, window.minMs, window.maxMs, sinceMs];
        const [row] = await database.all<{ stamp: number }>(FIND_SQL, ...params);
        return row?.stamp;
      } catch (error) {
        if (isFileFault(error)) return undefined;
        throw error;
      }
    },
  };
}
