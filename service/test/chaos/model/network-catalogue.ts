// Compares the stored catalogue with the catalogues that a fake network has had over time.

import { ACCOUNTS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { Ledger } from '@offerbook/sandbox/networks/ledger.ts';
import { CATALOGUE } from '../../../src/domain/pull.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { storedOffers, trueOffers } from '../../pull/catalogue-truth.ts';

export function networkCatalogue(network: NetworkName, ledger: Ledger, stores: Stores) {
  const key = { source: `${network}:${ACCOUNTS[network].account}`, orgId: 0, stream: CATALOGUE };
  const findComplete = async () => (await stores.pulls.find(key))?.completeThroughMs ?? undefined;
  const offersAt = (atMs: number) => trueOffers(ledger, [network], atMs);
  return {
    /** How the stored catalogue differs from the network's at this time. */
    async compare(nowMs: number): Promise<string[]> {
      const [offered, stored] = [offersAt(nowMs), await storedOffers(stores)];
      return [
        ...offered.filter((line) => !stored.includes(line)).map((line) => `not offered: ${line}`),
        ...stored.filter((line) => !offered.includes(line)).map((line) => `not withdrawn: ${line}`),
      ];
    },

    /**
     * Compares the stored catalogue with every catalogue of the network since the last complete pull began. What was in all of
     * them must be stored; what was in none of them must not. The network changes its deals at multiples of `dealsEveryMs`.
     */
    async findTorn(nowMs: number, dealsEveryMs: number): Promise<string[]> {
      const sinceMs = await findComplete();
      const stored = await storedOffers(stores);
      // Another process has imported a catalogue in the meantime.
      if ((await findComplete()) !== sinceMs) return [];
      const first = Math.floor((sinceMs ?? Number.POSITIVE_INFINITY) / dealsEveryMs);
      const lists: Set<string>[] = [];
      for (let update = first; update * dealsEveryMs <= nowMs; update++)
        lists.push(new Set(offersAt(update * dealsEveryMs)));
      const missing = [...(lists[0] ?? [])].filter(
        (line) => lists.every((lines) => lines.has(line)) && !stored.includes(line),
      );
      const extra = stored.filter((line) => !lists.some((lines) => lines.has(line)));
      return [
        ...missing.map((line) => `missing after a kill: ${line}`),
        ...extra.map((line) => `extra after a kill: ${line}`),
      ];
    },
  };
}
