// Reads rows batch by batch, so that no list has to fit into memory. What a batch is used for may change its rows.

import { FIRST_ID, type Uuid } from '@offerbook/wire/uuid.ts';
import type { StoredDocument } from '../../domain/stores.ts';
import type { Connection, SqlValue } from '../database.ts';

const VERSIONS_BATCH = 1_000;

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

/** In the order of the ids. */
export async function readBatches<Row extends { readonly id: string } = StoredDocument>(
  connection: Pick<Connection, 'all'>,
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
 * Reads versions of an organisation's transactions: the first parameter. Compares rows, instead of each column for itself,
 * so that the index leads to where the batch before ended.
 */
export function versionsSql(columns: string, condition = 'true'): string {
  return `SELECT ${columns} FROM history
   WHERE (org_id, until_stamp, id) > ($1, $2, $3) AND org_id <= $1 AND ${condition}
   ORDER BY org_id, until_stamp, id NULLS FIRST LIMIT ${VERSIONS_BATCH}`;
}

/** In the order in which they were replaced. */
export async function readVersions<Row extends { readonly id: Uuid; readonly until_stamp: number }>(
  connection: Pick<Connection, 'all'>,
  sql: string,
  [orgId, ...params]: readonly [number, ...SqlValue[]],
  onBatch: (batch: Row[]) => Promise<void>,
): Promise<void> {
  let last: Pick<Row, 'until_stamp' | 'id'> = { until_stamp: Number.MIN_SAFE_INTEGER, id: FIRST_ID };
  while (true) {
    const rows = await connection.all<Row>(sql, orgId, last.until_stamp, last.id, ...params);
    const end = rows.at(-1);
    if (end === undefined) return;
    await onBatch(rows);
    last = end;
  }
}
