// The schemas of the SQLite files. Clicks and walks have separate files, because an import holds the main file's only write
// lock for its whole duration.

import { newSchema } from '../schema/schema.ts';
import { CLICK_TABLES, MAIN_TABLES, REJECTED_CLICKS, WALK_TABLES } from '../schema/tables.ts';
import { SQLITE_SQL } from './sqlite-sql.ts';

export const SQLITE_MAIN = newSchema(MAIN_TABLES, SQLITE_SQL);
export const SQLITE_WALKS = newSchema(WALK_TABLES, SQLITE_SQL);
export const SQLITE_CLICKS = newSchema(CLICK_TABLES, SQLITE_SQL);
/** Clicks that could not be stored in the database, and rows that are not valid clicks. */
export const SQLITE_SPOOL = newSchema([...CLICK_TABLES, REJECTED_CLICKS], SQLITE_SQL);
