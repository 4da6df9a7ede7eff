// Compares the tables of a backup file with the declared ones before any other statement runs on the file, because a backup may
// have been tampered with.

import { StorageError } from '../../domain/storage-error.ts';
import { FIRST_VERSION, findDifferences, type Schema, versionOf } from '../schema/schema.ts';
import { openFile } from '../sqlite/open-file.ts';
import { explainSqlite } from '../sqlite/sqlite-errors.ts';
import { findForeign, OBJECTS_SQL, partsOf, type SchemaObject } from '../sqlite/sqlite-schemas.ts';

/** Throws a StorageError unless the file has exactly our tables. migrate() compares the columns of an older version. */
export function requireOwnSchema(path: string, name: string, schema: Schema): void {
  const { objects, version } = readSchema(path);
  const fail = (problem: string) => new StorageError('invalid', `${name} in the backup ${problem}`);
  if (version === undefined) throw fail('is not an Offerbook database; nothing was changed');
  const known = versionOf(schema);
  if (version > known)
    throw new StorageError(
      'too new',
      `${name} in the backup has schema version ${version}, created by a newer Offerbook; this one supports up to version ${known}`,
    );
  if (version < FIRST_VERSION)
    throw fail(
      `has schema version ${version} of an older Offerbook; restore it with that version, then run: offerbook migrate`,
    );
  const parts = objects.flatMap(({ sql }) => partsOf(sql));
  const foreign =
    findForeign(objects, schema) ?? (version === known ? findDifferences(schema, parts)[0] : undefined);
  if (foreign !== undefined) throw fail(`does not have Offerbook's schema: ${foreign}; nothing was changed`);
}

function readSchema(path: string) {
  using file = openFile(path, 'readonly');
  try {
    const objects = file.query<SchemaObject, []>(OBJECTS_SQL).all();
    const isOurs = objects.some(({ type, name }) => type === 'table' && name === 'schema_version');
    const [row] = isOurs ? file.query('SELECT version FROM schema_version').values() : [];
    return { objects, version: row && Number(row[0]) };
  } catch (error) {
    throw explainSqlite(error, path);
  }
}
