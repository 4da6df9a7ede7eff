// The networks' limits: pulls that share a credential share its budget, and a pull that is refused waits long enough.

import { expect, test } from 'bun:test';
import { ACCOUNTS, NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { pullSource } from '../../src/pull/pull-source.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { newOrganisation } from '../storage/open-test-stores.ts';
import { DATABASE, PullTest, START_MS } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';
import { Shops } from './shops.ts';

/** A clock for several pulls at once. It moves to the next alarm when all of them sleep. */
class SharedTime {
  nowMs: number;
  #pulls = 0;
  #alarms: { readonly atMs: number; readonly wake: () => void }[] = [];

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#alarms.push({ atMs: this.nowMs + Math.ceil(ms), wake: resolve });
    this.#advance();
    return promise;
  }

  async runAll<T>(pulls: readonly (() => Promise<T>)[]): Promise<T[]> {
    this.#pulls = pulls.length;
    return Promise.all(
      pulls.map((pull) =>
        pull().finally(() => {
          this.#pulls--;
          this.#advance();
        }),
      ),
    );
  }

  #advance(): void {
    if (this.#alarms.length === 0 || this.#alarms.length < this.#pulls) return;
    this.#alarms.sort((a, b) => a.atMs - b.atMs);
    const next = this.#alarms.shift();
    this.nowMs = Math.max(this.nowMs, next?.atMs ?? 0);
    next?.wake();
  }
}

test('two pulls with one credential send at most 20 requests to Awin in any minute', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  const time = new SharedTime(START_MS);
  const sentAtMs: number[] = [];
  for (let n = 0; n < 200; n++) {
    t.network.planned.push(() => {
      sentAtMs.push(time.nowMs);
      return undefined;
    });
  }
  await using stores = closing(await openStores(t.url, CREATE_OPTIONS, () => time.nowMs));
  const context = {
    ...{ stores, clock: () => time.nowMs, random: () => 0.5 },
    sleep: (ms: number) => time.sleep(ms),
  };
  const options = {
    only: 'transactions' as const,
    org: t.org,
    startMs: START_MS - 396 * DAY_MS,
    by: 'test@host',
    version: '0',
  };
  const pulls = ['77777', '88888'].map(
    (account) => () => pullSource(t.pullable({ account }), options, context),
  );
  const reports = await time.runAll(pulls);
  expect(reports.flatMap(errorsOf)).toEqual(Array(6).fill(null));
  expect(sentAtMs.length).toBeGreaterThan(80);
  const inMinute = sentAtMs.map(
    (fromMs) => sentAtMs.filter((ms) => fromMs <= ms && ms < fromMs + MINUTE_MS).length,
  );
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(20);
  // Together they use the budget of one.
  expect(Math.max(...inMinute)).toBeGreaterThan(14);
});

const RATES = { awin: 20, impact: 1_000, partnerize: 300, cj: 120, rakuten: 100 };
const PATHS = {
  awin: `/publishers/${ACCOUNTS.awin.account}/transactions/`,
  impact: `/Mediapartners/${ACCOUNTS.impact.account}/Actions`,
  partnerize: `/reporting/report_publisher/publisher/${ACCOUNTS.partnerize.account}/conversion.json`,
  cj: '/query',
  rakuten: '/events/1.0/transactions',
};

test.each(NETWORKS)(
  '%s: a pull that is refused because another program has used the rate waits, and is not refused again',
  async (network) => {
    const density = { salesPerDay: 40, cellMs: DAY_MS };
    await using shops = await Shops.open(DATABASE, {
      density,
      sinceMs: START_MS - 50 * DAY_MS,
      pageSizeMax: 100,
    });
    // In the middle of a minute: a network may count by the minute of the clock or by the last 60 seconds.
    shops.nowMs = START_MS + 50_000;
    const org = await newOrganisation(shops.stores);
    const method = network === 'cj' ? 'POST' : 'GET';
    const request = () => shops.fakes.answer(new Request(shops.baseUrl + PATHS[network], { method }));
    for (let pass = 0; pass < 2; pass++) {
      await Promise.all(Array.from({ length: RATES[network] }, request));
      shops.answered.length = 0;
      const startMs = START_MS - 12 * DAY_MS;
      const reports = await shops.pull(network, { only: 'transactions', org, startMs });
      expect(errorsOf(reports)).toEqual(reports.map(() => null));
      const refused = shops.answered.map(({ status }) => status !== 200);
      expect(refused).toContain(true);
      expect(refused.filter((isRefused, index) => isRefused && refused[index - 1] === true)).toEqual([]);
      shops.nowMs += DAY_MS;
    }
  },
);

test('Rakuten: sales and catalogue share one token, and a pull after a killed pull waits for a second token', async () => {
  await using shops = await Shops.open(DATABASE, { isSecondTokenRefused: true });
  const org = await newOrganisation(shops.stores);
  const tokens = () => shops.answered.filter(({ target }) => target === '/token').map(({ status }) => status);
  await shops.pull('rakuten', { only: undefined, org });
  expect(tokens()).toEqual([200]);
  // The token of the first pull is still valid, as if the pull had been killed.
  const [report] = await shops.pull('rakuten');
  expect(report?.error).toBeNull();
  // It is refused once, and then waits long enough.
  expect(tokens()).toEqual([200, 403, 200]);
  expect(await shops.offered()).toEqual(shops.truth('rakuten'));
});
