// The schemas of the SQLite files, whose structure is read from the text of their CREATE statements. Clicks and walks have
// separate files, because an import holds the main file's only write lock for its whole duration.

import { newSchema, type Part, type Schema, type Structure } from '../schema/schema.ts';
import { createTable, type Table } from '../schema/table.ts';
import { CLICK_TABLES, MAIN_TABLES, REJECTED_CLICKS, WALK_TABLES } from '../schema/tables.ts';
import { SQLITE_DIALECT } from './sqlite-dialect.ts';

/** Everything that the file defines, except what SQLite creates by itself. */
export const OBJECTS_SQL = `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

export interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/**
 * Describes what someone may have added to a file: a trigger would run on the first write, and a view in place of a table could
 * return forged rows. Returns undefined if there are only our tables, and indexes, which an operator may add.
 */
export function findForeign(objects: readonly SchemaObject[], { tables }: Schema): string | undefined {
  const foreign = objects.find(
    ({ type, name }) =>
      type !== 'index' && !(type === 'table' && tables.some((table) => table.name === name)),
  );
  return foreign && `the ${foreign.type} "${foreign.name.replaceAll(/\W/g, '?')}"`;
}

const SQLITE_STRUCTURE: Structure = {
  async read(queries) {
    const objects = await queries.all<SchemaObject>(OBJECTS_SQL);
    return objects.flatMap(({ sql }) => partsOf(sql));
  },
  expected: (table, sql) => createTable(table, sql).flatMap(partsOf),
};

const sqliteSchema = (tables: readonly Table[]) => newSchema(tables, SQLITE_DIALECT, SQLITE_STRUCTURE);

export const SQLITE_MAIN = sqliteSchema(MAIN_TABLES);
export const SQLITE_WALKS = sqliteSchema(WALK_TABLES);
export const SQLITE_CLICKS = sqliteSchema(CLICK_TABLES);
/** Clicks that could not be stored in the database, and rows that are not valid clicks. */
export const SQLITE_SPOOL = sqliteSchema([...CLICK_TABLES, REJECTED_CLICKS]);

export function partsOf(statement: string): Part[] {
  const text = statement.replace(/\s+/g, ' ').trim();
  const [, index, indexed, columns] = /^CREATE INDEX (\w+) ON (\w+) ?(.*)$/.exec(text) ?? [];
  if (indexed !== undefined) return [{ table: indexed, definition: `INDEX ${index} ${columns}` }];
  const [, table, body, options = ''] = /^CREATE TABLE "?(\w+)"? ?\((.*)\)([^)]*)$/.exec(text) ?? [];
  if (table === undefined || body === undefined) return [];
  const definitions = [...splitList(body), ...splitList(options)];
  return definitions.map((definition) => ({ table, definition }));
}

/** Splits at commas outside of parentheses. */
function splitList(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (char === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
