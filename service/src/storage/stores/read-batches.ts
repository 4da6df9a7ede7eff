// Reads rows in batches, so that a list need not fit into memory. The callback is allowed to change the rows of its batch.

import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import type { StoredDocument } from '../../domain/stored-document.ts';
import type { Queries, SqlValue } from '../database.ts';
import type { Statement } from '../sql.ts';

const VERSIONS_BATCH = 1_000;

export interface BatchQuery {
  /** SELECT id, … WHERE id >= $1 … ORDER BY id, without a LIMIT ($1::uuid for UUIDs); further parameters follow. */
  readonly sql: string;
  readonly params: readonly SqlValue[];
  readonly batchSize: number;
}

/** The limit is not a parameter, because a planner that does not know it might sort everything. */
export function batchSql({ sql, batchSize }: BatchQuery): string {
  // The last row is the first of the next batch.
  return `${sql} LIMIT ${batchSize + 1}`;
}

/** Reads in order of id. */
export async function readBatches<Row extends { readonly id: string } = StoredDocument>(
  connection: Queries,
  query: BatchQuery,
  onBatch: (batch: Row[]) => Promise<void>,
): Promise<void> {
  let from: string = FIRST_ID;
  while (true) {
    const rows = await connection.all<Row>(batchSql(query), from, ...query.params);
    const next = rows[query.batchSize];
    if (rows.length > 0) await onBatch(rows.slice(0, query.batchSize));
    if (next === undefined) return;
    from = next.id;
  }
}

/**
 * Selects versions of organisation $1's transactions, starting after the version ($2, $3). Compares row values instead of single
 * columns, so that an index seek finds the start.
 */
export function versionsSql(columns: string): string {
  return `SELECT ${columns} FROM history
   WHERE (org_id, until_stamp, id) > ($1, $2, $3::uuid) AND org_id <= $1
   ORDER BY org_id, until_stamp, id NULLS FIRST LIMIT ${VERSIONS_BATCH}`;
}

/** Reads versions in the order in which they were replaced. */
export async function readVersions<Row extends { readonly id: Uuid; readonly until_stamp: number }>(
  connection: Queries,
  statement: Statement,
  orgId: number,
  onBatch: (batch: Row[]) => Promise<void>,
): Promise<void> {
  let last: { readonly until_stamp: number; readonly id: Uuid } = {
    until_stamp: Number.MIN_SAFE_INTEGER,
    id: FIRST_ID,
  };
  while (true) {
    const rows = await connection.all<Row>(statement, orgId, last.until_stamp, last.id);
    const end = rows.at(-1);
    if (end === undefined) return;
    await onBatch(rows);
    last = end;
  }
}
