// Looks at the machine: room on disks, the limit on open files, and whether the ports are free or answered by us.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { freeBytes } from '../node/disk-reserve.ts';
import { findPort, type Place, urlOf } from '../node/listen.ts';
import { type Check, fault, ok, warning } from './check.ts';
import { isOfferbook } from './probe.ts';

const FREE_FAULT_BYTES = 64 * 1024 * 1024;
const FREE_WARNING_BYTES = 1024 * 1024 * 1024;
/** Some connections for each proxy, beside what the database and the log need. */
const OPEN_FILES_MIN = 4_096;
/** Where a server that listens on all addresses is reached. */
const THIS_MACHINE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** `neededBytes`: what a backup or an upgrade will want. `reserveMegabytes`: below it no clicks are recorded. */
export function checkDisk(
  check: string,
  folder: string,
  { neededBytes = 0, reserveMegabytes = 0 }: { neededBytes?: number; reserveMegabytes?: number },
): Check {
  const free = freeBytes(folder);
  if (free === undefined)
    return fault(check, `${resolve(folder)} cannot be looked at`, 'see that the folder is there');
  const found = `${printBytes(free)} free in ${resolve(folder)}`;
  if (free < FREE_FAULT_BYTES) return fault(check, found, 'make room: writes fail when the disk is full');
  if (free < reserveMegabytes * 1e6)
    return fault(
      check,
      found,
      `make room: clicks are not recorded below ${reserveMegabytes} MB (--disk-reserve)`,
    );
  if (free < Math.max(FREE_WARNING_BYTES, neededBytes))
    return warning(
      check,
      found,
      `make room: an import, an upgrade or a backup may want ${printBytes(Math.max(FREE_WARNING_BYTES, neededBytes))}`,
    );
  return ok(check, found);
}

export function checkOpenFiles(limits = readLimits()): Check {
  const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  if (soft === '') return ok('open files', 'the limit cannot be seen on this system');
  if (soft !== 'unlimited' && Number(soft) < OPEN_FILES_MIN) {
    return warning(
      'open files',
      `at most ${soft}, and each connection is one`,
      `allow ${OPEN_FILES_MIN} at least: LimitNOFILE in systemd, ulimit -n in a shell`,
    );
  }
  return ok('open files', `at most ${soft}`);
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

export async function checkPort(check: string, { host, port, option }: Place): Promise<Check> {
  if (port === 0) return ok(check, 'any that is free');
  const place = `${port} on ${host}`;
  const code = tryToListen({ host, port, option });
  if (code === undefined) return ok(check, `${place} is free`);
  if (code === 'EADDRINUSE') {
    if (await isOfferbook(urlOf(THIS_MACHINE[host] ?? host, port)))
      return ok(check, `${place} is answered by Offerbook`);
    return fault(check, `${place} is taken by another program`, `choose another with ${option}`);
  }
  if (code === 'EACCES')
    return fault(check, `${place} may not be used by this user`, `choose one above 1023 with ${option}`);
  return fault(
    check,
    `${place} cannot be listened on (${code})`,
    'see that --host is an address of this machine',
  );
}

/** The code of the error; undefined when it is free. */
function tryToListen(place: Place): string | undefined {
  try {
    findPort(place);
    return undefined;
  } catch (error) {
    return (error as { cause: { code?: string } }).cause.code ?? 'unknown';
  }
}

function printBytes(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
