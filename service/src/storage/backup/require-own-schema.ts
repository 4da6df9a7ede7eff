// Compares the schema of a backup file with Offerbook's schema of the same version, before any other statement runs on the file.
// A backup may have been tampered with: a trigger would run on the first write, and a view in place of a table could return
// forged rows.

import { Database as SqliteFile } from 'bun:sqlite';
import { StorageError } from '../../domain/storage-error.ts';
import { type Schema, versionOf } from '../schema/schema.ts';
import { explainSqlite } from '../sqlite/sqlite-errors.ts';

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  /** Null for indexes that SQLite creates automatically. */
  readonly sql: string | null;
}

/**
 * Throws a StorageError unless the file's schema is exactly Offerbook's schema for the file's version. Extra indexes are
 * allowed.
 */
export function requireOwnSchema(path: string, name: string, schema: Schema): void {
  const found = inFile(path, readObjects);
  const versionTable = objectsOf(schema, 1).find((object) => object.name === 'schema_version');
  if (!found.some((object) => isSame(object, versionTable)))
    throw new StorageError(
      'invalid',
      `${name} in the backup is not an Offerbook database; nothing was changed`,
    );
  const version = inFile(path, readVersion);
  if (version > versionOf(schema))
    throw new StorageError(
      'too new',
      `${name} in the backup has schema version ${version}, created by a newer Offerbook; this one supports up to version ${versionOf(schema)}`,
    );
  const expected = objectsOf(schema, version);
  const foreign =
    found.find((object) => !isHarmless(object) && !expected.some((own) => isSame(own, object))) ??
    expected.find((own) => !found.some((object) => isSame(own, object)));
  if (foreign === undefined) return;
  throw new StorageError(
    'invalid',
    `${name} in the backup does not have Offerbook's schema: the ${foreign.type} "${foreign.name.replaceAll(/\W/g, '?')}" differs; nothing was changed`,
  );
}

function inFile<T>(path: string, read: (file: SqliteFile) => T): T {
  let file: SqliteFile | undefined;
  try {
    file = new SqliteFile(path, { readonly: true, strict: true });
    return read(file);
  } catch (error) {
    throw explainSqlite(error, path);
  } finally {
    file?.close();
  }
}

function objectsOf({ steps }: Schema, count: number): SchemaObject[] {
  const file = new SqliteFile(':memory:');
  try {
    for (const statement of steps.slice(0, Math.max(count, 1)).flat()) file.run(statement);
    return readObjects(file);
  } finally {
    file.close();
  }
}

function readObjects(file: SqliteFile): SchemaObject[] {
  const objects = file.query('SELECT type, name, sql FROM sqlite_master').all() as SchemaObject[];
  // Ignores white space, so that re-indenting the statements in our source does not invalidate backups.
  return objects.map((object) => ({ ...object, sql: object.sql?.replaceAll(/\s+/g, ' ') ?? null }));
}

function readVersion(file: SqliteFile): number {
  const [row] = file.query('SELECT version FROM schema_version').values();
  return Number(row?.[0]);
}

/** Returns true for indexes, which operators are allowed to add and which do not run code, and for ANALYZE's tables. */
function isHarmless({ type, name }: SchemaObject): boolean {
  return type === 'index' || (type === 'table' && /^sqlite_stat[14]$/.test(name));
}

function isSame(one: SchemaObject, other: SchemaObject | undefined): boolean {
  return other !== undefined && one.type === other.type && one.name === other.name && one.sql === other.sql;
}
