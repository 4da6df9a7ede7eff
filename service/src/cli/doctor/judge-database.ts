// Checks the database's version, schema, rights, clock and backups. Pure functions.

import { printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { FailoverFacts, PostgresFacts } from '../../storage/database.ts';
import type { DatabaseFacts, SchemaFacts } from '../../storage/inspect-database.ts';
import { type Check, fault, ok, warning } from './check.ts';

const CLOCK_WARNING_MS = 2_000;
const CLOCK_FAULT_MS = 60_000;
/** The oldest PostgreSQL version that supports all our connection settings. */
const POSTGRES_VERSION_MIN = 130_000;

export function judgeDatabase(facts: DatabaseFacts, nowMs: number): Check[] {
  return [
    judgeServer(facts),
    judgeSchema(facts.schema),
    facts.postgres === undefined ? judgeFiles(facts) : judgeRights(facts.postgres),
    judgeClock(facts, nowMs),
    judgeBackup(facts.postgres),
    ...(facts.failovers === undefined ? [] : [judgeFailovers(facts.failovers)]),
  ];
}

function judgeServer({ place, postgres }: DatabaseFacts): Check {
  if (postgres === undefined) return ok('database', `SQLite ${place}`);
  const found = `${place}, version ${Math.floor(postgres.version / 10_000)}`;
  if (postgres.version < POSTGRES_VERSION_MIN)
    return fault('database', found, 'upgrade PostgreSQL to version 13 or later');
  if (postgres.rivals.length > 0)
    return fault(
      'database',
      `${found}; former primaries still accept writes: ${postgres.rivals.join(', ')}`,
      'stop them; changes that are written to them will be lost: docs/operations/failover.md',
    );
  return ok('database', found);
}

export function judgeSchema({ state, version, known }: SchemaFacts): Check {
  switch (state) {
    case 'none':
      return fault('schema', 'missing', 'create it with: offerbook orgs create NAME');
    case 'too new':
      return fault(
        'schema',
        `version ${version}, created by a newer Offerbook; this one supports versions up to ${known}`,
        'run the newer Offerbook, or restore a backup made before the upgrade',
      );
    case 'old':
      return warning(
        'schema',
        `version ${version}; the next start upgrades it to ${known}`,
        'make a backup first: an upgrade cannot be undone',
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
      `this user cannot write ${unusable.path} or its folder`,
      "run this command as the service's user, who must own the files",
    );
  }
  const open = files.find(({ mode }) => (mode & 0o077) !== 0);
  if (open !== undefined) {
    return warning(
      'rights',
      `${open.path} has mode ${open.mode.toString(8)}: other users can read every transaction`,
      `run: chmod 600 ${open.path}`,
    );
  }
  return ok('rights', 'only this user can read and write the files');
}

function judgeRights({ isReadOnly, unreadable, unwritable, notOwned }: PostgresFacts): Check {
  const [first = ''] = unreadable;
  if (first !== '')
    return fault('rights', `the role cannot read ${unreadable.join(', ')}`, `GRANT SELECT ON ${first} TO …`);
  if (isReadOnly) {
    return fault(
      'rights',
      'the server rejects writes: it is a standby, or read-only',
      'use the primary in the URL, or list all servers: postgres://user@one,two/name',
    );
  }
  if (unwritable.length > 0) {
    return warning(
      'rights',
      `the role cannot write ${unwritable.join(', ')}`,
      'grant INSERT, UPDATE and DELETE; without them serve cannot store walks or clicks, and imports fail',
    );
  }
  if (notOwned.length > 0) {
    return warning(
      'rights',
      'the role can read and write, but does not own the tables',
      'run offerbook migrate as the owner when you upgrade',
    );
  }
  return ok('rights', 'the role owns the tables');
}

function judgeClock({ postgres, lastStampMs }: DatabaseFacts, nowMs: number): Check {
  const aheadMs = postgres?.clockAheadMs ?? 0;
  const differenceMs = Math.abs(aheadMs);
  const sync =
    "synchronise both clocks (chrony, systemd-timesyncd): imports are stamped by this machine's clock";
  const found = `${(differenceMs / 1000).toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the database's clock`;
  if (differenceMs > CLOCK_FAULT_MS) return fault('clock', found, sync);
  if (differenceMs > CLOCK_WARNING_MS) return warning('clock', found, sync);
  if (lastStampMs !== null && lastStampMs > nowMs + CLOCK_WARNING_MS) {
    return warning(
      'clock',
      `${printTimestamp(nowMs)}, but the last import was stamped ${printTimestamp(lastStampMs)}`,
      "check this machine's clock; until it passes that time, imports are stamped 1 ms apart (no change is lost)",
    );
  }
  return ok('clock', `${printTimestamp(nowMs)} UTC`);
}

function judgeFailovers({ lastAtMs, unsettled, restamping }: FailoverFacts): Check {
  if (unsettled > 0)
    return fault(
      'failover',
      'PostgreSQL has failed over, and no server knows whether changes were lost',
      'if replication was asynchronous, run: offerbook failover mark; if it was synchronous, add --nothing-lost',
    );
  if (restamping > 0)
    return warning(
      'failover',
      `changes were lost; the transactions of ${printCountOf(restamping, 'organisation')} are getting new stamps`,
      'keep a server running until it has finished; its log reports the end',
    );
  return ok('failover', lastAtMs === null ? 'none' : `the last was recorded at ${printTimestamp(lastAtMs)}`);
}

function judgeBackup(postgres: PostgresFacts | undefined): Check {
  if (postgres === undefined)
    return ok(
      'backup',
      'doctor cannot check whether offerbook backup is scheduled; check your timer or cron job',
    );
  const { archiveMode, walLevel, isArchiveFailing } = postgres;
  if (archiveMode !== 'off' && isArchiveFailing) {
    return fault(
      'backup',
      "PostgreSQL's last attempt to archive its WAL failed",
      "check archive_command and PostgreSQL's log",
    );
  }
  if (archiveMode === 'off' || walLevel === 'minimal') {
    return warning(
      'backup',
      `PostgreSQL does not archive its WAL (archive_mode ${archiveMode}, wal_level ${walLevel})`,
      'run pg_dump from a timer, or set up WAL archiving: docs/operations/backups.md',
    );
  }
  return ok('backup', `PostgreSQL archives its WAL (archive_mode ${archiveMode}, wal_level ${walLevel})`);
}
