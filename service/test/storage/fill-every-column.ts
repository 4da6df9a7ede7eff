// Adds a row with a value in every column to each table, so that a comparison notices every column that is not copied, and
// every table that is not deleted.

import { newUuid } from '@offerbook/wire/uuid.ts';
import type { Database } from '../../src/storage/database.ts';
import { columnsOf, ownerOf, type RowOf, type Table, typeOf } from '../../src/storage/schema/table.ts';
import { MAIN_TABLES } from '../../src/storage/schema/tables.ts';

/** The rows of these tables have numbers, or every command writes them. */
const NOT_FILLED = ['organisations', 'imports', 'audit', 'revisions', 'secrets'];

export async function fillEveryColumn(database: Database, orgId: number): Promise<void> {
  for (const table of MAIN_TABLES.filter(
    ({ name, copied }) => copied !== 'not' && !NOT_FILLED.includes(name),
  )) {
    const row = Object.fromEntries(
      columnsOf(table).map((column, i) => {
        const type = typeOf(table, column);
        const [allowed] = table.values?.[column] ?? [];
        if (column === ownerOf(table)) return [column, orgId];
        if (type === 'uuid') return [column, newUuid()];
        return [column, type === 'text' ? (allowed ?? `${table.name}.${column} ${orgId}`) : 1_000 + i];
      }),
    );
    await database.write((connection) => connection.putMany(table, [row as RowOf<Table>]));
  }
}
