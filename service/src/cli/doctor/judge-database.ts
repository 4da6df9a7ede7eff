// Judges what was seen of the database: schema, rights, clock, and whether it is kept. Pure.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { DatabaseFacts, SchemaFacts } from '../../storage/inspect-database.ts';
import type { PostgresFacts } from '../../storage/postgres/inspect-postgres.ts';
import { type Check, fault, ok, warning } from './check.ts';

const CLOCK_WARNING_MS = 2_000;
const CLOCK_FAULT_MS = 60_000;
/** The oldest that knows all the settings which a connection asks for. */
const POSTGRES_VERSION_MIN = 130_000;

export function judgeDatabase(facts: DatabaseFacts, nowMs: number): Check[] {
  return [
    judgeServer(facts),
    judgeSchema(facts.schema),
    facts.postgres === undefined ? judgeFiles(facts) : judgeRights(facts.postgres),
    judgeClock(facts, nowMs),
    judgeBackup(facts.postgres),
  ];
}

function judgeServer({ place, postgres }: DatabaseFacts): Check {
  if (postgres === undefined) return ok('database', `SQLite ${place}`);
  const found = `${place}, version ${Math.floor(postgres.version / 10_000)}`;
  if (postgres.version < POSTGRES_VERSION_MIN)
    return fault('database', found, 'upgrade PostgreSQL: version 13 is the oldest that will do');
  return ok('database', found);
}

export function judgeSchema({ state, version, known }: SchemaFacts): Check {
  switch (state) {
    case 'none':
      return fault('schema', 'there is none', 'make one with: offerbook orgs create NAME');
    case 'too new':
      return fault(
        'schema',
        `version ${version}, made by a newer Offerbook; this one knows up to ${known}`,
        'run the newer program, or restore a backup from before the upgrade',
      );
    case 'unreleased':
      return fault(
        'schema',
        `version ${version}, from before the first release`,
        'copy it into a new database with: offerbook copy --to URL',
      );
    case 'old':
      return warning(
        'schema',
        `version ${version}; this program brings it to ${known} when it starts`,
        'make a backup first: there is no way back',
      );
    case 'current':
      return ok('schema', `version ${version}`);
  }
}

function judgeFiles({ files }: DatabaseFacts): Check {
  const unusable = files.find(({ isWritable }) => !isWritable);
  if (unusable !== undefined) {
    return fault(
      'rights',
      `${unusable.path}, or its folder, cannot be written by this user`,
      'run as the user of the service, to whom the files must belong',
    );
  }
  const open = files.find(({ mode }) => (mode & 0o077) !== 0);
  if (open !== undefined) {
    return warning(
      'rights',
      `${open.path} has mode ${open.mode.toString(8)}: others may read it`,
      `it holds everybody's transactions: chmod 600 ${open.path}`,
    );
  }
  return ok('rights', 'for this user alone to read and write');
}

function judgeRights({ isReadOnly, unreadable, unwritable, notOwned }: PostgresFacts): Check {
  const [first = ''] = unreadable;
  if (first !== '')
    return fault('rights', `the role may not read ${unreadable.join(', ')}`, `GRANT SELECT ON ${first} TO …`);
  if (isReadOnly) {
    return fault(
      'rights',
      'the server takes no writes: it is a standby, or read-only',
      'name the primary in the URL, or all servers: postgres://user@one,two/name',
    );
  }
  if (unwritable.length > 0) {
    return warning(
      'rights',
      `the role may not write ${unwritable.join(', ')}`,
      'enough for serve without walks and clicks; imports need INSERT, UPDATE and DELETE',
    );
  }
  if (notOwned.length > 0) {
    return warning(
      'rights',
      'the role reads and writes everything, but does not own the tables',
      'run upgrades of the schema as the owner',
    );
  }
  return ok('rights', 'the role owns the tables');
}

function judgeClock({ postgres, lastStampMs }: DatabaseFacts, nowMs: number): Check {
  const aheadMs = postgres?.clockAheadMs ?? 0;
  const differenceMs = Math.abs(aheadMs);
  const sync = 'have both machines keep time (chrony, systemd-timesyncd): imports are stamped by this clock';
  const found = `${(differenceMs / 1000).toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the database`;
  if (differenceMs > CLOCK_FAULT_MS) return fault('clock', found, sync);
  if (differenceMs > CLOCK_WARNING_MS) return warning('clock', found, sync);
  if (lastStampMs !== null && lastStampMs > nowMs + CLOCK_WARNING_MS) {
    return warning(
      'clock',
      `${printTimestamp(nowMs)}, but the last import was stamped ${printTimestamp(lastStampMs)}`,
      'see that this clock is right; changes are stamped a millisecond apart until it has come there, and none is lost',
    );
  }
  return ok('clock', `${printTimestamp(nowMs)} UTC`);
}

function judgeBackup(postgres: PostgresFacts | undefined): Check {
  if (postgres === undefined)
    return ok('backup', 'made by offerbook backup; whether a timer runs it cannot be seen here');
  const { archiveMode, walLevel, isArchiveFailing } = postgres;
  if (archiveMode !== 'off' && isArchiveFailing) {
    return fault(
      'backup',
      'the last attempt of PostgreSQL to archive its log has failed',
      'look at archive_command and at the log of PostgreSQL',
    );
  }
  if (archiveMode === 'off' || walLevel === 'minimal') {
    return warning(
      'backup',
      `PostgreSQL archives nothing (archive_mode ${archiveMode}, wal_level ${walLevel})`,
      'see that pg_dump runs from a timer, or set up an archive: docs/operations/backups.md',
    );
  }
  return ok('backup', `PostgreSQL archives its log (archive_mode ${archiveMode}, wal_level ${walLevel})`);
}
