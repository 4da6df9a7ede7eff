// Brings a database to this program's schema. Steps run in order, in one transaction, under a lock, so that ten
// processes that start at once do it once. A database that a newer program has brought to a schema which programs like
// this one cannot use is refused.

import { StorageError } from '../../domain/storage-error.ts';
import type { Connection, Database } from '../database.ts';
import { type Auditor, writeAudit } from '../stores/audit-book.ts';
import { SCHEMAS, type Schema, versionOf } from './schema.ts';

/** Any constant will do, as long as no other program uses it on the same database. */
export const ADVISORY_LOCK = 0x0ff3_b00c;
/** Even a server, which otherwise never waits for a lock, waits for whoever is making its tables. */
const LOCK_TIMEOUT_MS = 60_000;
const EMPTY: SchemaVersion = { version: 0, oldest_version: 0 };

/** Whether there is a schema, and whether it is this program's. Throws a StorageError when the schema is too new. */
export async function findSchemaState(
  database: Database,
): Promise<'none' | 'unreleased' | 'old' | 'current'> {
  const found = await findVersion(database.dialect, database);
  const schema = SCHEMAS[database.dialect];
  if (found.version === EMPTY.version) return 'none';
  if (isUnreleased(found.version, schema)) return 'unreleased';
  return isCurrent(found, schema) ? 'current' : 'old';
}

/**
 * Creates the schema where there is none. Takes as long as it takes: the connection must have no statement timeout.
 * Of a database that has books, the auditor enters into the audit that it was changed.
 */
export async function migrate(
  database: Database,
  auditor: Auditor | undefined,
  schema: Schema = SCHEMAS[database.dialect],
): Promise<void> {
  // Most starts find a current schema: they take no lock and can use a database that they may not write.
  if (isCurrent(await findVersion(database.dialect, database), schema)) return;
  await database.write(async (connection) => {
    if (database.dialect === 'postgres')
      await connection.all('SELECT pg_advisory_xact_lock($1)', ADVISORY_LOCK);
    const found = await findVersion(database.dialect, connection);
    if (isCurrent(found, schema)) return;
    const stepsDone = Math.max(0, found.version - schema.firstVersion + 1);
    for (const step of schema.steps.slice(stepsDone)) {
      for (const statement of step) await connection.all(statement);
    }
    await connection.all('DELETE FROM schema_version');
    await connection.all(
      'INSERT INTO schema_version (version, oldest_version) VALUES ($1, $2)',
      versionOf(schema),
      schema.oldestVersion,
    );
    if (auditor !== undefined && stepsDone > 0) {
      const versions = { from: found.version, to: versionOf(schema) };
      await writeAudit(connection, auditor, 'schema migrated', null, versions);
    }
  }, LOCK_TIMEOUT_MS);
}

interface SchemaVersion {
  readonly version: number;
  /** Which version a program must know, at least, to use this schema. */
  readonly oldest_version: number;
}

function isCurrent({ version, oldest_version: oldest }: SchemaVersion, schema: Schema): boolean {
  const known = versionOf(schema);
  if (oldest > known) {
    throw new StorageError(
      'too new',
      `this database has schema version ${version}, made by a newer Offerbook; this one knows up to version ${known}`,
    );
  }
  if (isUnreleased(version, schema) && !schema.replacesUnreleased) {
    throw new StorageError(
      'unreleased',
      `this database has schema version ${version}, from before the first release`,
    );
  }
  return version >= known;
}

function isUnreleased(version: number, { firstVersion }: Schema): boolean {
  return version > EMPTY.version && version < firstVersion;
}

/** Version 0 is a database that is empty. */
async function findVersion(
  dialect: Database['dialect'],
  connection: Pick<Connection, 'all'>,
): Promise<SchemaVersion> {
  const exists =
    dialect === 'sqlite'
      ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'`
      : // Not to_regclass(): it may answer from a cache that is older than the lock we have just waited for.
        `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'schema_version'`;
  if ((await connection.all(exists)).length === 0) return EMPTY;
  const [row] = await connection.all<SchemaVersion>('SELECT version, oldest_version FROM schema_version');
  return row ?? EMPTY;
}
