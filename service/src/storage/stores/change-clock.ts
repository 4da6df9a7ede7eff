// The change clocks, one per organisation. A write to transactions locks the clock before it takes a stamp and holds the lock
// until it commits, so stamps increase in commit order. An organisation that is being deleted has no clock. After a failover of
// PostgreSQL, no stamp is taken until the clocks have been moved (postgres/failovers.ts).

import { StorageError } from '../../domain/storage-error.ts';
import type { Connection } from '../database.ts';
import type { Statement } from '../sql.ts';

// Avoids FOR UPDATE: tokens refer to this row, so issuing a token would have to wait for a running import.
const LOCK_ALL_SQL: Statement = ({ forNoKeyUpdate }) =>
  `SELECT id, last_stamp FROM organisations WHERE deleting_since IS NULL ORDER BY id ${forNoKeyUpdate}`;
const LOCK_SQL: Statement = ({ forNoKeyUpdate }) =>
  `SELECT last_stamp FROM organisations WHERE id = $1 AND deleting_since IS NULL ${forNoKeyUpdate}`;

/** Returns the last stamp without a lock; 0 if there is no such organisation. */
export async function readClock(connection: Connection, orgId: number): Promise<number> {
  const sql = 'SELECT last_stamp FROM organisations WHERE id = $1';
  const [row] = await connection.all<{ last_stamp: number }>(sql, orgId);
  return row?.last_stamp ?? 0;
}

/** Locks all clocks in order of organisation number. Returns their last stamps by organisation number. */
export async function lockClocks(connection: Connection): Promise<ReadonlyMap<number, number>> {
  const rows = await connection.all<{ id: number; last_stamp: number }>(LOCK_ALL_SQL);
  await connection.requireRecordedTimeline();
  return new Map(rows.map(({ id, last_stamp }) => [id, last_stamp]));
}

/** Returns the last stamp. */
export async function lockClock(connection: Connection, orgId: number): Promise<number> {
  const [row] = await connection.all<{ last_stamp: number }>(LOCK_SQL, orgId);
  if (row === undefined) throw new StorageError('gone', 'the organisation has been deleted');
  await connection.requireRecordedTimeline();
  return row.last_stamp;
}

/** Never moves a clock back. */
export async function advanceClock(connection: Connection, orgId: number, toMs: number): Promise<void> {
  await connection.all(
    'UPDATE organisations SET last_stamp = $2 WHERE id = $1 AND last_stamp < $2',
    orgId,
    toMs,
  );
}
