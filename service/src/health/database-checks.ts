// Checks of the database itself: whether it is usable, its schema, rights, clock, backups and failovers.

import { printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { FileFacts } from '../storage/inspect-database.ts';
import type { PostgresFacts } from '../storage/postgres/inspect-postgres.ts';
import { fault, ok, type Verdict, warning } from './check.ts';
import type { Facts } from './facts.ts';

const CLOCK_WARNING_MS = 2_000;
const CLOCK_FAULT_MS = 60_000;
/** The oldest PostgreSQL version that supports all our connection settings. */
const POSTGRES_VERSION_MIN = 130_000;

export const CORRUPT_ADVICE =
  'stop the servers and all imports, restore the latest backup, then start the servers: docs/operations/backups.md';

export function database({ database: { state, reason, rivals = [] }, inspected }: Facts): Verdict {
  if (state === 'corrupt') return fault(`corrupt: ${reason}`, CORRUPT_ADVICE);
  if (state === 'unreachable')
    return fault(
      reason ?? 'unreachable',
      'fix this first: until then a server serves only the catalogue, from memory, and does not start',
    );
  if (rivals.length > 0)
    return fault(
      `former primaries still accept writes: ${rivals.join(', ')}`,
      'stop them; changes that are written to them will be lost: docs/operations/failover.md',
    );
  if (inspected === undefined) return ok('usable');
  const { place, postgres } = inspected;
  if (postgres === undefined) return ok(`SQLite ${place}`);
  const found = `${place}, version ${Math.floor(postgres.version / 10_000)}`;
  return postgres.version < POSTGRES_VERSION_MIN
    ? fault(found, 'upgrade PostgreSQL to version 13 or later')
    : ok(found);
}

export function schema({ inspected }: Facts): Verdict | undefined {
  if (inspected === undefined) return undefined;
  const { state, version, known, problem = '' } = inspected.schema;
  switch (state) {
    case 'none':
      return fault('missing', 'create it with: offerbook orgs create NAME');
    case 'unusable':
      return fault(problem, 'see docs/operations/upgrading.md');
    case 'released':
      return fault(
        `version ${version} of an older Offerbook; this one needs ${known}`,
        'make a backup with the old version, stop all servers and imports, and run: offerbook migrate',
      );
    case 'old':
      return warning(
        `version ${version} of an older Offerbook; this one needs ${known}`,
        'make a backup, and run: offerbook migrate',
      );
    case 'current':
      return ok(`version ${version}`);
  }
}

export function rights({ inspected }: Facts): Verdict | undefined {
  if (inspected === undefined) return undefined;
  const { postgres, files } = inspected;
  return postgres === undefined ? rightsOnFiles(files) : rightsOfRole(postgres);
}

function rightsOnFiles(files: readonly FileFacts[]): Verdict {
  const unusable = files.find(({ isWritable }) => !isWritable);
  if (unusable !== undefined) {
    return fault(
      `this user cannot write ${unusable.path} or its folder`,
      "run this command as the service's user, who must own the files",
    );
  }
  const open = files.find(({ mode }) => (mode & 0o077) !== 0);
  if (open !== undefined) {
    return warning(
      `${open.path} has mode ${open.mode.toString(8)}: other users can read every transaction`,
      `run: chmod 600 ${open.path}`,
    );
  }
  return ok('only this user can read and write the files');
}

function rightsOfRole({ isReadOnly, unreadable, unwritable, notOwned }: PostgresFacts): Verdict {
  const [first = ''] = unreadable;
  if (first !== '')
    return fault(`the role cannot read ${unreadable.join(', ')}`, `GRANT SELECT ON ${first} TO …`);
  if (isReadOnly) {
    return fault(
      'the server rejects writes: it is a standby, or read-only',
      'use the primary in the URL, or list all servers: postgres://user@one,two/name',
    );
  }
  if (unwritable.length > 0) {
    return warning(
      `the role cannot write ${unwritable.join(', ')}`,
      'grant INSERT, UPDATE and DELETE; without them serve cannot store walks or clicks, and imports fail',
    );
  }
  if (notOwned.length > 0) {
    return warning(
      'the role can read and write, but does not own the tables',
      'run offerbook migrate as the owner when you upgrade',
    );
  }
  return ok('the role owns the tables');
}

export function clock({ inspected, nowMs }: Facts): Verdict | undefined {
  if (inspected === undefined) return undefined;
  const { postgres, lastStampMs } = inspected;
  const aheadMs = postgres?.clockAheadMs ?? 0;
  const differenceMs = Math.abs(aheadMs);
  const sync =
    "synchronise both clocks (chrony, systemd-timesyncd): imports are stamped by this machine's clock";
  const found = `${(differenceMs / 1000).toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the database's clock`;
  if (differenceMs > CLOCK_FAULT_MS) return fault(found, sync);
  if (differenceMs > CLOCK_WARNING_MS) return warning(found, sync);
  if (lastStampMs !== null && lastStampMs > nowMs + CLOCK_WARNING_MS) {
    return warning(
      `${printTimestamp(nowMs)}, but the last import was stamped ${printTimestamp(lastStampMs)}`,
      "check this machine's clock; until it passes that time, imports are stamped 1 ms apart (no change is lost)",
    );
  }
  return ok(`${printTimestamp(nowMs)} UTC`);
}

export function failover({ failovers }: Facts): Verdict | undefined {
  if (failovers === undefined) return undefined;
  const { lastAtMs, unsettled, restamping } = failovers;
  if (unsettled > 0)
    return fault(
      'PostgreSQL has failed over, and no server knows whether changes were lost',
      'if replication was asynchronous, run: offerbook failover mark; if it was synchronous, add --nothing-lost',
    );
  if (restamping > 0)
    return warning(
      `changes were lost; the transactions of ${printCountOf(restamping, 'organisation')} are getting new stamps`,
      'keep a server running until it has finished; its log reports the end',
    );
  return ok(lastAtMs === null ? 'none' : `the last was recorded at ${printTimestamp(lastAtMs)}`);
}

export function backup({ inspected }: Facts): Verdict | undefined {
  if (inspected === undefined) return undefined;
  const { postgres } = inspected;
  if (postgres === undefined)
    return ok('doctor cannot check whether offerbook backup is scheduled; check your timer or cron job');
  const { archiveMode, walLevel, isArchiveFailing } = postgres;
  if (archiveMode !== 'off' && isArchiveFailing) {
    return fault(
      "PostgreSQL's last attempt to archive its WAL failed",
      "check archive_command and PostgreSQL's log",
    );
  }
  if (archiveMode === 'off' || walLevel === 'minimal') {
    return warning(
      `PostgreSQL does not archive its WAL (archive_mode ${archiveMode}, wal_level ${walLevel})`,
      'run pg_dump from a timer, or set up WAL archiving: docs/operations/backups.md',
    );
  }
  return ok(`PostgreSQL archives its WAL (archive_mode ${archiveMode}, wal_level ${walLevel})`);
}
