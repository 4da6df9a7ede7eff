// What PostgreSQL tells about itself: its version and clock, what our role may do, and whether its log is archived.

import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../database.ts';

export interface PostgresFacts {
  /** Such as 180001. */
  readonly version: number;
  /** How far its clock is ahead of ours. */
  readonly clockAheadMs: number;
  readonly bytes: number;
  readonly isReadOnly: boolean;
  /** Tables that our role may not read, or not write, and those that it does not own. */
  readonly unreadable: readonly string[];
  readonly unwritable: readonly string[];
  readonly notOwned: readonly string[];
  readonly walLevel: string;
  readonly archiveMode: string;
  /** Whether the last attempt to archive has failed. */
  readonly isArchiveFailing: boolean;
}

const TABLES = [
  ...['schema_version', 'revisions', 'organisations', 'tokens', 'retailers', 'transactions', 'history'],
  ...['imports', 'audit', 'walks', 'links', 'secrets', 'clicks', 'taps', 'erasures'],
];

const may = (right: string) => `has_table_privilege(format('%I.%I', schemaname, tablename), '${right}')`;

/** Numbers, not booleans: clients read those in different ways. */
const RIGHTS_SQL = `
  SELECT tablename AS name,
         (${may('SELECT')})::int AS reads,
         (${['INSERT', 'UPDATE', 'DELETE'].map(may).join(' AND ')})::int AS writes,
         pg_has_role(tableowner, 'USAGE')::int AS owns
    FROM pg_tables
   WHERE schemaname = current_schema() AND tablename IN (${TABLES.map((name) => `'${name}'`).join(', ')})
   ORDER BY tablename`;

const SERVER_SQL = `
  SELECT current_setting('server_version_num')::int AS version,
         (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
         pg_database_size(current_database())::bigint AS bytes,
         (current_setting('transaction_read_only') = 'on')::int AS is_read_only,
         current_setting('wal_level') AS wal_level,
         current_setting('archive_mode') AS archive_mode,
         (SELECT coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false)::int
            FROM pg_stat_archiver) AS is_archive_failing`;

interface ServerRow {
  readonly version: number;
  readonly now: number;
  readonly bytes: number;
  readonly is_read_only: number;
  readonly wal_level: string;
  readonly archive_mode: string;
  readonly is_archive_failing: number;
}

export async function inspectPostgres(database: Database, clock: Clock): Promise<PostgresFacts> {
  const askedMs = clock();
  const [row] = await database.all<ServerRow>(SERVER_SQL);
  if (row === undefined) throw new Error('PostgreSQL tells nothing about itself');
  // It was somewhere between the question and the answer.
  const hereMs = (askedMs + clock()) / 2;
  const rights = await database.all<{ name: string; reads: number; writes: number; owns: number }>(
    RIGHTS_SQL,
  );
  const without = (right: 'reads' | 'writes' | 'owns') =>
    rights.filter((table) => table[right] === 0).map(({ name }) => name);
  return {
    version: row.version,
    clockAheadMs: Math.round(row.now - hereMs),
    bytes: row.bytes,
    isReadOnly: row.is_read_only === 1,
    unreadable: without('reads'),
    unwritable: without('writes'),
    notOwned: without('owns'),
    walLevel: row.wal_level,
    archiveMode: row.archive_mode,
    isArchiveFailing: row.is_archive_failing === 1,
  };
}
