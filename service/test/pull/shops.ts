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
import type { Stores } from '../../src/domain/stores.ts';
import { pullSource } from '../../src/pull/pull-source.ts';
import type { PullOptions, StreamReport } from '../../src/pull/source-run.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import type { TestDatabase } from '../support/databases.ts';
import { pullable } from './network-pull.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** The fakes' deals change every full hour. */
const START_MS = Date.UTC(2026, 10, 14, 12, 5);
const LOGO = { logo: 'https://logos.example/{advertiser}.png' };

/** Replaces a network's response; undefined answers normally. */
type Interception = (request: Request) => Response | undefined;

export class Shops implements AsyncDisposable {
  readonly url: string;
  readonly stores: Stores;
  readonly fakes: FakeNetworks;
  readonly answered: AnsweredRequest[] = [];
  readonly notes: string[] = [];
  nowMs = START_MS;
  fault: (network: NetworkName, number: number, target?: string) => Fault | undefined = () => undefined;
  intercept: Interception = () => undefined;
  readonly #server: Bun.Server<undefined>;

  private constructor(url: string, stores: Stores, options: Partial<FakeNetworksOptions>) {
    this.url = url;
    this.stores = stores;
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
    const url = await database.create();
    const holder: { shops?: Shops } = {};
    const stores = await openStores(url, CREATE_OPTIONS, () => holder.shops?.nowMs ?? START_MS);
    holder.shops = new Shops(url, stores, options);
    return holder.shops;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get context() {
    return {
      stores: this.stores,
      clock: () => this.nowMs,
      sleep: async (ms: number) => {
        this.nowMs += Math.ceil(ms);
      },
      random: () => 0.5,
    };
  }

  /** Pulls only the catalogue, unless the options say otherwise. */
  pull(
    network: NetworkName,
    options: Partial<PullOptions> = {},
    stores: Stores = this.stores,
  ): Promise<StreamReport[]> {
    return pullSource(
      pullable(network, this.baseUrl, LOGO),
      {
        only: 'catalogue',
        org: undefined,
        startMs: this.nowMs - DAY_MS,
        by: 'test@host',
        version: '0',
        onNote: (note) => this.notes.push(note),
        ...options,
      },
      { ...this.context, stores },
    );
  }

  /** The stored retailers. */
  async stored(): Promise<Retailer[]> {
    const found: Retailer[] = [];
    await this.stores.catalogue.read(async (batch) => {
      for (const { document } of batch) found.push(JSON.parse(document));
    });
    return found;
  }

  /** What the database offers, in a form that can be compared with `truth`. */
  async offered(): Promise<string[]> {
    return (await this.stored()).flatMap((retailer) => print(retailer)).sort();
  }

  /** What the networks offer at this time. */
  truth(...networks: readonly NetworkName[]): string[] {
    return networks
      .flatMap((network) =>
        this.fakes.ledger
          .programmes(network, this.nowMs)
          .flatMap(({ retailer }) => print(expressible(network, retailer as unknown as Retailer))),
      )
      .sort();
  }

  /** The network of a retailer, by its name. */
  networkOf(name: string): NetworkName | undefined {
    return NETWORKS.find((network) =>
      this.fakes.ledger.programmes(network, this.nowMs).some(({ retailer }) => retailer.name === name),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
    await this.stores.close();
  }
}

/** The parts of a retailer that a network's catalogue has. */
function expressible(network: NetworkName, retailer: Retailer): Retailer {
  switch (network) {
    case 'impact':
      return {
        ...retailer,
        promotions: retailer.promotions.map((promotion) => ({ ...promotion, deepLink: retailer.url })),
      };
    case 'partnerize':
      return { ...retailer, promotions: [] };
    case 'rakuten':
      return {
        ...retailer,
        cashbackOffers: retailer.cashbackOffers.filter((offer) => offer.maximumFixedCommissionFee === null),
      };
    default:
      return retailer;
  }
}

function print({ name, url, cashbackOffers, coupons, promotions }: Retailer): string[] {
  return [
    `${name} ${url}`,
    ...cashbackOffers.map(
      (offer) => `${name}: offer ${offer.cashbackPercentage} ${offer.maximumFixedCommissionFee}`,
    ),
    ...coupons.map(({ code }) => `${name}: coupon ${code}`),
    ...promotions.map(({ deepLink }) => `${name}: promotion ${deepLink}`),
  ];
}

export function errorsOf(reports: readonly StreamReport[]): (string | null)[] {
  return reports.map(({ error }) => error);
}
