// The PostgreSQL schema: all tables are in one database.

import type { Schema } from '../schema/schema.ts';
import {
  clickTables,
  leaseTable,
  mainTables,
  timelineTables,
  versionTable,
  walkTables,
} from '../schema/tables.ts';
import { POSTGRES_SQL } from './postgres-sql.ts';

export const POSTGRES_SCHEMA: Schema = {
  oldestVersion: 1,
  steps: [
    [versionTable, mainTables, leaseTable, walkTables, clickTables, timelineTables].flatMap((tables) =>
      tables(POSTGRES_SQL),
    ),
  ],
};
