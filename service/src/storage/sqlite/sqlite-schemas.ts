// The schemas of the SQLite files. Clicks and walks have separate files, because an import holds the main file's only write
// lock for its whole duration.

import type { Schema } from '../schema/schema.ts';
import {
  clickTables,
  leaseTable,
  mainTables,
  rejectedClickTable,
  versionTable,
  walkTables,
} from '../schema/tables.ts';
import type { Sql } from '../sql.ts';
import { SQLITE_SQL } from './sqlite-sql.ts';

export const SQLITE_MAIN = newSchema(mainTables, leaseTable);
export const SQLITE_WALKS = newSchema(walkTables, leaseTable);
export const SQLITE_CLICKS = newSchema(clickTables);
/** Clicks that could not be stored in the database, and rows that are not valid clicks. */
export const SQLITE_SPOOL = newSchema(clickTables, rejectedClickTable);

function newSchema(...tables: ((sql: Sql) => string[])[]): Schema {
  return { oldestVersion: 1, steps: [[versionTable, ...tables].flatMap((each) => each(SQLITE_SQL))] };
}
