// Copies the books: imports, the history of transactions, and the audit. The other database numbers its imports itself, so
// what refers to one is given its new number.

import type { Uuid } from '../domain/uuid.ts';
import { type Connection, columnsOf, HISTORY, type SqlValue, type TableRow } from './database.ts';
import { insertRow } from './insert-row.ts';
import { COUNTERS_SQL } from './stores/import-book.ts';
import { raiseCounter } from './stores/revision.ts';
import { FIRST_ID } from './transactions/id-bounds.ts';

/** The number of an import in the other database; null where it has none. */
export type NewNumber = (importId: number | null) => number | null;

const HISTORY_BATCH = 1_000;

type Row = Readonly<Record<string, SqlValue>>;

export async function copyImports(from: Connection, to: Connection): Promise<NewNumber> {
  const numbers = new Map<number, number>();
  const sql = 'SELECT id, kind, org_id, began_at, ended_at, outcome, document FROM imports ORDER BY id';
  for (const { id, ...row } of await from.all<Row & { id: number }>(sql))
    numbers.set(id, (await insertRow(to, 'imports', row)) as number);
  for (const { name, value } of await from.all<{ name: string; value: number }>(COUNTERS_SQL))
    await raiseCounter(to, name, value);
  return (importId) => (importId === null ? null : (numbers.get(importId) ?? null));
}

type Version = TableRow<keyof typeof HISTORY.columns> & {
  readonly id: Uuid;
  readonly until_stamp: number;
  readonly import_id: number | null;
};

/** Compares rows, instead of each column for itself, so that the index leads to where the batch before ended. */
export const HISTORY_BATCH_SQL = `
  SELECT ${columnsOf(HISTORY).join(', ')} FROM history
   WHERE (org_id, until_stamp, id) > ($1, $2, $3) AND org_id <= $1
   ORDER BY org_id, until_stamp, id NULLS FIRST LIMIT ${HISTORY_BATCH}`;

/** All versions that were replaced, in the order in which they were. */
export async function copyHistory(
  from: Connection,
  to: Connection,
  orgId: number,
  newNumber: NewNumber,
  onRows: (rows: number) => void,
): Promise<void> {
  let last: Pick<Version, 'until_stamp' | 'id'> = { until_stamp: Number.MIN_SAFE_INTEGER, id: FIRST_ID };
  while (true) {
    const rows = await from.all<Version>(HISTORY_BATCH_SQL, orgId, last.until_stamp, last.id);
    await to.putMany(
      HISTORY,
      rows.map((row) => ({ ...row, import_id: newNumber(row.import_id) })),
    );
    onRows(rows.length);
    const end = rows.at(-1);
    if (end === undefined || rows.length < HISTORY_BATCH) return;
    last = end;
  }
}

export async function copyAudit(from: Connection, to: Connection): Promise<void> {
  for (const row of await from.all<Row>('SELECT at, made_by, action, org, details FROM audit ORDER BY id'))
    await insertRow(to, 'audit', row);
}
