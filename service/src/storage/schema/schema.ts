// A schema: the declared tables of a database or file, how it describes the tables that it has, and the steps that change an older
// version. Released versions are never edited and their numbers are never used again.

import type { Dialect, Queries } from '../sql.ts';
import type { Table } from './table.ts';

/** Versions 1 to 7 are older than 0.2.0; see old-releases.ts. */
export const FIRST_VERSION = 8;

/** A column, a constraint, an option or an index of a table. */
export interface Part {
  readonly table: string;
  readonly definition: string;
}

/** How a kind of database describes its tables. */
export interface Structure {
  read(queries: Queries): Promise<Part[]>;
  expected(table: Table, sql: Dialect): Part[];
}

export interface Schema {
  readonly tables: readonly Table[];
  readonly sql: Dialect;
  readonly structure: Structure;
  /** Statements that upgrade version 8 to 9, 9 to 10, and so on. Never edit a step that has been released; add one. */
  readonly steps: readonly (readonly string[])[];
  /**
   * Schema version of the oldest program that can use this schema. A step that older programs can ignore, such as a new table,
   * leaves this number unchanged, so that old and new programs can run side by side. Any other step must raise this number to
   * that step's version.
   */
  readonly oldestVersion: number;
}

export function newSchema(tables: readonly Table[], sql: Dialect, structure: Structure): Schema {
  return { tables, sql, structure, steps: [], oldestVersion: FIRST_VERSION };
}

export function versionOf({ steps }: Schema): number {
  return FIRST_VERSION + steps.length;
}

export async function setVersion(connection: Queries, schema: Schema): Promise<void> {
  await connection.all('DELETE FROM schema_version');
  await connection.all(
    'INSERT INTO schema_version (version, oldest_version) VALUES ($1, $2)',
    versionOf(schema),
    schema.oldestVersion,
  );
}

/** One sentence per difference. Tables and indexes that are not declared do not count: an operator may add them. */
export function findDifferences({ tables, sql, structure }: Schema, found: readonly Part[]): string[] {
  const expected = tables.flatMap((table) => structure.expected(table, sql));
  const [expectedKeys, foundKeys] = [new Set(expected.map(keyOf)), new Set(found.map(keyOf))];
  const isFound = (name: string) => found.some(({ table }) => table === name);
  const isDeclared = (name: string) => tables.some((table) => table.name === name);
  return [
    ...tables.filter(({ name }) => !isFound(name)).map(({ name }) => `the table ${name} is missing`),
    ...expected
      .filter((part) => isFound(part.table) && !foundKeys.has(keyOf(part)))
      .map(({ table, definition }) => `${table} lacks ${definition}`),
    ...found
      .filter((part) => isDeclared(part.table) && !expectedKeys.has(keyOf(part)))
      .filter(({ definition }) => !definition.startsWith('INDEX '))
      .map(({ table, definition }) => `${table} has ${definition}`),
  ];
}

/** Databases add parentheses and quotes to the definitions that they return. */
function keyOf({ table, definition }: Part): string {
  return `${table} ${definition}`.replace(/[\s()"]/g, '').toLowerCase();
}
