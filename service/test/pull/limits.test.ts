// The networks' limits: pulls that share a credential share its budget, and a pull that is refused waits long enough.

import { expect, test } from 'bun:test';
import { ACCOUNTS, NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { networkClient } from '../../src/pull/network-client.ts';
import { newOrganisation } from '../storage/open-test-stores.ts';
import { DATABASE, PullTest, START_MS } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';
import { Shops } from './shops.ts';

test('two sources with one credential send at most 20 requests to Awin in any minute', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  const clients = ['77777', '88888'].map((account) => networkClient(t.pullable({ account }), t.context));
  const request = { method: 'GET', url: 'https://x.example/publishers/77777/programmes' } as const;
  const sentAtMs: number[] = [];
  for (let n = 0; n < 20; n++) {
    for (const client of clients) {
      await client.fetch(request, async () => {});
      sentAtMs.push(t.nowMs);
    }
  }
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
    const request = () =>
      shops.networks.fakes.answer(new Request(shops.networks.url + PATHS[network], { method }));
    for (let pass = 0; pass < 2; pass++) {
      await Promise.all(Array.from({ length: RATES[network] }, request));
      shops.networks.answered.length = 0;
      const startMs = START_MS - 12 * DAY_MS;
      const reports = await shops.pull(network, { only: 'transactions', org, startMs });
      expect(errorsOf(reports)).toEqual(reports.map(() => null));
      const refused = shops.networks.answered.map(({ status }) => status !== 200);
      expect(refused).toContain(true);
      expect(refused.filter((isRefused, index) => isRefused && refused[index - 1] === true)).toEqual([]);
      shops.nowMs += DAY_MS;
    }
  },
);

test('Rakuten: sales and catalogue share one token, and a pull after a killed pull waits for a second token', async () => {
  await using shops = await Shops.open(DATABASE, { isSecondTokenRefused: true });
  const org = await newOrganisation(shops.stores);
  const tokens = () =>
    shops.networks.answered.filter(({ target }) => target === '/token').map(({ status }) => status);
  await shops.pull('rakuten', { only: undefined, org });
  expect(tokens()).toEqual([200]);
  // The token of the first pull is still valid, as if the pull had been killed.
  const [report] = await shops.pull('rakuten');
  expect(report?.error).toBeNull();
  // It is refused once, and then waits long enough.
  expect(tokens()).toEqual([200, 403, 200]);
  expect(await shops.offered()).toEqual(shops.truth('rakuten'));
});
