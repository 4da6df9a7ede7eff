// The networks' limits: pulls that share a credential share its budget, and a pull that is refused waits long enough.

import { expect, test } from 'bun:test';
import { ACCOUNTS, NETWORKS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { FakeNetworksOptions } from '@offerbook/sandbox/networks/fake-networks.ts';
import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { pullSource } from '../../src/pull/pull-source.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { PullTest, START_MS } from './fixture.ts';
import { pullPass } from './network-pull.ts';
import { errorsOf } from './pull-rig.ts';
import { ServedNetworks } from './served-networks.ts';

const [SQLITE] = DATABASES;
if (SQLITE === undefined) throw new Error('there is no database to test with');

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
  await using t = await PullTest.open('awin', SQLITE);
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

/** Another program uses the same credentials before each of a few pulls. */
async function pullBesideAnother(
  network: NetworkName,
  limits: Partial<FakeNetworksOptions>,
  other: (send: (path: string, init: RequestInit) => Promise<Response>) => Promise<unknown>,
) {
  // In the middle of a minute: a network may count by the minute of the clock or by the last 60 seconds.
  let nowMs = START_MS + 50_000;
  await using networks = new ServedNetworks({
    ...{ sinceMs: START_MS - 12 * DAY_MS, density: { salesPerDay: 40, cellMs: DAY_MS } },
    ...{ clock: () => nowMs, ...limits },
  });
  const url = await SQLITE?.create();
  await using stores = closing(await openStores(url ?? '', CREATE_OPTIONS, () => nowMs));
  const org = await stores.organisations.create('acme');
  if (org === undefined) throw new Error('the organisation exists');
  const errors: (string | null)[] = [];
  const statuses: number[] = [];
  for (let pass = 0; pass < 2; pass++) {
    await other((path, init) => networks.fakes.answer(new Request(networks.url + path, init)));
    networks.answered.length = 0;
    const reports = await pullPass({
      ...{ network, stores, org, baseUrl: networks.url, startMs: START_MS - 12 * DAY_MS },
      ...{ clock: () => nowMs, random: () => 0.5 },
      sleep: async (ms) => {
        nowMs += Math.ceil(ms);
      },
    });
    errors.push(...errorsOf(reports));
    statuses.push(...networks.answered.map(({ status }) => status));
    nowMs += DAY_MS;
  }
  return { errors, statuses };
}

/** Requests that were refused, and how many of them followed another one. */
function refusals(statuses: readonly number[]): { refused: number; inARow: number } {
  const isRefused = (status: number | undefined) => status !== undefined && status !== 200;
  return {
    refused: statuses.filter(isRefused).length,
    inARow: statuses.filter((status, index) => isRefused(status) && isRefused(statuses[index - 1])).length,
  };
}

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
    const method = network === 'cj' ? 'POST' : 'GET';
    const { errors, statuses } = await pullBesideAnother(network, {}, (send) =>
      Promise.all(Array.from({ length: RATES[network] }, () => send(PATHS[network], { method }))),
    );
    expect(errors.filter((error) => error !== null)).toEqual([]);
    const { refused, inARow } = refusals(statuses);
    expect(refused).toBeGreaterThan(0);
    expect(inARow).toBe(0);
  },
);

test('Rakuten: a pull waits while the network refuses a second token', async () => {
  const { account, credentials } = ACCOUNTS.rakuten;
  const { errors, statuses } = await pullBesideAnother('rakuten', { isSecondTokenRefused: true }, (send) =>
    send('/token', {
      method: 'POST',
      headers: { Authorization: `Bearer ${btoa(`${credentials.clientId}:${credentials.clientSecret}`)}` },
      body: new URLSearchParams({ scope: account }),
    }),
  );
  expect(errors.filter((error) => error !== null)).toEqual([]);
  expect(refusals(statuses)).toEqual({ refused: 2, inARow: 0 });
});
