// A second file beside an SQLite database, for what must not wait for an import: that holds the only write lock of the
// first for as long as it runs.

import type { Database, DatabaseOptions } from '../database.ts';
import { migrate } from '../schema/migrate.ts';
import type { Schema } from '../schema/schema.ts';
import { openSqlite } from './sqlite.ts';

/** Makes the file where there is none. */
export async function openFileBeside(
  path: string,
  schema: Schema,
  options: DatabaseOptions,
): Promise<Database> {
  const file = openSqlite(path, { ...options, create: true });
  try {
    await migrate(file, undefined, schema);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
