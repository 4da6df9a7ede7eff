// The change clocks of the organisations. Whoever writes transactions holds the lock of the clock from the stamp to the
// commit, so that stamps rise in the order of the commits. An organisation that is being deleted has no clock any more.

import { StorageError } from '../../domain/storage-error.ts';
import type { Connection, Database } from '../database.ts';

/** By organisation: the last stamp. Locks all clocks in one order. */
export async function lockClocks(
  database: Database,
  connection: Connection,
): Promise<ReadonlyMap<number, number>> {
  const rows = await connection.all<{ id: number; last_stamp: number }>(
    `SELECT id, last_stamp FROM organisations WHERE deleting_since IS NULL ORDER BY id ${lockFor(database)}`,
  );
  return new Map(rows.map(({ id, last_stamp }) => [id, last_stamp]));
}

export async function lockClock(database: Database, connection: Connection, orgId: number): Promise<number> {
  const [row] = await connection.all<{ last_stamp: number }>(
    `SELECT last_stamp FROM organisations WHERE id = $1 AND deleting_since IS NULL ${lockFor(database)}`,
    orgId,
  );
  if (row === undefined) throw new StorageError('gone', 'the organisation is not there any more');
  return row.last_stamp;
}

/** Never back. */
export async function advanceClock(connection: Connection, orgId: number, toMs: number): Promise<void> {
  await connection.all(
    'UPDATE organisations SET last_stamp = $2 WHERE id = $1 AND last_stamp < $2',
    orgId,
    toMs,
  );
}

/** Not FOR UPDATE: tokens that are issued meanwhile refer to this row, and would have to wait for the import. */
function lockFor({ dialect }: Database): string {
  return dialect === 'postgres' ? 'FOR NO KEY UPDATE' : '';
}
