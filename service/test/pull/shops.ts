// Pulls catalogues from the sandbox's fake networks into a database, with a clock that only waiting moves, and compares the
// database with what the networks offer.

import { NETWORKS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import {
  type AnsweredRequest,
  FakeNetworks,
  type FakeNetworksOptions,
} from '@offerbook/sandbox/networks/fake-networks.ts';
import type { Fault } from '@offerbook/sandbox/networks/faults.ts';
import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DAY_MS, HOUR_MS } from '@offerbook/wire/time.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { PullOptions, StreamReport } from '../../src/pull/source-run.ts';
import type { TestDatabase } from '../support/databases.ts';
import { storedOffers, storedRetailers, trueOffers } from './catalogue-truth.ts';
import { pullable } from './network-pull.ts';
import { openPullDatabase, type PullDatabase, PullRig } from './pull-rig.ts';

/** The fakes' deals change every full hour. */
const START_MS = Date.UTC(2026, 10, 14, 12, 5);

/** Replaces a network's response; undefined answers normally. */
type Interception = (request: Request) => Response | undefined;

export class Shops extends PullRig implements AsyncDisposable {
  readonly fakes: FakeNetworks;
  readonly answered: AnsweredRequest[] = [];
  fault: (network: NetworkName, number: number, target?: string) => Fault | undefined = () => undefined;
  intercept: Interception = () => undefined;
  readonly #server: Bun.Server<undefined>;

  private constructor(database: PullDatabase, options: Partial<FakeNetworksOptions>) {
    super(database);
    this.fakes = new FakeNetworks({
      seed: 7,
      sinceMs: START_MS - DAY_MS,
      density: { salesPerDay: 5, cellMs: HOUR_MS },
      pageSizeMax: 5,
      programmes: 6,
      logoUrl: (id) => `https://logos.example/${id}.png`,
      clock: () => this.nowMs,
      faults: { draw: (...request) => this.fault(...request) },
      onAnswer: (entry) => this.answered.push(entry),
      ...options,
    });
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      development: false,
      fetch: (request) => this.intercept(request) ?? this.fakes.answer(request),
    });
  }

  static async open(database: TestDatabase, options: Partial<FakeNetworksOptions> = {}): Promise<Shops> {
    return new Shops(await openPullDatabase(database, START_MS), options);
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** Pulls only the catalogue, unless the options say otherwise. */
  pull(
    network: NetworkName,
    options: Partial<PullOptions> = {},
    stores: Stores = this.stores,
  ): Promise<StreamReport[]> {
    const startMs = this.nowMs - DAY_MS;
    const how = { only: 'catalogue', org: undefined, startMs, ...options } as const;
    return this.run(pullable(network, this.baseUrl), how, stores);
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
    return trueOffers(this.fakes.ledger, networks, this.nowMs);
  }

  /** The network of a retailer, by its name. */
  ipNetworkOf(name: string): NetworkName | undefined {
    return NETWORKS.find((network) =>
      this.fakes.ledger.programmes(network, this.nowMs).some(({ retailer }) => retailer.name === name),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
    await this.stores.close();
  }
}
