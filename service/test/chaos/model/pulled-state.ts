// Compares the database with the sales and catalogues of a fake network, while processes that pull are killed, and in the end.

import { ACCOUNTS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { Ledger } from '@offerbook/sandbox/networks/ledger.ts';
import { trueSales } from '@offerbook/sandbox/networks/true-sales.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Organisation } from '../../../src/domain/organisation.ts';
import { CATALOGUE } from '../../../src/domain/pull.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { storedOffers, trueOffers } from '../../pull/catalogue-truth.ts';
import { type Comparison, compareWithTruth } from '../../pull/network-pull.ts';
import type { Run } from '../report/run.ts';

export function pulledState(run: Run, network: NetworkName, ledger: Ledger, stores: Stores) {
  const key = { source: `${network}:${ACCOUNTS[network].account}`, orgId: 0, stream: CATALOGUE };
  const findComplete = async () => (await stores.pulls.find(key))?.completeThroughMs ?? undefined;
  const offersAt = (atMs: number) => trueOffers(ledger, [network], atMs);
  const positions = new Map<string, number>();

  async function checkPositions(): Promise<void> {
    for (const { stream, completeThroughMs } of await stores.pulls.list()) {
      const atMs = completeThroughMs ?? 0;
      // Old sales are read again from the start after the newest.
      if (stream !== 'reread' && atMs < (positions.get(stream) ?? 0))
        run.violation('BACK', `${network}: ${stream} has moved back to ${printTimestamp(atMs)}`);
      positions.set(stream, atMs);
    }
  }

  /**
   * Compares the stored catalogue with every catalogue of the network since the last complete pull began. What was in all of
   * them must be stored; what was in none of them must not.
   */
  async function checkCatalogue(nowMs: number, dealsEveryMs: number): Promise<void> {
    const sinceMs = await findComplete();
    const stored = await storedOffers(stores);
    // Another process has imported a catalogue in the meantime.
    if ((await findComplete()) !== sinceMs) return;
    const first = Math.floor((sinceMs ?? Number.POSITIVE_INFINITY) / dealsEveryMs);
    const lists: Set<string>[] = [];
    for (let update = first; update * dealsEveryMs <= nowMs; update++)
      lists.push(new Set(offersAt(update * dealsEveryMs)));
    for (const line of lists[0] ?? [])
      if (lists.every((lines) => lines.has(line)) && !stored.includes(line))
        run.violation('TORN', `missing after a kill: ${line}`);
    for (const line of stored)
      if (!lists.some((lines) => lines.has(line))) run.violation('TORN', `extra after a kill: ${line}`);
  }

  return {
    /** The network changes its deals at multiples of `dealsEveryMs`. */
    async checkAfterKill(nowMs: number, dealsEveryMs: number): Promise<void> {
      await checkPositions();
      await checkCatalogue(nowMs, dealsEveryMs);
    },

    /** After the last pull, the database must equal the network at this time. */
    async checkAtEnd(org: Organisation, nowMs: number): Promise<void> {
      const truth = trueSales(ledger, network, nowMs);
      reportSales(run, network, await compareWithTruth(stores, org, network, truth));
      const [offered, stored] = [offersAt(nowMs), await storedOffers(stores)];
      for (const line of offered)
        if (!stored.includes(line)) run.violation('CATALOGUE', `${network}: not offered: ${line}`);
      for (const line of stored)
        if (!offered.includes(line)) run.violation('CATALOGUE', `${network}: not withdrawn: ${line}`);
    },
  };
}

/** Reports how the sales in the database differ from the network's. */
export function reportSales(
  run: Run,
  network: NetworkName,
  { examples, sales, versions, ...differences }: Comparison,
): void {
  run.count('sales', sales);
  run.count('versions', versions);
  for (const [kind, count] of Object.entries(differences))
    if (count > 0) run.violation(kind.toUpperCase(), `${network}: ${count}, such as ${examples.join('; ')}`);
}
