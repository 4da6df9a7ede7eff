// Everything that a node is told, by flags and variables, and what it refuses of that before it looks at a database. For
// `serve`, and for `doctor`, which must refuse the same.

import { BadInput } from '@offerbook/wire/failures.ts';
import { readDatabaseUrl, readServeSettings, readTracingSettings } from '../../config.ts';
import { sqlitePath } from '../../storage/open-database.ts';
import { openAdminAccess } from './admin-access.ts';

/** Throws BadInput. A spool that cannot be used is left to the caller: doctor goes on to what else there is. */
export function readNodeSettings(flags: Readonly<Record<string, unknown>>) {
  const settings = readServeSettings(flags);
  const databaseUrl = readDatabaseUrl(flags.database as string | undefined);
  const tracing = readTracingSettings();
  if (settings.replicaUrl !== undefined && sqlitePath(databaseUrl) !== undefined)
    throw new BadInput('--replica-url needs a PostgreSQL database: SQLite has no replicas');
  if (settings.adminPort !== undefined) openAdminAccess(settings);
  return { settings, databaseUrl, tracing };
}
