// A process that pulls from a fake network until it is killed, or until one pass has no errors. Prints one line per pass.

import type { NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { Refused } from '@offerbook/wire/failures.ts';
import { isStorageError } from '../../../src/domain/storage-error.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { pullPass } from '../../pull/network-pull.ts';
import { type VirtualTime, virtualClock } from '../../pull/virtual-clock.ts';
import { getOrganisation } from '../model/world.ts';

export interface PullOrder {
  readonly databaseUrl: string;
  readonly network: NetworkName;
  readonly baseUrl: string;
  readonly time: VirtualTime;
  readonly startMs: number;
  /** Ends after the first pass that starts after this virtual time and has no errors. */
  readonly untilMs: number;
}

const PAUSE_MS = 30 * 60_000;

if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? '') as PullOrder;
  const { network, baseUrl, startMs } = order;
  const { now, sleep } = virtualClock(order.time);
  const stores = await openStores(order.databaseUrl, CREATE_OPTIONS, now);
  const org = await getOrganisation(stores, 'acme');
  for (;;) {
    const startedMs = now();
    const errors: string[] = [];
    try {
      const how = { network, baseUrl, stores, org, startMs, clock: now, sleep, random: Math.random };
      const reports = await pullPass({ ...how, hasCatalogue: true });
      errors.push(...reports.flatMap(({ error }) => error ?? []));
    } catch (error) {
      // Another process pulls, or the database is unreachable.
      if (!(error instanceof Refused || isStorageError(error))) throw error;
      errors.push(error.message);
    }
    process.stdout.write(`${JSON.stringify(errors)}\n`);
    if (errors.length === 0 && startedMs > order.untilMs) break;
    await sleep(PAUSE_MS);
  }
  await stores.close();
}
