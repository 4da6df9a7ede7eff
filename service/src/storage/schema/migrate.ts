// Creates or upgrades the schema. All missing steps run in one transaction and under a lock, so each step runs only once even if
// several processes start at the same time. Rejects a database whose schema requires a newer program.

import { StorageError } from '../../domain/storage-error.ts';
import type { Database, Queries } from '../database.ts';
import type { Statement } from '../sql.ts';
import { type Auditor, writeAudit } from '../stores/audit-log.ts';
import { type Schema, versionOf } from './schema.ts';

/** Applies even to servers, which do not wait for any other lock. */
const LOCK_TIMEOUT_MS = 60_000;

/** Compares the database's schema with this program's. Throws a StorageError if the database's schema is too new. */
export async function findSchemaState(database: Database): Promise<'none' | 'old' | 'current'> {
  const found = await findVersion(database);
  if (found === undefined) return 'none';
  return isCurrent(found, database.schema) ? 'current' : 'old';
}

/** Versions of the schema. */
export interface Migration {
  /** Null if the schema was created. */
  readonly from: number | null;
  readonly to: number;
}

/**
 * Creates or upgrades the schema. The database must be opened without a statement timeout. If there is an auditor, an upgrade is
 * recorded in the audit log.
 */
export async function migrate(
  database: Database,
  auditor: Auditor | undefined,
  schema: Schema = database.schema,
): Promise<Migration> {
  // If the schema is current, this needs no lock and works on a read-only database.
  const before = await findVersion(database);
  if (isCurrent(before, schema)) return { from: before?.version ?? null, to: before?.version ?? 0 };
  return await database.write(async (connection) => {
    await connection.lockSchema();
    const found = await findVersion(connection);
    const migration = { from: found?.version ?? null, to: Math.max(found?.version ?? 0, versionOf(schema)) };
    if (isCurrent(found, schema)) return migration;
    for (const step of schema.steps.slice(found?.version ?? 0)) {
      for (const statement of step) await connection.all(statement);
    }
    await connection.all('DELETE FROM schema_version');
    await connection.all(
      'INSERT INTO schema_version (version, oldest_version) VALUES ($1, $2)',
      versionOf(schema),
      schema.oldestVersion,
    );
    if (auditor !== undefined && found !== undefined) {
      const versions = { from: found.version, to: versionOf(schema) };
      await writeAudit(connection, auditor, 'schema migrated', null, versions);
    }
    return migration;
  }, LOCK_TIMEOUT_MS);
}

interface SchemaVersion {
  readonly version: number;
  /** The schema version of the oldest program that can use this database. */
  readonly oldest_version: number;
}

function isCurrent(found: SchemaVersion | undefined, schema: Schema): boolean {
  if (found === undefined) return false;
  const { version, oldest_version: oldest } = found;
  const known = versionOf(schema);
  if (oldest > known) {
    throw new StorageError(
      'too new',
      `this database has schema version ${version}, created by a newer Offerbook; this one supports up to version ${known}`,
    );
  }
  return version >= known;
}

const FIND_TABLE: Statement = ({ findTable }) => findTable;

/** Returns undefined for an empty database. */
async function findVersion(queries: Queries): Promise<SchemaVersion | undefined> {
  if ((await queries.all(FIND_TABLE, 'schema_version')).length === 0) return undefined;
  const [row] = await queries.all<SchemaVersion>('SELECT version, oldest_version FROM schema_version');
  return row;
}
