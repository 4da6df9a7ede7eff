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
  ...['imports', 'audit', 'walks', 'links', 'secrets', 'clicks', 'taps', 'erasures', 'import_feeds'],
];

const may = (right: string) => `has_table_privilege(format('%I.%I', schemaname, tablename), '${right}')`;

const RIGHTS_SQL = `
  SELECT tablename AS name,
         ${may('SELECT')} AS reads,
         ${['INSERT', 'UPDATE', 'DELETE'].map(may).join(' AND ')} AS writes,
         pg_has_role(tableowner, 'USAGE') AS owns
    FROM pg_tables
   WHERE schemaname = current_schema() AND tablename IN (${TABLES.map((name) => `'${name}'`).join(', ')})
   ORDER BY tablename`;

const SERVER_SQL = `
  SELECT current_setting('server_version_num')::int AS version,
         (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
         pg_database_size(current_database())::bigint AS bytes,
         current_setting('transaction_read_only') = 'on' AS "isReadOnly",
         current_setting('wal_level') AS "walLevel",
         current_setting('archive_mode') AS "archiveMode",
         (SELECT coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false)
            FROM pg_stat_archiver) AS "isArchiveFailing"`;

type ServerRow = Omit<PostgresFacts, 'clockAheadMs' | 'unreadable' | 'unwritable' | 'notOwned'> & {
  readonly now: number;
};

export async function inspectPostgres(database: Database, clock: Clock): Promise<PostgresFacts> {
  const askedMs = clock();
  const [row] = await database.all<ServerRow>(SERVER_SQL);
  if (row === undefined) throw new Error('PostgreSQL tells nothing about itself');
  // It was somewhere between the question and the answer.
  const hereMs = (askedMs + clock()) / 2;
  type RightsRow = { name: string; reads: boolean; writes: boolean; owns: boolean };
  const rights = await database.all<RightsRow>(RIGHTS_SQL);
  const without = (right: 'reads' | 'writes' | 'owns') =>
    rights.filter((table) => !table[right]).map(({ name }) => name);
  const { now, ...server } = row;
  return {
    ...server,
    clockAheadMs: Math.round(now - hereMs),
    unreadable: without('reads'),
    unwritable: without('writes'),
    notOwned: without('owns'),
  };
}
