// Kills, freezes and disconnects processes that pull sales and catalogues from a fake network, which misbehaves too. When it
// ends, the database must equal what the network says.

import { join } from 'node:path';
import { ACCOUNTS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { randomFaults } from '@offerbook/sandbox/networks/faults.ts';
import { trueSales } from '@offerbook/sandbox/networks/true-sales.ts';
import { Random } from '@offerbook/sandbox/random.ts';
import { CATALOGUE } from '../../src/domain/pull.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { storedOffers, trueOffers } from './catalogue-truth.ts';
import type { PullOrder } from './nemesis-process.ts';
import { type Comparison, compareWithTruth, DECIDED_MS } from './network-pull.ts';
import { virtualClock } from './virtual-clock.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;
/** A real second is a little more than a virtual day. */
const SPEED = 100_000;
/** Slower, because Rakuten deletes rows after two weeks, which are four minutes at this speed. */
const RAKUTEN_SPEED = 5_000;
/** Rakuten's rows must be read before they are deleted, so pulls that are further behind are not interrupted. */
const RAKUTEN_LAG_MAX_MS = 7 * DAY_MS;
/** For the last pull, whose windows must not multiply while it runs. */
const FINAL_SPEED = 2_000;
const FAULT_SHARE = 0.03;
/** In real time: long enough to read a catalogue, short enough to change while it is read. */
const DEALS_EVERY_MS = 5 * SECOND_MS;
/** Every other request is for a list of the catalogue. */
const SALES_PATH = /\/(?:transactions|Actions|conversion\.json|query|token)\b/;
const CATCH_UP_MAX_MS = 180 * SECOND_MS;
const IMPORTS_MAX = 1_000_000;
const FINAL_MAX_MS = 180 * SECOND_MS;
const PROCESS = join(import.meta.dir, 'nemesis-process.ts');

export interface NemesisOptions {
  readonly databaseUrl: string;
  readonly network: NetworkName;
  readonly seed: number;
  /** Number of kills; freezes and disconnections come on top. */
  readonly kills: number;
  /** Number of days whose sales the first pull finds. */
  readonly historyDays?: number;
  /** True to interrupt only pulls of the catalogue. Default: about half of them. */
  readonly isCatalogueOnly?: boolean;
  /** No kills after this time. */
  readonly untilMs?: number;
}

export interface NemesisReport extends Comparison {
  readonly killed: number;
  /** Kills of processes whose last request was for the catalogue. */
  readonly killedInCatalogue: number;
  readonly frozen: number;
  readonly disconnected: number;
  readonly requests: number;
  readonly virtualDays: number;
  /** Catalogues that were imported. */
  readonly catalogues: number;
  /** Retailers and deals that did not fit to the last complete catalogue after a kill. */
  readonly torn: number;
  /** Retailers and deals that the network offers and the database does not. */
  readonly notOffered: number;
  /** Retailers and deals that the database offers and the network does not. */
  readonly notWithdrawn: number;
}

export async function runPullNemesis({
  databaseUrl,
  network,
  seed,
  kills,
  historyDays = network === 'rakuten' ? 3 : 200,
  isCatalogueOnly = false,
  untilMs = Number.POSITIVE_INFINITY,
}: NemesisOptions): Promise<NemesisReport> {
  const random = new Random(seed, 'pull nemesis', network);
  const virtualMs = Date.UTC(2026, 5, 1, 12);
  const speed = network === 'rakuten' ? RAKUTEN_SPEED : SPEED;
  const dealsEveryMs = DEALS_EVERY_MS * speed;
  const time = { realMs: Date.now(), virtualMs, speed };
  const { now } = virtualClock(time);
  let frozenMs = Number.POSITIVE_INFINITY;
  const requests = { all: 0, catalogue: 0 };
  let isLastOfCatalogue = false;
  const plan = randomFaults(seed, FAULT_SHARE);
  const fakes = new FakeNetworks({
    ...{ seed, sinceMs: virtualMs - historyDays * DAY_MS, clock: () => Math.min(now(), frozenMs) },
    density: { salesPerDay: network === 'rakuten' ? 60 : 15, cellMs: 360 * MINUTE_MS },
    // The clock of the network stops for the last pull, and a rate would then allow no further requests.
    ...{ pageSizeMax: 20, tokenLifeMs: DAY_MS, areRatesEnforced: false },
    ...{ logoUrl: () => 'https://logos.example/', dealsEveryMs },
    faults: { draw: (name, number) => (frozenMs < now() ? undefined : plan.draw(name, number)) },
    onAnswer: ({ target }) => {
      isLastOfCatalogue = !SALES_PATH.test(target);
      requests.all++;
      if (isLastOfCatalogue) requests.catalogue++;
    },
  });
  const listen = (port: number) =>
    Bun.serve({ port, hostname: '127.0.0.1', development: false, fetch: (request) => fakes.answer(request) });
  let server = listen(0);
  const port = server.port ?? 0;
  await using stores = closing(await openStores(databaseUrl, CREATE_OPTIONS, now));
  const org = await stores.organisations.create('acme');
  if (org === undefined) throw new Error('the organisation exists');
  const catalogueKey = { source: `${network}:${ACCOUNTS[network].account}`, orgId: 0, stream: CATALOGUE };
  const order = (final: Partial<PullOrder>): PullOrder => ({
    ...{ databaseUrl, network, time, untilMs: Number.MAX_SAFE_INTEGER, baseUrl: `http://127.0.0.1:${port}` },
    startMs: virtualMs - (network === 'rakuten' ? 20 : historyDays + 310) * DAY_MS,
    ...final,
  });
  const start = (final: Partial<PullOrder> = {}) =>
    Bun.spawn([process.execPath, PROCESS, JSON.stringify(order(final))], {
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
    });
  const torn: string[] = [];
  const updates = new Map<number, ReadonlySet<string>>();
  const counts = { killed: 0, killedInCatalogue: 0, frozen: 0, disconnected: 0 };
  let child = start();
  const kill = async (victim: typeof child) => {
    victim.kill('SIGKILL');
    await victim.exited;
    counts.killed++;
    if (isLastOfCatalogue) counts.killedInCatalogue++;
    torn.push(...(await findTorn()));
  };
  try {
    while (counts.killed < kills && Date.now() < untilMs) {
      if (network === 'rakuten') await catchUp();
      await nextRequest(isCatalogueOnly || random.chance(0.5) ? 'catalogue' : 'all');
      await Bun.sleep(random.logBetween(1, isCatalogueOnly ? 50 : 2_000));
      const draw = random.unit();
      if (draw < 0.6) {
        await kill(child);
        child = start();
      } else if (draw < 0.8) {
        // Another pull takes over while the first one is frozen. Afterwards, the first one must not write.
        counts.frozen++;
        child.kill('SIGSTOP');
        const other = start();
        await nextRequest('all');
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
    const [offered, stored] = [trueOffers(fakes.ledger, [network], frozenMs), await storedOffers(stores)];
    const notOffered = offered.filter((line) => !stored.includes(line));
    const notWithdrawn = stored.filter((line) => !offered.includes(line));
    const imports = await stores.imports.list({ limit: IMPORTS_MAX });
    return {
      ...{ ...comparison, ...counts, requests: requests.all, virtualDays },
      catalogues: imports.filter(({ kind, outcome }) => kind === 'catalogue' && outcome === 'done').length,
      ...{ torn: torn.length, notOffered: notOffered.length, notWithdrawn: notWithdrawn.length },
      examples: [
        ...comparison.examples,
        ...torn.slice(0, 5),
        ...notOffered.slice(0, 5).map((line) => `not offered: ${line}`),
        ...notWithdrawn.slice(0, 5).map((line) => `not withdrawn: ${line}`),
      ],
    };
  } finally {
    child.kill('SIGKILL');
    await server.stop(true);
  }

  /**
   * Compares the stored catalogue with every catalogue of the network since the last complete pull began. What was in all of
   * them must be stored; what was in none of them must not.
   */
  async function findTorn(): Promise<string[]> {
    const find = async () => (await stores.pulls.find(catalogueKey))?.completeThroughMs ?? undefined;
    const sinceMs = await find();
    const stored = await storedOffers(stores);
    // Another process has imported a catalogue in the meantime.
    if ((await find()) !== sinceMs) return [];
    const lists: ReadonlySet<string>[] = [];
    const last = Math.floor(now() / dealsEveryMs);
    for (let update = Math.floor((sinceMs ?? Number.NaN) / dealsEveryMs); update <= last; update++)
      lists.push(offersOf(update));
    const [first = new Set<string>()] = lists;
    const missing = [...first].filter(
      (line) => lists.every((lines) => lines.has(line)) && !stored.includes(line),
    );
    const extra = stored.filter((line) => !lists.some((lines) => lines.has(line)));
    return [
      ...missing.map((line) => `missing after a kill: ${line}`),
      ...extra.map((line) => `extra after a kill: ${line}`),
    ];
  }

  /** What the network offers after an update of its deals. */
  function offersOf(update: number): ReadonlySet<string> {
    const lines = updates.get(update) ?? new Set(trueOffers(fakes.ledger, [network], update * dealsEveryMs));
    updates.set(update, lines);
    return lines;
  }

  async function catchUp(): Promise<void> {
    const key = { ...catalogueKey, orgId: org?.id ?? 0, stream: 'process' };
    for (let waited = 0; waited < CATCH_UP_MAX_MS; waited += 50) {
      const { completeThroughMs } = (await stores.pulls.find(key)) ?? {};
      if (now() - (completeThroughMs ?? virtualMs) < RAKUTEN_LAG_MAX_MS) return;
      await Bun.sleep(50);
    }
    throw new Error('the pull does not catch up');
  }

  /** Waits until the network has answered a request, at most a minute. */
  async function nextRequest(kind: keyof typeof requests): Promise<void> {
    const before = requests[kind];
    for (let waited = 0; requests[kind] === before && waited < MINUTE_MS; waited += 5) await Bun.sleep(5);
  }
}
