// Shared by the tests of pulls: a database, a fake network, and a clock that only waiting moves.

import { openCataloguePull } from '@offerbook/feeds/pull/open-catalogue-pull.ts';
import { openSalePull } from '@offerbook/feeds/pull/open-sale-pull.ts';
import type { NetworkName } from '@offerbook/feeds/source/source-file.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { type Row, sourceFor } from '../../../feeds/test/fixture.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { pullSource } from '../../src/pull/pull-source.ts';
import type { PullableSource, PullOptions, StreamReport } from '../../src/pull/source-run.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import type { TestDatabase } from '../support/databases.ts';
import { FakeNetwork, PULL_SECRETS } from './fake-network.ts';

export const DAY_MS = 86_400_000;
export const START_MS = Date.UTC(2026, 10, 20);

export class PullTest implements AsyncDisposable {
  readonly network: FakeNetwork;
  readonly stores: Stores;
  readonly org: Organisation;
  readonly url: string;
  readonly notes: string[] = [];
  nowMs = START_MS;
  readonly #name: NetworkName;

  private constructor(name: NetworkName, url: string, stores: Stores, org: Organisation) {
    this.#name = name;
    this.network = new FakeNetwork(name);
    this.url = url;
    this.stores = stores;
    this.org = org;
  }

  static async open(name: NetworkName, database: TestDatabase): Promise<PullTest> {
    const url = await database.create();
    const holder: { test?: PullTest } = {};
    const stores = await openStores(url, CREATE_OPTIONS, () => holder.test?.nowMs ?? START_MS);
    const org = await stores.organisations.create('acme');
    if (org === undefined) throw new Error('the organisation exists');
    holder.test = new PullTest(name, url, stores, org);
    return holder.test;
  }

  pullable(changes: Row = {}): PullableSource {
    const source = sourceFor(this.#name, { baseUrl: this.network.baseUrl, ...changes });
    const pull = openSalePull(source);
    if (pull === undefined) throw new Error(`${this.#name} cannot be pulled`);
    return {
      source,
      overlay: new Map(),
      pull,
      catalogue: openCataloguePull(source),
      secrets: PULL_SECRETS[this.#name] ?? {},
      coupons: undefined,
    };
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

  pull(options: Partial<PullOptions> = {}, changes: Row = {}): Promise<StreamReport[]> {
    return pullSource(
      this.pullable(changes),
      {
        only: 'transactions',
        org: this.org,
        startMs: this.nowMs - 60 * DAY_MS,
        by: 'test@host',
        version: '0',
        onNote: (note) => this.notes.push(note),
        ...options,
      },
      this.context,
    );
  }

  /** The stored transactions by id. */
  async stored(org = this.org): Promise<Map<string, Transaction>> {
    const found = new Map<string, Transaction>();
    await this.stores.transactions.read(org.id, async (batch) => {
      for (const { id, document } of batch) found.set(id, JSON.parse(document));
    });
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.network[Symbol.dispose]();
    await this.stores.close();
  }
}

/** The sum of all counts. */
export function total(reports: readonly StreamReport[]) {
  const sum = (name: 'added' | 'changed' | 'unchanged' | 'invalid') =>
    reports.reduce((count, { counts }) => count + counts[name], 0);
  return {
    added: sum('added'),
    changed: sum('changed'),
    unchanged: sum('unchanged'),
    invalid: sum('invalid'),
  };
}

export function errorsOf(reports: readonly StreamReport[]): (string | null)[] {
  return reports.map(({ error }) => error);
}
