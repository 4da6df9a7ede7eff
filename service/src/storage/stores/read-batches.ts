// Reads rows in the order of their ids, batch by batch, so that no list has to fit into memory.

import type { StoredDocument } from '../../domain/stores.ts';
import type { Uuid } from '../../domain/uuid.ts';
import type { Connection, SqlValue } from '../database.ts';
import { FIRST_ID } from '../transactions/id-bounds.ts';

export interface BatchQuery {
  /** SELECT id, … WHERE id >= $1 … ORDER BY id, without a LIMIT; further parameters follow. */
  readonly sql: string;
  readonly params: readonly SqlValue[];
  readonly batchSize: number;
}

/** The limit is part of the text: a planner that does not know it would rather sort everything. */
export function batchSql({ sql, batchSize }: BatchQuery): string {
  // One more than a batch holds: it is where the next batch starts.
  return `${sql} LIMIT ${batchSize + 1}`;
}

export async function readBatches<Row extends { readonly id: Uuid } = StoredDocument>(
  connection: Connection,
  query: BatchQuery,
  onBatch: (batch: Row[]) => Promise<void>,
): Promise<void> {
  let from = FIRST_ID;
  while (true) {
    const rows = await connection.all<Row>(batchSql(query), from, ...query.params);
    const next = rows[query.batchSize];
    if (rows.length > 0) await onBatch(rows.slice(0, query.batchSize));
    if (next === undefined) return;
    from = next.id;
  }
}
