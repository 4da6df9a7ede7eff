// Compares the tables that a database has with the declared ones: columns, constraints and indexes.

import type { Queries, Sql } from '../sql.ts';
import type { Table } from './table.ts';

/** A column, a constraint, an option or an index of a table. */
export interface Part {
  readonly table: string;
  readonly definition: string;
}

/** How a kind of database describes its tables. */
export interface Structure {
  read(queries: Queries): Promise<Part[]>;
  expected(table: Table, sql: Sql): Part[];
}

/** One sentence per difference. Indexes and tables that are not declared are no difference: an operator may add them. */
export function differences(expected: readonly Part[], found: readonly Part[]): string[] {
  const [declaredKeys, foundKeys] = [expected, found].map((parts) => new Set(parts.map(keyOf)));
  const [declared, tables] = [expected, found].map((parts) => new Set(parts.map(({ table }) => table)));
  return [
    ...[...(declared ?? [])]
      .filter((table) => !tables?.has(table))
      .map((table) => `the table ${table} is missing`),
    ...expected
      .filter((part) => tables?.has(part.table) && !foundKeys?.has(keyOf(part)))
      .map(({ table, definition }) => `${table} lacks ${definition}`),
    ...found
      .filter((part) => declared?.has(part.table) && !isIndex(part) && !declaredKeys?.has(keyOf(part)))
      .map(({ table, definition }) => `${table} has ${definition}`),
  ];
}

export function isIndex({ definition }: Part): boolean {
  return definition.startsWith('INDEX ');
}

/** Databases add parentheses and quotes to the definitions that they return. */
function keyOf({ table, definition }: Part): string {
  return `${table} ${definition}`.replace(/[\s()"]/g, '').toLowerCase();
}
