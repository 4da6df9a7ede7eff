// Inserts a row as another database has it, or nearly so.

import type { Connection, SqlValue } from './database.ts';

/** Into the columns that the row has. Returns its id, which this database may have given itself. */
export async function insertRow(
  connection: Connection,
  table: 'organisations' | 'tokens' | 'imports' | 'audit',
  row: Readonly<Record<string, SqlValue>>,
  how: '' | 'OVERRIDING SYSTEM VALUE' = '',
): Promise<SqlValue> {
  const columns = Object.keys(row);
  const places = columns.map((_, i) => `$${i + 1}`);
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) ${how} VALUES (${places.join(', ')}) RETURNING id`;
  const [created] = await connection.all<{ id: SqlValue }>(sql, ...Object.values(row));
  return created?.id ?? null;
}
