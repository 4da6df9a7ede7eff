// Reads documents in the order of their ids, batch by batch, so that no list has to fit into memory.

import type { StoredDocument } from '../domain/stores.ts';
import type { Connection, SqlValue } from './database.ts';
import { FIRST_ID } from './first-id.ts';

export interface BatchQuery {
  /** SELECT id, document … WHERE id >= $1 … ORDER BY id LIMIT $2; further parameters follow. */
  readonly sql: string;
  readonly params: readonly SqlValue[];
  readonly batchSize: number;
}

export async function readBatches(
  connection: Connection,
  { sql, params, batchSize }: BatchQuery,
  onBatch: (batch: StoredDocument[]) => Promise<void>,
): Promise<void> {
  let from = FIRST_ID;
  while (true) {
    // One more than a batch holds: it is where the next batch starts.
    const rows = await connection.all<StoredDocument>(sql, from, batchSize + 1, ...params);
    const next = rows[batchSize];
    if (rows.length > 0) await onBatch(rows.slice(0, batchSize));
    if (next === undefined) return;
    from = next.id;
  }
}
