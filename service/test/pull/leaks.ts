// Pulls from a network whose change filters do not list every change, until all sales of 13 months have been read again.

import type { NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { trueSales } from '@offerbook/sandbox/networks/true-sales.ts';
import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import type { TestDatabase } from '../support/databases.ts';
import { compareWithTruth, pullPass } from './network-pull.ts';
import { ServedNetworks } from './served-networks.ts';

const START_MS = Date.UTC(2026, 9, 1, 12);
/** Each of the 14 windows of 13 months may need two passes. */
const PASSES = 30;

/** Returns how the database differs from the network before and after old sales were read again, and the changes found. */
export async function runWithLeaks(
  network: NetworkName,
  database: TestDatabase,
  { leakShare, salesPerDay }: { readonly leakShare: number; readonly salesPerDay: number },
) {
  let nowMs = START_MS;
  let frozenMs = Number.POSITIVE_INFINITY;
  // Sales are reported up to 300 days late, and only sales of the last 396 days are read again.
  const sinceMs = START_MS - 50 * DAY_MS;
  await using networks = new ServedNetworks({
    ...{ sinceMs, leakShare, density: { salesPerDay, cellMs: DAY_MS } },
    ...{ areRatesEnforced: false, clock: () => Math.min(nowMs, frozenMs) },
  });
  const clock = () => nowMs;
  await using stores = closing(await openStores(await database.create(), CREATE_OPTIONS, clock));
  const org = await stores.organisations.create('acme');
  if (org === undefined) throw new Error('the organisation exists');
  const notes: string[] = [];
  const pass = () =>
    pullPass({
      ...{ network, stores, org, clock, baseUrl: networks.url, startMs: sinceMs - 310 * DAY_MS },
      ...{ sleep: async () => {}, random: () => 0.5, onNote: (note) => notes.push(note) },
    });
  const compare = () =>
    compareWithTruth(stores, org, network, trueSales(networks.fakes.ledger, network, frozenMs));
  for (let n = 0; n < 5; n++) {
    await pass();
    nowMs += 8 * DAY_MS;
  }
  frozenMs = nowMs;
  nowMs += HOUR_MS;
  await pass();
  const before = await compare();
  for (let n = 0; n < PASSES; n++) {
    nowMs += HOUR_MS;
    await pass();
  }
  const warnings = notes.flatMap((note) => /reread: (\d+) sales? had changed/.exec(note)?.[1] ?? []);
  const found = warnings.reduce((sum, count) => sum + Number(count), 0);
  return { before, after: await compare(), found };
}
