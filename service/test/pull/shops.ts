// Pulls catalogues from the sandbox's fake networks into a database, with a clock that only waiting moves, and compares the
// database with what the networks offer.

import type { NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { FakeNetworksOptions } from '@offerbook/sandbox/networks/fake-networks.ts';
import type { FaultPlan } from '@offerbook/sandbox/networks/faults.ts';
import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { PullOptions, StreamReport } from '../../src/pull/source-run.ts';
import type { TestDatabase } from '../support/databases.ts';
import { storedOffers, storedRetailers, trueOffers } from './catalogue-truth.ts';
import { pullable } from './network-pull.ts';
import { PullRig } from './pull-rig.ts';
import { ServedNetworks } from './served-networks.ts';

/** The fakes' deals change every full hour. */
const START_MS = Date.UTC(2026, 10, 14, 12, 5);

export class Shops extends PullRig {
  readonly networks: ServedNetworks;
  protected override readonly served: ServedNetworks;
  fault: FaultPlan = () => undefined;

  private constructor(options: Partial<FakeNetworksOptions>) {
    super(START_MS);
    this.networks = new ServedNetworks({
      ...{ seed: 7, sinceMs: START_MS - DAY_MS, density: { salesPerDay: 5, cellMs: HOUR_MS } },
      ...{ pageSizeMax: 5, programmes: 6, clock: () => this.nowMs },
      faults: (...request) => this.fault(...request),
      ...options,
    });
    this.served = this.networks;
  }

  static open(database: TestDatabase, options: Partial<FakeNetworksOptions> = {}): Promise<Shops> {
    return new Shops(options).openDatabase(database);
  }

  /** Pulls only the catalogue, unless the options say otherwise. */
  pull(
    network: NetworkName,
    options: Partial<PullOptions> = {},
    stores: Stores = this.stores,
  ): Promise<StreamReport[]> {
    const startMs = this.nowMs - DAY_MS;
    const how = { only: 'catalogue', org: undefined, startMs, ...options } as const;
    return this.run(pullable(network, this.networks.url), how, stores);
  }

  stored(): Promise<Retailer[]> {
    return storedRetailers(this.stores);
  }

  /** What the database offers, in a form that can be compared with `truth`. */
  offered(): Promise<string[]> {
    return storedOffers(this.stores);
  }

  /** What the networks offer at this time. */
  truth(...networks: readonly NetworkName[]): string[] {
    return trueOffers(this.networks.fakes.ledger, networks, this.nowMs);
  }
}
