// Creates the tables of a new database, and upgrades those of version 8 and later. All missing steps run in one transaction and
// under a lock, so each step runs only once even if several processes start at the same time. Rejects every database whose
// tables are not the expected ones.

import { StorageError } from '../../domain/storage-error.ts';
import { type Database, outdated, type Queries } from '../database.ts';
import { type Auditor, writeAudit } from '../stores/audit-log.ts';
import { adviceFor, findOldRelease, type OldRelease } from './old-releases.ts';
import { FIRST_VERSION, findDifferences, type Schema, setVersion, versionOf } from './schema.ts';
import { createTable } from './table.ts';

/** Applies even to servers, which do not wait for any other lock. */
const LOCK_TIMEOUT_MS = 60_000;
/** Differences that a message lists. */
const LISTED_MAX = 3;

/** `old`: opening the database for writing upgrades it. `released`: only `offerbook migrate` upgrades it. */
export interface FoundSchema {
  readonly version: number;
  readonly state: 'old' | 'current' | 'released';
  /** Set for a main database whose state is `released`. */
  readonly release?: OldRelease | undefined;
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
  const before = await findUsableSchema(database, schema);
  if (before?.state === 'current') return { from: before.version, to: before.version };
  return await database.write(async (connection) => {
    await connection.lockSchema();
    const found = await findUsableSchema(database, schema, connection);
    if (found?.state === 'current') return { from: found.version, to: found.version };
    const migration = { from: found?.version ?? null, to: versionOf(schema) };
    const statements =
      found === undefined
        ? schema.tables.flatMap((table) => createTable(table, schema.sql))
        : schema.steps.slice(found.version - FIRST_VERSION).flat();
    for (const statement of statements) await connection.all(statement);
    await setVersion(connection, schema);
    if (auditor !== undefined && found !== undefined)
      await writeAudit(connection, auditor, 'schema migrated', null, { ...migration });
    return migration;
  }, LOCK_TIMEOUT_MS);
}

/** Like findSchema, but also throws a StorageError if `offerbook migrate` must upgrade the database first. */
export async function findUsableSchema(
  database: Database,
  schema: Schema = database.schema,
  queries: Queries = database,
): Promise<FoundSchema | undefined> {
  const found = await findSchema(database, schema, queries);
  if (found?.state === 'released') throw outdated(await database.describePlace());
  return found;
}

/** Returns undefined for an empty database. Throws a StorageError if this program can neither use nor upgrade the database. */
export async function findSchema(
  database: Database,
  schema: Schema = database.schema,
  queries: Queries = database,
): Promise<FoundSchema | undefined> {
  let parts = await schema.structure.read(queries);
  if (!parts.some(({ table }) => table === 'schema_version')) return undefined;
  const [row] = await queries.all<{ version: number; oldest: number }>(
    'SELECT version, oldest_version AS oldest FROM schema_version',
  );
  const { version, oldest } = row ?? { version: 0, oldest: 0 };
  const known = versionOf(schema);
  const fail = async (kind: 'too new' | 'invalid', problem: string) =>
    new StorageError(kind, `the database ${await database.describePlace()} ${problem}`);
  if (oldest > known)
    throw await fail(
      'too new',
      `has schema version ${version}, created by a newer Offerbook; this one supports up to version ${known}`,
    );
  // The newer program that upgraded the database has checked it.
  if (version > known) return { version, state: 'current' };
  if (version < FIRST_VERSION) {
    const release = findOldRelease(parts);
    const isMain = parts.some(({ table }) => table === 'organisations');
    if (release !== undefined || !isMain) return { version, state: 'released', release };
    throw await fail(
      'invalid',
      `was created by a development version of Offerbook (schema version ${version}) and cannot be upgraded; ${adviceFor(version, parts)}`,
    );
  }
  if (version < known) return { version, state: 'old' };
  // Reads again, because another process may have upgraded the database before its version was read.
  if (findDifferences(schema, parts).length > 0) parts = await schema.structure.read(queries);
  const found = findDifferences(schema, parts);
  if (found.length === 0) return { version, state: 'current' };
  const more = found.length > LISTED_MAX ? `, and ${found.length - LISTED_MAX} more` : '';
  throw await fail(
    'invalid',
    `does not have the tables of schema version ${version}: ${found.slice(0, LISTED_MAX).join(', ')}${more}; undo this change, or restore a backup`,
  );
}
