// Kills, freezes and disconnects processes that pull sales and catalogues from fake networks, which also fail. After every
// kill, the stored catalogue must be the last complete one. In the end, the database must equal the network's data. Afterwards, the
// pulls must detect networks whose filters do not list every change.

import { ACCOUNTS, NETWORKS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { closing } from '../../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { runWithLeaks } from '../../pull/leaks.ts';
import { DECIDED_MS } from '../../pull/network-pull.ts';
import { virtualClock } from '../../pull/virtual-clock.ts';
import { until } from '../../support/until.ts';
import { SALES_PATH, startFakeNetwork } from '../cluster/fake-network-server.ts';
import { createOrganisation } from '../cluster/seed.ts';
import { pulledState, reportSales } from '../model/pulled-state.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { nextImport, startPuller } from '../traffic/puller.ts';
import type { PullOrder } from '../traffic/puller-process.ts';

const START_MS = Date.UTC(2026, 5, 1, 12);
/** A real second is almost five virtual days: far more than the overlap of two windows, which would repair the loss of one. */
const SPEED = 400_000;
/** Slower, because Rakuten deletes rows after two weeks, which are four minutes at this speed. */
const RAKUTEN_SPEED = 5_000;
/** Rakuten's rows must be read before they are deleted, so pulls that are further behind are not interrupted. */
const RAKUTEN_LAG_MAX_MS = 7 * DAY_MS;
/** For the last pull, whose windows must not multiply while it runs. */
const FINAL_SPEED = 2_000;
const WAIT_MAX_MS = 3 * MINUTE_MS;

export const pull: Scenario = {
  name: 'pull',
  guarantee: 'pulls that are killed, frozen or disconnected lose, double and tear nothing',
  minutes: 20,
  options: {
    kills: { type: 'string', default: '20', help: 'kills per network, besides other disturbances' },
    network: { type: 'string', multiple: true, help: `${NETWORKS.join(', ')}; all if absent` },
    days: { type: 'string', help: 'days of sales that the first pull finds (default: 200, Rakuten: 3)' },
  },
  mustHappen: ['kills', 'sales'],
  short: { minutes: 2, values: { kills: '4', network: ['impact'], days: '20' } },
  async run(run) {
    const networks = run.choose('network', NETWORKS);
    for (const [index, network] of networks.entries()) {
      const left = networks.length - index;
      await pullFrom(run, network, performance.now() + (run.endMs - performance.now()) / left);
      // Rakuten keeps no old sales that could be read again.
      if (network !== 'rakuten' && run.text('days') === '') await pullLeaking(run, network);
    }
  },
};

async function pullFrom(run: Run, network: NetworkName, endMs: number): Promise<void> {
  const random = run.random('pull', network);
  const isRakuten = network === 'rakuten';
  const historyDays = Number(run.text('days') || (isRakuten ? 3 : 200));
  const time = { realMs: Date.now(), virtualMs: START_MS, speed: isRakuten ? RAKUTEN_SPEED : SPEED };
  const { now } = virtualClock(time);
  const sinceMs = START_MS - historyDays * DAY_MS;
  const fake = startFakeNetwork(run, network, { time, sinceMs, salesPerDay: isRakuten ? 60 : 4 });
  const databaseUrl = await run.database.create();
  const stores = run.use(closing(await openStores(databaseUrl, CREATE_OPTIONS, now)));
  const org = await createOrganisation(stores, 'acme');
  const state = pulledState(run, network, fake.ledger, stores);
  const order: PullOrder = {
    ...{ databaseUrl, network, baseUrl: fake.baseUrl, time, untilMs: Number.MAX_SAFE_INTEGER },
    startMs: START_MS - (isRakuten ? 20 : historyDays + 10) * DAY_MS,
  };
  const start = (final: Partial<PullOrder> = {}) => startPuller(run, { ...order, ...final });
  const counts = { kills: 0, freezes: 0, disconnections: 0 };
  let child = start();
  const kill = async (victim: typeof child) => {
    victim.kill('SIGKILL');
    await victim.exited;
    counts.kills++;
    await state.checkAfterKill(now(), fake.dealsEveryMs);
  };
  const catchUp = async () => {
    const key = { source: `rakuten:${ACCOUNTS.rakuten.account}`, orgId: org.id, stream: 'process' };
    const throughMs = async () => (await stores.pulls.find(key))?.completeThroughMs ?? START_MS;
    await until(throughMs, (value) => now() - value < RAKUTEN_LAG_MAX_MS, WAIT_MAX_MS);
  };
  const restart = async () => {
    await kill(child);
    child = start();
  };
  const disturbances = [
    async () => {
      await restart();
      // A new process has much to import, so its kill can lose much.
      await (random.chance(0.5) ? fake.nextRequest(SALES_PATH) : nextImport(stores, false));
      await restart();
    },
    async () => {
      // Another pull takes over while the first one is frozen. Afterwards, the first one tries to import, but must not write. A
      // new process reads new sales before old ones.
      await restart();
      counts.freezes++;
      await fake.nextRequest(SALES_PATH);
      child.kill('SIGSTOP');
      const other = start();
      await nextImport(stores, true);
      await kill(other);
      child.kill('SIGCONT');
      await nextImport(stores, true);
      await restart();
    },
    async () => {
      counts.disconnections++;
      await fake.disconnect(random.between(1, 100));
    },
  ];
  for (let round = 0; counts.kills < run.number('kills') && performance.now() < endMs; round++) {
    if (isRakuten) await catchUp();
    if (random.chance(0.5)) await nextImport(stores, random.chance(0.5));
    else {
      await fake.nextRequest();
      await Bun.sleep(random.logBetween(1, random.chance(0.5) ? 50 : 2_000));
    }
    await disturbances[round % disturbances.length]?.();
    if (child.exitCode !== null) throw new Error('a pull ended by itself');
  }
  await kill(child);
  const frozenMs = fake.freeze();
  const finalMs = frozenMs + DECIDED_MS;
  const finalTime = { realMs: Date.now(), virtualMs: finalMs, speed: FINAL_SPEED };
  const final = start({ time: finalTime, untilMs: finalMs - 1 });
  const passes = new Response(final.stdout).text();
  const ended = await Promise.race([final.exited, Bun.sleep(WAIT_MAX_MS)]);
  final.kill('SIGKILL');
  if (ended !== 0) throw new Error(`the last pull has not succeeded: ${(await passes).slice(-1_000)}`);
  await state.checkAtEnd(org, frozenMs);
  for (const [what, count] of Object.entries(counts)) run.count(what, count);
  const virtualDays = Math.round((frozenMs - START_MS) / DAY_MS);
  run.rows.push({ network, ...counts, requests: fake.requests(), 'virtual days': virtualDays });
}

async function pullLeaking(run: Run, network: NetworkName): Promise<void> {
  const options = { leakShare: 0.3, salesPerDay: 60 };
  const { before, after, found } = await runWithLeaks(network, run.database, options);
  const { wrong } = before;
  reportSales(run, network, after);
  run.require(`${network}: reading old sales again finds unlisted changes`, found >= wrong, { found, wrong });
  run.count('unlisted changes', wrong);
}
