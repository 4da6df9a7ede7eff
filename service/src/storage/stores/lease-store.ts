// The lease of the node that sends webhooks. It is stored with the walks, because on SQLite an import locks the main file for
// longer than the lease lasts. A lost lease does no harm: a node takes it again, and watermarks have their own protection.

import type { LeaseStore, SenderLease } from '../../domain/webhook.ts';
import type { Database, SqlValue } from '../database.ts';

const LOCK_TIMEOUT_MS = 1_000;

export function leaseStore(open: () => Promise<Database>): LeaseStore {
  async function changed(sql: string, ...params: SqlValue[]): Promise<boolean> {
    const database = await open();
    const rows = await database.write((connection) => connection.all(sql, ...params), LOCK_TIMEOUT_MS);
    return rows.length > 0;
  }

  return {
    async find() {
      const [row] = await (await open()).all<SenderLease>('SELECT holder, beat FROM sender_lease');
      return row;
    },
    take: (holder, old) =>
      old === undefined
        ? changed(
            'INSERT INTO sender_lease (name, holder, beat) VALUES ($1, $2, 0) ON CONFLICT (name) DO NOTHING RETURNING beat',
            'webhooks',
            holder,
          )
        : changed(
            'UPDATE sender_lease SET holder = $1, beat = beat + 1 WHERE holder = $2 AND beat = $3 RETURNING beat',
            holder,
            old.holder,
            old.beat,
          ),
    renew: (holder) =>
      changed('UPDATE sender_lease SET beat = beat + 1 WHERE holder = $1 RETURNING beat', holder),
    async release(holder) {
      await changed('DELETE FROM sender_lease WHERE holder = $1 RETURNING beat', holder);
    },
  };
}
