// The catalogues of a fake network over time, to check the stored one at any moment.

import { ACCOUNTS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { Ledger } from '@offerbook/sandbox/networks/ledger.ts';
import { CATALOGUE } from '../../../src/domain/pull.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { storedOffers, trueOffers } from '../../pull/catalogue-truth.ts';

export class NetworkCatalogue {
  readonly #network: NetworkName;
  readonly #ledger: Ledger;
  readonly #dealsEveryMs: number;
  readonly #updates = new Map<number, ReadonlySet<string>>();

  constructor(network: NetworkName, ledger: Ledger, dealsEveryMs: number) {
    this.#network = network;
    this.#ledger = ledger;
    this.#dealsEveryMs = dealsEveryMs;
  }

  /** How the stored catalogue differs from the network's at this time. */
  async compare(stores: Stores, nowMs: number): Promise<string[]> {
    const [offered, stored] = [trueOffers(this.#ledger, [this.#network], nowMs), await storedOffers(stores)];
    return [
      ...offered.filter((line) => !stored.includes(line)).map((line) => `not offered: ${line}`),
      ...stored.filter((line) => !offered.includes(line)).map((line) => `not withdrawn: ${line}`),
    ];
  }

  /**
   * Compares the stored catalogue with every catalogue of the network since the last complete pull began. What was in all of
   * them must be stored; what was in none of them must not.
   */
  async findTorn(stores: Stores, nowMs: number): Promise<string[]> {
    const key = {
      source: `${this.#network}:${ACCOUNTS[this.#network].account}`,
      orgId: 0,
      stream: CATALOGUE,
    };
    const find = async () => (await stores.pulls.find(key))?.completeThroughMs ?? undefined;
    const sinceMs = await find();
    const stored = await storedOffers(stores);
    // Another process has imported a catalogue in the meantime.
    if ((await find()) !== sinceMs) return [];
    const lists: ReadonlySet<string>[] = [];
    const last = Math.floor(nowMs / this.#dealsEveryMs);
    for (let update = Math.floor((sinceMs ?? Number.NaN) / this.#dealsEveryMs); update <= last; update++)
      lists.push(this.#offersOf(update));
    const [first = new Set<string>()] = lists;
    const missing = [...first].filter(
      (line) => lists.every((lines) => lines.has(line)) && !stored.includes(line),
    );
    const extra = stored.filter((line) => !lists.some((lines) => lines.has(line)));
    return [
      ...missing.map((line) => `missing after a kill: ${line}`),
      ...extra.map((line) => `extra after a kill: ${line}`),
    ];
  }

  /** What the network offers after an update of its deals. */
  #offersOf(update: number): ReadonlySet<string> {
    const lines =
      this.#updates.get(update) ??
      new Set(trueOffers(this.#ledger, [this.#network], update * this.#dealsEveryMs));
    this.#updates.set(update, lines);
    return lines;
  }
}
