// One pull per source at a time. The lease is in the database. A pull extends it while it runs, and the import checks it, so a
// pull that was frozen for long cannot overwrite the work of its successor.

import { hostname } from 'node:os';
import { Refused } from '@offerbook/wire/failures.ts';
import type { Lease, PullStore } from '../domain/pull.ts';

const EXTEND_MS = 20_000;
const HOLDER = /^(.*) \(process (\d+)\)$/s;

export interface HeldLease extends AsyncDisposable {
  readonly lease: Lease;
}

/** Throws Refused if another process is pulling from this source. */
export async function holdLease(store: PullStore, source: string, user: string): Promise<HeldLease> {
  const lease = { source, holder: `${user} (process ${process.pid})` };
  const other = await store.takeLease(lease);
  if (other !== undefined) {
    if (!isDead(other, user)) {
      throw new Refused(`${other} is pulling from ${source}; nothing was changed. Try again later`);
    }
    await store.endLease({ source, holder: other });
    if ((await store.takeLease(lease)) !== undefined)
      throw new Refused(`another process is pulling from ${source}`);
  }
  const timer = setInterval(() => {
    // If this fails, the next attempt or the import reports it.
    store.takeLease(lease).catch(() => undefined);
  }, EXTEND_MS);
  return {
    lease,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await store.endLease(lease);
    },
  };
}

/** True if the holder ran on this machine and has ended, so that a restarted pull need not wait for the lease to expire. */
function isDead(holder: string, user: string): boolean {
  const [, name, processId] = HOLDER.exec(holder) ?? [];
  if (name?.endsWith(`@${hostname()}`) !== true || name !== user) return false;
  try {
    process.kill(Number(processId), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
