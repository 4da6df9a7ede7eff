// Kills, freezes and disconnects processes that pull sales and catalogues from fake networks, which also fail. After every
// kill, the stored catalogue must be the last complete one. In the end, the database must equal the network's data. Afterwards, the
// pulls must detect networks whose filters do not list every change.

import { join } from 'node:path';
import { ACCOUNTS, NETWORKS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { randomFaults } from '@offerbook/sandbox/networks/faults.ts';
import { trueSales } from '@offerbook/sandbox/networks/true-sales.ts';
import { DAY_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { closing } from '../../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../../src/storage/open-stores.ts';
import { runWithLeaks } from '../../pull/leaks.ts';
import { type Comparison, compareWithTruth, DECIDED_MS } from '../../pull/network-pull.ts';
import { virtualClock } from '../../pull/virtual-clock.ts';
import { until } from '../../support/until.ts';
import { createOrganisation } from '../cluster/seed.ts';
import { networkCatalogue } from '../model/network-catalogue.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';
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
const FAULT_SHARE = 0.03;
/** In real time: long enough to read a catalogue, short enough to change while it is read. */
const DEALS_EVERY_MS = 5_000;
const SALES_PATH = /\/(?:transactions|Actions|conversion\.json|query)\b/;
const WAIT_MAX_MS = 3 * MINUTE_MS;
const EVENT_WAIT_MAX_MS = 15_000;
const PROCESS = join(import.meta.dir, '..', 'traffic', 'puller-process.ts');

export const pull: Scenario = {
  name: 'pull',
  summary:
    'Kills, freezes and disconnects pulls from fake networks that fail; the database must equal the networks.',
  databases: BOTH,
  minutes: 20,
  options: {
    kills: {
      type: 'string',
      default: '20',
      help: 'kills per network; freezes and disconnections come on top',
    },
    network: { type: 'string', multiple: true, help: `${NETWORKS.join(', ')}; all if absent` },
    days: { type: 'string', help: 'days of sales that the first pull finds (default: 200, Rakuten: 3)' },
  },
  mustHappen: ['kills', 'sales'],
  short: { minutes: 2, values: { kills: '4', network: ['impact'], days: '20' } },
  async run(run) {
    const networks = run.choose('network', NETWORKS, (name) => name);
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
  const speed = isRakuten ? RAKUTEN_SPEED : SPEED;
  const time = { realMs: Date.now(), virtualMs: START_MS, speed };
  const { now } = virtualClock(time);
  let frozenMs = Number.POSITIVE_INFINITY;
  let requests = 0;
  let onRequest = (_target: string) => {};
  const plan = randomFaults(run.seed, FAULT_SHARE);
  const fakes = new FakeNetworks({
    ...{ seed: run.seed, sinceMs: START_MS - historyDays * DAY_MS, clock: () => Math.min(now(), frozenMs) },
    density: { salesPerDay: isRakuten ? 60 : 4, cellMs: 360 * MINUTE_MS },
    // The clock of the network stops for the last pull, and a rate would then allow no further requests.
    ...{ pageSizeMax: 20, tokenLifeMs: 4 * DAY_MS, areRatesEnforced: false },
    ...{ logoUrl: () => 'https://logos.example/', dealsEveryMs: DEALS_EVERY_MS * speed },
    faults: (name, number) => (frozenMs < now() ? undefined : plan(name, number)),
    onResponse: ({ target, status, fault }) => {
      requests++;
      onRequest(target);
      if (status !== 200 && fault === undefined)
        run.violation('REFUSED', `${network}: ${status} ${target.replace(/\?.*/, '')}`);
      const secrets = Object.values<string>(ACCOUNTS[network].credentials);
      if (secrets.some((secret) => target.includes(secret))) run.violation('SECRET', `${network}: in a URL`);
    },
  });
  const listen = (port: number) =>
    Bun.serve({ port, hostname: '127.0.0.1', development: false, fetch: (request) => fakes.answer(request) });
  let server = listen(0);
  const port = server.port ?? 0;
  run.defer(() => server.stop(true));
  const databaseUrl = await run.database.create();
  const stores = run.use(closing(await openStores(databaseUrl, CREATE_OPTIONS, now)));
  const org = await createOrganisation(stores, 'acme');
  const catalogue = networkCatalogue(network, fakes.ledger, stores);
  const start = (final: Partial<PullOrder> = {}) => {
    const order: PullOrder = {
      ...{ databaseUrl, network, time, untilMs: Number.MAX_SAFE_INTEGER },
      baseUrl: `http://127.0.0.1:${port}`,
      startMs: START_MS - (isRakuten ? 20 : historyDays + 10) * DAY_MS,
      ...final,
    };
    const child = Bun.spawn([process.execPath, PROCESS, JSON.stringify(order)], {
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
    });
    run.defer(() => child.kill('SIGKILL'));
    return child;
  };
  const counts = { kills: 0, freezes: 0, disconnections: 0 };
  const positions = new Map<string, number>();
  const checkPositions = async () => {
    for (const { stream, completeThroughMs } of await stores.pulls.list()) {
      const atMs = completeThroughMs ?? 0;
      // Old sales are read again from the start after the newest.
      if (stream !== 'reread' && atMs < (positions.get(stream) ?? 0))
        run.violation('BACK', `${network}: ${stream} has moved back to ${printTimestamp(atMs)}`);
      positions.set(stream, atMs);
    }
  };
  let child = start();
  const kill = async (victim: typeof child) => {
    victim.kill('SIGKILL');
    await victim.exited;
    counts.kills++;
    await checkPositions();
    for (const line of await catalogue.findTorn(now(), DEALS_EVERY_MS * speed)) run.violation('TORN', line);
  };
  /** Waits until the network answers a request, at most a few seconds. */
  const nextRequest = (paths = /^/) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    onRequest = (target) => paths.test(target) && resolve();
    return Promise.race([promise, Bun.sleep(EVENT_WAIT_MAX_MS)]);
  };
  const catchUp = async () => {
    const key = { source: `rakuten:${ACCOUNTS.rakuten.account}`, orgId: org.id, stream: 'process' };
    const throughMs = async () => (await stores.pulls.find(key))?.completeThroughMs ?? START_MS;
    await until(throughMs, (value) => now() - value < RAKUTEN_LAG_MAX_MS, WAIT_MAX_MS);
  };
  /** Waits until an import begins or ends, at most a few seconds. What is not in its transaction is written around these times. */
  const nextImport = async (isEnd: boolean) => {
    const last = async () => (await stores.imports.list({ limit: 1 }))[0];
    const before = (await last())?.id ?? 0;
    for (let waited = 0; waited < EVENT_WAIT_MAX_MS; waited++) {
      const entry = await last();
      if (entry !== undefined && entry.id > before && (!isEnd || entry.endedAtMs !== null)) return;
      await Bun.sleep(1);
    }
  };
  const restart = async () => {
    await kill(child);
    child = start();
  };
  const disturbances = [
    async () => {
      await restart();
      // A new process has much to import, so its kill can lose much.
      await (random.chance(0.5) ? nextRequest(SALES_PATH) : nextImport(false));
      await restart();
    },
    async () => {
      // Another pull takes over while the first one is frozen. Afterwards, the first one tries to import, but must not write. A
      // new process reads new sales before old ones.
      await restart();
      counts.freezes++;
      await nextRequest(SALES_PATH);
      child.kill('SIGSTOP');
      const other = start();
      await nextImport(true);
      await kill(other);
      child.kill('SIGCONT');
      await nextImport(true);
      await restart();
    },
    async () => {
      counts.disconnections++;
      await server.stop(true);
      await Bun.sleep(random.between(1, 100));
      server = listen(port);
    },
  ];
  for (let round = 0; counts.kills < run.number('kills') && performance.now() < endMs; round++) {
    if (isRakuten) await catchUp();
    if (random.chance(0.5)) await nextImport(random.chance(0.5));
    else {
      await nextRequest();
      await Bun.sleep(random.logBetween(1, random.chance(0.5) ? 50 : 2_000));
    }
    await disturbances[round % disturbances.length]?.();
    if (child.exitCode !== null) throw new Error('a pull ended by itself');
  }
  await kill(child);
  frozenMs = now();
  const finalMs = frozenMs + DECIDED_MS;
  const final = start({
    time: { realMs: Date.now(), virtualMs: finalMs, speed: FINAL_SPEED },
    untilMs: finalMs - 1,
  });
  const passes = new Response(final.stdout).text();
  const ended = await Promise.race([final.exited, Bun.sleep(WAIT_MAX_MS)]);
  final.kill('SIGKILL');
  if (ended !== 0) throw new Error(`the last pull has not succeeded: ${(await passes).slice(-1_000)}`);
  const truth = trueSales(fakes.ledger, network, frozenMs);
  report(run, network, await compareWithTruth(stores, org, network, truth));
  for (const line of await catalogue.compare(frozenMs)) run.violation('CATALOGUE', `${network}: ${line}`);
  for (const [what, count] of Object.entries(counts)) run.count(what, count);
  const virtualDays = Math.round((frozenMs - START_MS) / DAY_MS);
  run.rows.push({ network, ...counts, requests, 'virtual days': virtualDays });
}

async function pullLeaking(run: Run, network: NetworkName): Promise<void> {
  const options = { leakShare: 0.3, salesPerDay: 60 };
  const { before, after, found } = await runWithLeaks(network, run.database, options);
  const { wrong } = before;
  report(run, network, after);
  run.require(`${network}: reading old sales again finds unlisted changes`, found >= wrong, { found, wrong });
  run.count('unlisted changes', wrong);
}

/** Reports how the database differs from the network. */
function report(
  run: Run,
  network: NetworkName,
  { examples, sales, versions, ...differences }: Comparison,
): void {
  run.count('sales', sales);
  run.count('versions', versions);
  for (const [kind, count] of Object.entries(differences))
    if (count > 0) run.violation(kind.toUpperCase(), `${network}: ${count}, such as ${examples.join('; ')}`);
}
