// The schemas of the SQLite files. Clicks and walks have separate files, because an import holds the main file's only write
// lock for its whole duration.

import { newSchema } from '../schema/schema.ts';
import type { Table } from '../schema/table.ts';
import { CLICK_TABLES, MAIN_TABLES, REJECTED_CLICKS, WALK_TABLES } from '../schema/tables.ts';
import { SQLITE_SQL } from './sqlite-sql.ts';
import { SQLITE_STRUCTURE } from './sqlite-structure.ts';

const sqliteSchema = (tables: readonly Table[]) => newSchema(tables, SQLITE_SQL, SQLITE_STRUCTURE);

export const SQLITE_MAIN = sqliteSchema(MAIN_TABLES);
export const SQLITE_WALKS = sqliteSchema(WALK_TABLES);
export const SQLITE_CLICKS = sqliteSchema(CLICK_TABLES);
/** Clicks that could not be stored in the database, and rows that are not valid clicks. */
export const SQLITE_SPOOL = sqliteSchema([...CLICK_TABLES, REJECTED_CLICKS]);
