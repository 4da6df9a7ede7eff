// Stores the stamp at which each walk began, for all nodes. If a walk is lost, its client loses the snapshot but no changes,
// because Complete-Through states what each page covers.

import type { Clock } from '../../domain/clock.ts';
import { isStorageError } from '../../domain/storage-error.ts';
import type { Walk, WalkStore } from '../../domain/transaction.ts';
import type { Database } from '../database.ts';
import type { Statement } from '../sql.ts';
import { isFileFault } from '../sqlite/sqlite-errors.ts';
import { userKey } from '../transactions/user-ids.ts';

const KEEP_MS = 60 * 60_000;
/** Longer than necessary, so that a node with a fast clock does not delete walks that other nodes need. */
const EXPIRE_MS = 3 * KEEP_MS;
/** The start of a walk deletes at most this many old ones, so that it does not wait long. */
const EXPIRE_MAX = 1_000;
/** Other writers hold the lock only briefly. */
const LOCK_TIMEOUT_MS = 1_000;

/** Errors thrown by a full or read-only database. */
const CANNOT_WRITE = ['denied', 'full', 'invalid', 'missing'] as const;

/** The user key of a walk through the transactions of all users; userKey() never returns 0. */
const ALL_USERS = 0;

const KEY = 'token_id, min_stamp, max_stamp, user_key';

const FIND_SQL = `SELECT stamp FROM walks WHERE (${KEY}) = ($1::uuid, $2, $3, $4) AND begun_at >= $5`;

const BEGIN_SQL = `INSERT INTO walks (${KEY}, stamp, begun_at) VALUES ($1::uuid, $2, $3, $4, $5, $6)
  ON CONFLICT (${KEY}) DO UPDATE SET stamp = excluded.stamp, begun_at = excluded.begun_at`;

const EXPIRE_SQL: Statement = (sql) =>
  sql.deleteRows(
    'walks',
    KEY,
    `WHERE begun_at < $1 ORDER BY begun_at LIMIT ${EXPIRE_MAX} ${sql.forUpdateSkipLocked}`,
  );

/** Opens the database when the first walk begins, because most processes never serve a walk. Opening creates it. */
export function walkStore(
  { open, exists }: { readonly open: () => Promise<Database>; readonly exists: () => boolean },
  clock: Clock,
): WalkStore {
  return {
    async begin(walk, stampMs) {
      const nowMs = clock();
      try {
        const database = await open();
        await database.write(
          (connection) =>
            // Sent together: one round trip to PostgreSQL.
            Promise.all([
              connection.all(BEGIN_SQL, ...keyOf(walk), stampMs, nowMs),
              connection.all(EXPIRE_SQL, nowMs - EXPIRE_MS),
            ]),
          LOCK_TIMEOUT_MS,
        );
      } catch (error) {
        // Rethrows lock timeouts, because otherwise this walk would use the stamp of an earlier walk.
        if (isStorageError(error, ...CANNOT_WRITE) || isFileFault(error)) return;
        throw error;
      }
    },
    async find(walk) {
      const database = await open().catch(() => undefined);
      if (database === undefined) return undefined;
      const sinceMs = clock() - KEEP_MS;
      try {
        const [row] = await database.all<{ stamp: number }>(FIND_SQL, ...keyOf(walk), sinceMs);
        return row?.stamp;
      } catch (error) {
        if (isFileFault(error)) return undefined;
        throw error;
      }
    },
    async forgetUser(passbackUid) {
      if (!exists()) return;
      const database = await open();
      const sql = 'DELETE FROM walks WHERE user_key = $1';
      await database.write((connection) => connection.all(sql, userKey(passbackUid)));
      await database.emptyLog();
    },
  };
}

function keyOf({ tokenId, window, passbackUid }: Walk) {
  const user = passbackUid === undefined ? ALL_USERS : userKey(passbackUid);
  return [tokenId, window.minMs, window.maxMs, user] as const;
}
