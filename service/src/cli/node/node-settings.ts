// Reads a node's settings. Rejects combinations that cannot work, before any database is opened. `doctor` rejects the same
// combinations as `serve`.

import { BadInput } from '@offerbook/wire/failures.ts';
import { readServeSettings, readTracingSettings, type ServeSettings } from '../../config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Logger } from '../../domain/logger.ts';
import type { AppExtension } from '../../http/app.ts';
import type { DatabaseOptions } from '../../storage/database.ts';
import { sqlitePath } from '../../storage/open-database.ts';
import type { TracingSettings } from '../../tracing/tracing-settings.ts';
import { openAdminAccess } from './admin-access.ts';

export interface NodeFlags extends Readonly<Record<string, unknown>> {
  readonly database: string;
}

export interface NodeOptions {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly tracing?: TracingSettings | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly extension?: AppExtension | undefined;
  /** How long a click waits for the database before it goes to the spool. */
  readonly clickDeadlineMs?: number;
  /** Limits of statements and connections; those of servers unless given. */
  readonly database?: DatabaseOptions;
  /** The greatest lag of a replica that is used. */
  readonly replicaLagMaxMs?: number | undefined;
}

/**
 * Throws BadInput if a setting is invalid. Does not check the spool, because doctor reports an unusable spool and continues.
 */
export function readNodeSettings(flags: NodeFlags) {
  const settings = readServeSettings(flags);
  const databaseUrl = flags.database;
  const tracing = readTracingSettings();
  if (settings.replicaUrl !== undefined && sqlitePath(databaseUrl) !== undefined)
    throw new BadInput('--replica-url needs a PostgreSQL database: SQLite has no replicas');
  if (settings.adminPort !== undefined) openAdminAccess(settings);
  return { settings, databaseUrl, tracing };
}
