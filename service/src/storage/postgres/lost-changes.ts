// Finds the changes that a failover has lost, on the old primary or a restored copy of its files. The new primary recorded its
// change clocks when it took over, so the lost transactions are those with a later stamp on the old primary.

import { StorageError } from '../../domain/storage-error.ts';
import { type Database, noDatabase } from '../database.ts';
import { scan } from '../scan.ts';
import { findUsableSchema } from '../schema/migrate.ts';
import { TRANSACTIONS } from '../schema/tables.ts';
import { IDENTITY_SQL } from './server-search.ts';

export interface LostChanges {
  readonly orgId: number;
  readonly org: string;
  readonly transactions: number;
  /** Transactions of the old primary with a later stamp were lost. */
  readonly afterMs: number;
}

export async function findLostChanges(current: Database, old: Database): Promise<LostChanges[]> {
  for (const database of [current, old])
    if ((await findUsableSchema(database)) === undefined) throw noDatabase(await database.describePlace());
  const clocks = await readClocks(current, old);
  const found: LostChanges[] = [];
  const organisations = await old.all<{ id: number; name: string }>(
    'SELECT id, name FROM organisations ORDER BY name',
  );
  for (const { id, name } of organisations) {
    // An organisation without a clock was created on the old primary, and lost.
    const afterMs = clocks.get(id) ?? Number.MIN_SAFE_INTEGER;
    const [row] = await old.all<{ count: number }>(
      'SELECT count(*) AS count FROM transactions WHERE org_id = $1 AND updated_at > $2',
      id,
      afterMs,
    );
    if ((row?.count ?? 0) > 0) found.push({ orgId: id, org: name, transactions: row?.count ?? 0, afterMs });
  }
  return found;
}

/** Reads the documents of lost transactions in batches. */
export function readLostTransactions(
  old: Database,
  { orgId, afterMs }: LostChanges,
  onBatch: (documents: string[]) => Promise<void>,
): Promise<void> {
  type Row = { id: string; updated_at: number; document: string };
  return scan<Row>(old, { table: TRANSACTIONS, orgId }, (batch) =>
    onBatch(batch.filter((row) => row.updated_at > afterMs).map(({ document }) => document)),
  );
}

/** Returns the clocks of the first failover after the old primary's timeline, by organisation number. */
async function readClocks(current: Database, old: Database): Promise<Map<number, number>> {
  const [identity] = await old.all<{ system: string; timeline: number | null }>(IDENTITY_SQL);
  if (identity?.timeline == null)
    throw new StorageError('settings', 'the old server is a standby; start it alone, as a primary');
  const [failover] = await current.all<{ id: number }>(
    `SELECT id FROM timelines WHERE system = $1 AND timeline > $2 AND id > (SELECT min(id) FROM timelines)
      ORDER BY timeline LIMIT 1`,
    identity.system,
    identity.timeline,
  );
  if (failover === undefined)
    throw new StorageError(
      'settings',
      'no failover from the old server is recorded in the database; check both URLs',
    );
  const rows = await current.all<{ id: number; stamp: number }>(
    'SELECT org_id AS id, last_stamp AS stamp FROM timeline_clocks WHERE timeline_id = $1',
    failover.id,
  );
  return new Map(rows.map(({ id, stamp }) => [id, stamp]));
}
