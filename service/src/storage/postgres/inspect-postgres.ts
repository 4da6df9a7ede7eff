// Reads facts about a PostgreSQL server for `offerbook doctor`: version, clock, our role's privileges, and archiving.

import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../database.ts';
import { ALL_TABLES } from '../schema/tables.ts';

const TABLES = ALL_TABLES.map(({ name }) => name);

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

interface ServerRow {
  /** For example 180001. */
  readonly version: number;
  readonly now: number;
  readonly bytes: number;
  readonly isReadOnly: boolean;
  readonly walLevel: string;
  readonly archiveMode: string;
  /** True if the last attempt to archive WAL failed. */
  readonly isArchiveFailing: boolean;
}

export type PostgresFacts = Awaited<ReturnType<typeof inspectPostgres>>;

/** Finds the table lock that SELECT … FOR UPDATE holds until the transaction ends. Imports lock rows in these tables. */
export const WRITE_LOCK_SQL = `SELECT pid FROM pg_locks
  WHERE relation IN ('organisations'::regclass, 'revisions'::regclass) AND mode = 'RowShareLock' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`;

export async function inspectPostgres(database: Database, clock: Clock) {
  const sentAtMs = clock();
  const [row] = await database.all<ServerRow>(SERVER_SQL);
  if (row === undefined) throw new Error('PostgreSQL returned no facts about the server');
  // The server read its clock at some time between sentAtMs and now.
  const hereMs = (sentAtMs + clock()) / 2;
  type RightsRow = { name: string; reads: boolean; writes: boolean; owns: boolean };
  const rights = await database.all<RightsRow>(RIGHTS_SQL);
  const without = (right: 'reads' | 'writes' | 'owns') =>
    rights.filter((table) => !table[right]).map(({ name }) => name);
  const { now, ...server } = row;
  return {
    ...server,
    /** How far the server's clock is ahead of this machine's. */
    clockAheadMs: Math.round(now - hereMs),
    /** Tables that our role is not allowed to read, is not allowed to write, or does not own. */
    unreadable: without('reads'),
    unwritable: without('writes'),
    notOwned: without('owns'),
    /** Addresses of servers in the URL that accept writes although this one has replaced them. */
    rivals: database.rivals(),
  };
}
