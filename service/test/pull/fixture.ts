// Pulls sales from a fake network whose rows the test chooses.

import type { NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { type Row, sourceFor } from '../../../feeds/test/fixture.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { PullableSource } from '../../src/pull/network-client.ts';
import type { PullOptions, StreamReport } from '../../src/pull/source-run.ts';
import { newOrganisation, readAllTransactions } from '../storage/open-test-stores.ts';
import { DATABASES, type TestDatabase } from '../support/databases.ts';
import { FakeNetwork } from './fake-network.ts';
import { PullRig, pullableOf } from './pull-rig.ts';

export const START_MS = Date.UTC(2026, 10, 20);

/** For tests of what does not depend on the database. */
export const [DATABASE] = DATABASES as readonly [TestDatabase, ...TestDatabase[]];

export class PullTest extends PullRig {
  readonly network = new FakeNetwork(() => this.nowMs);
  protected override readonly served = this.network;
  readonly #name: NetworkName;
  org!: Organisation;

  private constructor(name: NetworkName) {
    super(START_MS);
    this.#name = name;
  }

  static async open(name: NetworkName, database: TestDatabase): Promise<PullTest> {
    const test = await new PullTest(name).openDatabase(database);
    test.org = await newOrganisation(test.stores);
    return test;
  }

  pullable(changes: Row = {}): PullableSource {
    return pullableOf(sourceFor(this.#name, { baseUrl: this.network.url, ...changes }), this.#name);
  }

  /** Pulls only sales. */
  pull(
    options: Partial<PullOptions> = {},
    changes: Row = {},
    stores: Stores = this.stores,
  ): Promise<StreamReport[]> {
    return this.pullFrom(this.pullable(changes), options, stores);
  }

  pullFrom(
    source: PullableSource,
    options: Partial<PullOptions> = {},
    stores: Stores = this.stores,
  ): Promise<StreamReport[]> {
    const startMs = this.nowMs - 60 * DAY_MS;
    const how = { only: 'transactions', org: this.org, startMs, ...options } as const;
    return this.run(source, how, stores);
  }

  /** The stored transactions by id. */
  async stored(org = this.org): Promise<Map<string, Transaction>> {
    const rows = await readAllTransactions(this.stores, org.id);
    return new Map(rows.map(({ id, document }) => [id, JSON.parse(document)]));
  }
}

/** The sum of all counts. */
export function total(reports: readonly StreamReport[]) {
  const names = ['added', 'changed', 'unchanged', 'invalid'] as const;
  const sums = names.map((name) => [name, reports.reduce((sum, { counts }) => sum + counts[name], 0)]);
  return Object.fromEntries(sums) as Record<(typeof names)[number], number>;
}
