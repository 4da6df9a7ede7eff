// Reads and deletes rows in batches, so that neither memory use nor the time for which locks are held grows with a table.

import { FIRST_ID } from '@offerbook/wire/uuid.ts';
import type { Connection, Database, Queries, SqlValue } from './database.ts';
import { columnsOf, keyOf, parametersOf, type Table, typeOf } from './schema/table.ts';

const BATCH = 1_000;

export interface Scan {
  readonly table: Table;
  /** Limits the scan to an organisation. The order must begin with its number. */
  readonly orgId?: number;
  /** Must include the columns of the order, except the organisation's. Default: all columns. */
  readonly columns?: string;
  readonly join?: string;
  /** The first columns of an index, which identify a row. Default: the primary key. */
  readonly order?: readonly string[];
  /** True if the index sorts its last column with NULLS FIRST. */
  readonly nullsFirst?: true;
  /** A condition. The numbers of its parameters follow those of the order. */
  readonly where?: string;
  readonly params?: readonly SqlValue[];
  readonly batchSize?: number;
}

/**
 * Compares row values instead of columns, so that an index seek finds the start. The limit is not a parameter, because a planner
 * that does not know it might sort everything.
 */
export function scanSql({ table, orgId, order = keyOf(table), batchSize = BATCH, ...scan }: Scan): string {
  const { columns = columnsOf(table).join(', '), join = '', where = 'true' } = scan;
  const names = order.map((name) => `${table.name}.${name}`).join(', ');
  return `SELECT ${columns} FROM ${table.name} ${join}
   WHERE (${names}) >= (${parametersOf(table, order)}) ${orgId === undefined ? '' : 'AND org_id <= $1'} AND ${where}
   ORDER BY ${names} ${scan.nullsFirst ? 'NULLS FIRST' : ''} LIMIT ${batchSize + 1}`;
}

/** Reads rows in order. The callback may change the rows of its batch in the database. */
export async function scan<Row>(
  queries: Queries,
  query: Scan,
  onBatch: (batch: Row[]) => Promise<unknown>,
): Promise<void> {
  const { table, orgId, order = keyOf(table), params = [], batchSize = BATCH } = query;
  const sql = scanSql(query);
  let start = order.map((name, i) => (i === 0 && orgId !== undefined ? orgId : leastOf(table, name)));
  while (true) {
    const rows = await queries.all<Row & Record<string, SqlValue>>(sql, ...start, ...params);
    // The last row is the first of the next batch.
    const next = rows[batchSize];
    if (rows.length > 0) await onBatch(rows.slice(0, batchSize));
    if (next === undefined) return;
    start = order.map((name, i) => (i === 0 && orgId !== undefined ? orgId : (next[name] ?? null)));
  }
}

function leastOf(table: Table, name: string): SqlValue {
  const type = typeOf(table, name);
  if (type === 'uuid') return FIRST_ID;
  if (type === 'bigint') return Number.MIN_SAFE_INTEGER;
  return type === 'integer' ? -(2 ** 31) : '';
}

/**
 * Runs `work`, which deletes up to `size` rows and returns their number, in transactions of its own until nothing is left.
 * Returns the number of all rows.
 */
export async function deleteInBatches(
  database: Database,
  size: number,
  work: (connection: Connection, before: number) => Promise<number>,
  onBatch: (total: number) => void = () => {},
): Promise<number> {
  let total = 0;
  let count: number;
  do {
    count = await database.write((connection) => work(connection, total));
    total += count;
    onBatch(total);
  } while (count === size);
  return total;
}
