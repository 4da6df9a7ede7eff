// The PostgreSQL schema: all tables are in one database.

import { newSchema } from '../schema/schema.ts';
import { ALL_TABLES } from '../schema/tables.ts';
import { POSTGRES_SQL } from './postgres-sql.ts';
import { POSTGRES_STRUCTURE } from './postgres-structure.ts';

export const POSTGRES_SCHEMA = newSchema(ALL_TABLES, POSTGRES_SQL, POSTGRES_STRUCTURE);
