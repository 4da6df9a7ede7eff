// One pull per source at a time. The import checks the lease, so a pull that was frozen for long cannot overwrite the work of its
// successor.

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { Refused } from '@offerbook/wire/failures.ts';
import { type LeaseStore, type LeaseTimings, openLease } from '../domain/lease.ts';

/** Longer than most imports, which can delay a renewal on SQLite. */
const TIMINGS = { leaseMs: 60_000 };
/** A readable name, followed by the process's place and a random id in brackets. */
const HOLDER = /^(.* \(process (\d+)\)) \[(\S+) \S+\]$/s;

/** Throws Refused if another process is pulling from this source. */
export async function holdLease(
  store: LeaseStore,
  source: string,
  user: string,
  timings: Partial<LeaseTimings> = {},
) {
  const lease = openLease({
    ...{ store, name: source, timings: { ...TIMINGS, ...timings }, isDead },
    holder: `${user} (process ${process.pid}) [${place()} ${crypto.randomUUID()}]`,
  });
  const other = await lease.takeUnlessUsed();
  if (other !== undefined)
    throw new Refused(
      `${printHolder(other)} is pulling from ${source}; nothing was changed. Try again later`,
    );
  return {
    lease: { source, holder: lease.holder },
    [Symbol.asyncDispose]: () => lease.stop(true),
  };
}

function printHolder(holder: string): string {
  return HOLDER.exec(holder)?.[1] ?? holder;
}

/** True if the holder's process has ended, so that a restarted pull need not wait until the lease expires. */
function isDead(holder: string): boolean {
  const [, , processId, itsPlace] = HOLDER.exec(holder) ?? [];
  if (itsPlace !== place()) return false;
  try {
    process.kill(Number(processId), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Where process ids are unique. On Linux, that is one container since the last boot; containers can have the same host name. */
export function place(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
