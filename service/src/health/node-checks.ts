// Checks of a server, its replica, its disks and its clicks.

import { resolve } from 'node:path';
import { printCountOf } from '@offerbook/wire/count.ts';
import { CHECK_STATES, fault, ok, type Verdict, warning } from './check.ts';
import type { DiskFacts, Facts } from './facts.ts';

const FREE_FAULT_BYTES = 64 * 1024 * 1024;
const FREE_WARNING_BYTES = 1024 * 1024 * 1024;

export function node({ node: facts }: Facts): Verdict | undefined {
  if (facts === undefined || facts.isReady) return facts && ok('ready');
  return fault('not ready: load balancers send it no requests', 'see the log for the reason');
}

export function workers({ node: facts }: Facts): Verdict | undefined {
  if (facts === undefined) return undefined;
  const found = `${facts.workersReady} of ${facts.workers} ready`;
  if (facts.workersReady >= facts.workers || !facts.isReady) return ok(found);
  return warning(found, 'see the log for the reason; a worker that does not respond is replaced');
}

export function replica({ replica: facts }: Facts): Verdict | undefined {
  if (facts === undefined || facts.isUsable) return facts && ok(facts.found);
  return warning(facts.found, 'until it is usable, transactions are read from the primary');
}

export function disk({ disks = [] }: Facts): Verdict | undefined {
  const verdicts = disks.map(judgeDisk);
  return verdicts.toSorted((a, b) => CHECK_STATES.indexOf(b.state) - CHECK_STATES.indexOf(a.state))[0];
}

function judgeDisk({ folder, freeBytes, neededBytes, reserveMegabytes }: DiskFacts): Verdict {
  if (freeBytes === undefined)
    return fault(`${resolve(folder)} cannot be read`, 'check that the folder exists');
  const found = `${printBytes(freeBytes)} free in ${resolve(folder)}`;
  if (freeBytes < FREE_FAULT_BYTES)
    return fault(found, 'free some disk space: writes fail when the disk is full');
  if (freeBytes < reserveMegabytes * 1e6)
    return fault(
      found,
      `free some disk space: clicks are not recorded below ${reserveMegabytes} MB (--disk-reserve)`,
    );
  const wantedBytes = Math.max(FREE_WARNING_BYTES, neededBytes);
  if (freeBytes >= wantedBytes) return ok(found);
  return warning(
    found,
    `free some disk space: an import, an upgrade or a backup may need ${printBytes(wantedBytes)}; a purge frees space only inside an SQLite file`,
  );
}

function printBytes(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

export function clicks({ clicks: facts }: Facts): Verdict | undefined {
  if (facts === undefined || facts.problem !== undefined) return facts?.problem;
  if (facts.fate === 'lost')
    return fault(
      'clicks are lost: neither the database nor the spool accepts them',
      'free some disk space and check the folder of --spool; the log has the reason',
    );
  if (facts.fate === 'spooled')
    return warning(
      'clicks are written to the spool, because the database does not accept them',
      "keep the node's disk; the node moves the clicks to the database once it has recovered",
    );
  const { waiting = 0 } = facts;
  if (waiting === 0) return ok('recorded');
  return warning(
    `${printCountOf(waiting, 'click')} waiting in the spool`,
    'start a server with this --spool to record them',
  );
}
