// Kills, freezes and disconnects processes that pull from a fake network, which misbehaves too. When it ends, the database must
// equal what the network says.

import { join } from 'node:path';
import type { NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { randomFaults } from '@offerbook/sandbox/networks/faults.ts';
import { trueSales } from '@offerbook/sandbox/networks/true-sales.ts';
import { Random } from '@offerbook/sandbox/random.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import type { PullOrder } from './nemesis-process.ts';
import { type Comparison, compareWithTruth, DECIDED_MS } from './network-pull.ts';
import { virtualClock } from './virtual-clock.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;
/** A real second is a little more than a virtual day. */
const SPEED = 100_000;
/** Slower, because Rakuten deletes rows after two weeks, which are two minutes at this speed. */
const RAKUTEN_SPEED = 10_000;
/** For the last pull, whose windows must not multiply while it runs. */
const FINAL_SPEED = 2_000;
const FAULT_SHARE = 0.03;
const FINAL_MAX_MS = 180 * SECOND_MS;
const PROCESS = join(import.meta.dir, 'nemesis-process.ts');

export interface NemesisOptions {
  readonly databaseUrl: string;
  readonly network: NetworkName;
  readonly seed: number;
  /** Number of kills; freezes and disconnections come on top. */
  readonly kills: number;
  /** No kills after this time. */
  readonly untilMs?: number;
}

export interface NemesisReport extends Comparison {
  readonly killed: number;
  readonly frozen: number;
  readonly disconnected: number;
  readonly requests: number;
  readonly virtualDays: number;
}

export async function runPullNemesis({
  databaseUrl,
  network,
  seed,
  kills,
  untilMs = Number.POSITIVE_INFINITY,
}: NemesisOptions): Promise<NemesisReport> {
  const random = new Random(seed, 'pull nemesis', network);
  const virtualMs = Date.UTC(2026, 5, 1, 12);
  const speed = network === 'rakuten' ? RAKUTEN_SPEED : SPEED;
  const time = { realMs: Date.now(), virtualMs, speed };
  const { now } = virtualClock(time);
  let frozenMs = Number.POSITIVE_INFINITY;
  let requests = 0;
  const plan = randomFaults(seed, FAULT_SHARE);
  const historyDays = network === 'rakuten' ? 3 : 200;
  const fakes = new FakeNetworks({
    ...{ seed, sinceMs: virtualMs - historyDays * DAY_MS, clock: () => Math.min(now(), frozenMs) },
    density: { salesPerDay: network === 'rakuten' ? 60 : 15, cellMs: 360 * MINUTE_MS },
    // The clock of the network stops for the last pull, and a rate would then allow no further requests.
    ...{ pageSizeMax: 20, tokenLifeMs: DAY_MS, areRatesEnforced: false },
    logoUrl: () => 'https://logos.example/',
    faults: { draw: (name, number) => (frozenMs < now() ? undefined : plan.draw(name, number)) },
    onAnswer: () => requests++,
  });
  const listen = (port: number) =>
    Bun.serve({ port, hostname: '127.0.0.1', development: false, fetch: (request) => fakes.answer(request) });
  let server = listen(0);
  const port = server.port ?? 0;
  await using stores = closing(await openStores(databaseUrl, CREATE_OPTIONS, now));
  const org = await stores.organisations.create('acme');
  if (org === undefined) throw new Error('the organisation exists');
  const order = (final: Partial<PullOrder>): PullOrder => ({
    ...{ databaseUrl, network, time, untilMs: Number.MAX_SAFE_INTEGER, baseUrl: `http://127.0.0.1:${port}` },
    startMs: virtualMs - (network === 'rakuten' ? 20 : historyDays + 310) * DAY_MS,
    ...final,
  });
  const start = (final: Partial<PullOrder> = {}) =>
    Bun.spawn([process.execPath, PROCESS, JSON.stringify(order(final))], {
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
    });
  const counts = { killed: 0, frozen: 0, disconnected: 0 };
  let child = start();
  const kill = async (victim: typeof child) => {
    victim.kill('SIGKILL');
    await victim.exited;
    counts.killed++;
  };
  try {
    while (counts.killed < kills && Date.now() < untilMs) {
      await firstRequest(() => requests);
      await Bun.sleep(random.logBetween(1, 2_000));
      const draw = random.unit();
      if (draw < 0.6) {
        await kill(child);
        child = start();
      } else if (draw < 0.8) {
        // Another pull takes over while the first one is frozen. Afterwards, the first one must not write.
        counts.frozen++;
        child.kill('SIGSTOP');
        const other = start();
        await firstRequest(() => requests);
        await Bun.sleep(random.between(1, 300));
        child.kill('SIGCONT');
        await Bun.sleep(random.between(1, 300));
        await kill(child);
        child = other;
      } else {
        counts.disconnected++;
        await server.stop(true);
        await Bun.sleep(random.between(1, 100));
        server = listen(port);
      }
      if (child.exitCode !== null) throw new Error('a pull ended by itself');
    }
    await kill(child);
    frozenMs = now();
    const finalMs = frozenMs + DECIDED_MS;
    child = start({
      time: { realMs: Date.now(), virtualMs: finalMs, speed: FINAL_SPEED },
      untilMs: finalMs - 1,
    });
    const passes = new Response(child.stdout).text();
    const ended = await Promise.race([child.exited, Bun.sleep(FINAL_MAX_MS)]);
    child.kill('SIGKILL');
    if (ended !== 0) throw new Error(`the last pull has not succeeded: ${(await passes).slice(-1_000)}`);
    const truth = trueSales(fakes.ledger, network, frozenMs);
    const comparison = await compareWithTruth(stores, org, network, truth);
    const virtualDays = Math.round((frozenMs - virtualMs) / DAY_MS);
    return { ...comparison, ...counts, requests, virtualDays };
  } finally {
    child.kill('SIGKILL');
    await server.stop(true);
  }

  /** Waits for the process to send a request, at most ten seconds. */
  async function firstRequest(count: () => number): Promise<void> {
    const before = count();
    for (let waited = 0; count() === before && waited < 10_000; waited += 5) await Bun.sleep(5);
  }
}
