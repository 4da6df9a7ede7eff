// Leases. On SQLite, the lease to send webhooks is stored with the walks, because an import locks the main file for longer than
// the lease lasts. The leases of pulls are in the main file, where imports check them. A lost lease does no harm: a process takes
// it again.

import type { LeaseState, LeaseStore } from '../../domain/lease.ts';
import type { Connection, Database, SqlValue } from '../database.ts';

/** $3 and $4: the holder and the beat of the lease to replace; null if there was no lease. */
const ACQUIRE_SQL = `INSERT INTO leases (name, holder, beat) VALUES ($1, $2, 0)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, beat = leases.beat + 1
    WHERE leases.holder = $3 AND leases.beat = $4
  RETURNING beat`;
const RENEW_SQL = 'UPDATE leases SET beat = beat + 1 WHERE name = $1 AND holder = $2 RETURNING beat';

export function leaseStore(open: () => Promise<Database>, lockTimeoutMs?: number): LeaseStore {
  async function changed(sql: string, ...params: SqlValue[]): Promise<boolean> {
    const database = await open();
    const rows = await database.write((connection) => connection.all(sql, ...params), lockTimeoutMs);
    return rows.length > 0;
  }

  return {
    async find(name) {
      const database = await open();
      const [row] = await database.all<LeaseState>('SELECT holder, beat FROM leases WHERE name = $1', name);
      return row;
    },
    acquire: (name, holder, old) =>
      changed(ACQUIRE_SQL, name, holder, old?.holder ?? null, old?.beat ?? null),
    renew: (name, holder) => changed(RENEW_SQL, name, holder),
    async release(name, holder) {
      await changed('DELETE FROM leases WHERE name = $1 AND holder = $2 RETURNING beat', name, holder);
    },
  };
}

/** Renews a lease in a transaction, which keeps other processes from taking it until the commit. Returns false if it was lost. */
export async function fenceLease(connection: Connection, name: string, holder: string): Promise<boolean> {
  return (await connection.all(RENEW_SQL, name, holder)).length > 0;
}
