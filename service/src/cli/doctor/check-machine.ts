// Checks the machine: free disk space, the limit on open files, and the ports.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { freeBytes } from '../node/disk-reserve.ts';
import { findPort, type Place, urlOf } from '../node/listen.ts';
import { type Check, fault, ok, warning } from './check.ts';
import { livenessProblem } from './liveness-problem.ts';

const FREE_FAULT_BYTES = 64 * 1024 * 1024;
const FREE_WARNING_BYTES = 1024 * 1024 * 1024;
/** Enough for connections from a few proxies, the database and the log. */
const OPEN_FILES_MIN = 4_096;
/** The address at which this machine reaches a server that listens on all addresses. */
const THIS_MACHINE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** `neededBytes` is the space that a backup or an upgrade needs; `reserveMegabytes` is the --disk-reserve. */
export function checkDisk(
  check: string,
  folder: string,
  { neededBytes = 0, reserveMegabytes = 0 }: { neededBytes?: number; reserveMegabytes?: number },
): Check {
  const free = freeBytes(folder);
  if (free === undefined)
    return fault(check, `${resolve(folder)} cannot be read`, 'check that the folder exists');
  const found = `${printBytes(free)} free in ${resolve(folder)}`;
  if (free < FREE_FAULT_BYTES)
    return fault(check, found, 'free some disk space: writes fail when the disk is full');
  if (free < reserveMegabytes * 1e6)
    return fault(
      check,
      found,
      `free some disk space: clicks are not recorded below ${reserveMegabytes} MB (--disk-reserve)`,
    );
  if (free < Math.max(FREE_WARNING_BYTES, neededBytes))
    return warning(
      check,
      found,
      `free some disk space: an import, an upgrade or a backup may need ${printBytes(Math.max(FREE_WARNING_BYTES, neededBytes))}`,
    );
  return ok(check, found);
}

export function checkOpenFiles(limits = readLimits()): Check {
  const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  if (soft === '') return ok('open files', 'this system does not report the limit');
  if (soft !== 'unlimited' && Number(soft) < OPEN_FILES_MIN) {
    return warning(
      'open files',
      `the limit is ${soft} open files, and each connection uses one`,
      `raise the limit to at least ${OPEN_FILES_MIN}: LimitNOFILE in systemd, ulimit -n in a shell`,
    );
  }
  return ok('open files', `the limit is ${soft}`);
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

export async function checkPort(check: string, { host, port, option }: Place): Promise<Check> {
  if (port === 0) return ok(check, 'any free port');
  const place = `${port} on ${host}`;
  const code = tryToListen({ host, port, option });
  if (code === undefined) return ok(check, `${place} is free`);
  if (code === 'EADDRINUSE') {
    const problem = await livenessProblem(urlOf(THIS_MACHINE[host] ?? host, port));
    if (problem === undefined) return ok(check, `${place} is used by a running Offerbook server`);
    return fault(check, `${place} is used by another program`, `choose another port with ${option}`);
  }
  if (code === 'EACCES')
    return fault(
      check,
      `this user is not allowed to listen on ${place}`,
      `choose a port above 1023 with ${option}`,
    );
  return fault(
    check,
    `${place} cannot be opened (${code})`,
    'check that --host is an address of this machine',
  );
}

/** Returns the error code; undefined if the port is free. */
function tryToListen(place: Place): string | undefined {
  try {
    findPort(place);
    return undefined;
  } catch (error) {
    const { code = 'unknown' } = (error as Error).cause as NodeJS.ErrnoException;
    return code;
  }
}

function printBytes(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
