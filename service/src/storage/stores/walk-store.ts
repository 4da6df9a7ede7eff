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
/** Finding what is too old takes a look at all of them: with thousands of walks in an hour, longer than noting one down. */
const CLEAN_UP_EVERY_MS = 60_000;
/** Others hold the lock for a moment only, to do the same. */
const LOCK_TIMEOUT_MS = 1_000;

/** What finds the pin of a walk, if it is not too old. */
export type PinKey = readonly [orgId: number, minMs: number, maxMs: number, notBeforeMs: number];

export function pinKey({ orgId, window }: Walk, clock: Clock): PinKey {
  return [orgId, window.minMs, window.maxMs, clock() - KEEP_MS];
}

/** With a PinKey as four of the parameters, from this one on. */
export function findPinSql(first: number): string {
  const [orgId, min, max, notBefore] = [0, 1, 2, 3].map((i) => `$${first + i}`);
  return `SELECT pinned_stamp FROM walks
   WHERE org_id = ${orgId} AND min_stamp = ${min} AND max_stamp = ${max} AND pinned_at >= ${notBefore}`;
}

const FIND_SQL = findPinSql(1);

/** The database is opened when the first walk begins: most programs serve none. */
export function walkStore(open: () => Promise<Database>, clock: Clock): WalkStore {
  let cleanedUpAtMs = Number.NEGATIVE_INFINITY;

  async function write({ orgId, window }: Walk, stampMs: number): Promise<number> {
    const nowMs = clock();
    const database = await open();
    return database.write(async (connection) => {
      if (Math.abs(nowMs - cleanedUpAtMs) >= CLEAN_UP_EVERY_MS) {
        await connection.all('DELETE FROM walks WHERE pinned_at < $1', nowMs - FORGET_MS);
        cleanedUpAtMs = nowMs;
      }
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
        nowMs,
      );
      return row?.pinned_stamp ?? stampMs;
    }, LOCK_TIMEOUT_MS);
  }

  return {
    async pin(walk, stampMs) {
      try {
        return await write(walk, stampMs);
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
      const [row] = await database.all<{ pinned_stamp: number }>(FIND_SQL, ...pinKey(walk, clock));
      return row?.pinned_stamp;
    },
  };
}
