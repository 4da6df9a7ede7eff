// Reads all settings of a node, and rejects combinations that cannot work, before it opens a database. For `serve`, and for
// `doctor`, which must reject the same.

import { BadInput } from '@offerbook/wire/failures.ts';
import { readServeSettings, readTracingSettings } from '../../config.ts';
import { sqlitePath } from '../../storage/open-database.ts';
import { openAdminAccess } from './admin-access.ts';

export interface NodeFlags extends Readonly<Record<string, unknown>> {
  readonly database: string;
}

/** Throws BadInput. It does not check the spool: doctor reports an unusable spool and continues. */
export function readNodeSettings(flags: NodeFlags) {
  const settings = readServeSettings(flags);
  const databaseUrl = flags.database;
  const tracing = readTracingSettings();
  if (settings.replicaUrl !== undefined && sqlitePath(databaseUrl) !== undefined)
    throw new BadInput('--replica-url needs a PostgreSQL database: SQLite has no replicas');
  if (settings.adminPort !== undefined) openAdminAccess(settings);
  return { settings, databaseUrl, tracing };
}
