// Which changes the later pages of a walk may show. The stamp is shared by all nodes through the database and
// only ever rises, so it is never below the Complete-Through of any first page that has been sent: a walk that
// broke off cannot hide anything from the next one, wherever that begins and goes on.

import type { Clock } from '../domain/clock.ts';
import type { Walk, WalkStore } from '../domain/stores.ts';
import type { Uuid } from '../domain/uuid.ts';
import type { Database } from './database.ts';

const KEEP_MS = 60 * 60_000;
/** Others hold the lock for a moment only, to do the same; beyond that, better no pin than a late page. */
const LOCK_TIMEOUT_MS = 250;

/** What finds the pin of a walk, if it is not too old. */
export type PinKey = readonly [tokenId: Uuid, minMs: number, maxMs: number, notBeforeMs: number];

export function pinKey({ tokenId, window }: Walk, clock: Clock): PinKey {
  return [tokenId, window.minMs, window.maxMs, clock() - KEEP_MS];
}

/** With a PinKey as four of the parameters, from this one on. */
export function findPinSql(first: number): string {
  const [tokenId, min, max, notBefore] = [0, 1, 2, 3].map((i) => `$${first + i}`);
  return `SELECT pinned_stamp FROM walks
   WHERE token_id = ${tokenId} AND min_stamp = ${min} AND max_stamp = ${max} AND pinned_at >= ${notBefore}`;
}

const FIND_SQL = findPinSql(1);

/** The database is opened when the first walk begins: most programs serve none. */
export function walkStore(open: () => Promise<Database>, clock: Clock): WalkStore {
  return {
    async pin({ tokenId, window }, stampMs) {
      const nowMs = clock();
      const database = await open();
      return database.write(async (connection) => {
        await connection.all('DELETE FROM walks WHERE pinned_at < $1', nowMs - KEEP_MS);
        const [row] = await connection.all<{ pinned_stamp: number }>(
          `INSERT INTO walks (token_id, min_stamp, max_stamp, pinned_stamp, pinned_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (token_id, min_stamp, max_stamp) DO UPDATE SET
             pinned_stamp = CASE WHEN walks.pinned_stamp > excluded.pinned_stamp
                                 THEN walks.pinned_stamp ELSE excluded.pinned_stamp END,
             pinned_at = excluded.pinned_at
           RETURNING pinned_stamp`,
          tokenId,
          window.minMs,
          window.maxMs,
          stampMs,
          nowMs,
        );
        return row?.pinned_stamp ?? stampMs;
      }, LOCK_TIMEOUT_MS);
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
