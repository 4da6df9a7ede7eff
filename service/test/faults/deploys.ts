// Two nodes behind a proxy, under load, while they are replaced one after the other, frozen or slowed down. No request may
// fail.

import { LoadedService, type Seeded } from '../load/loaded-service.ts';
import { Tally } from '../load/tally.ts';
import { openLoop } from '../load/traffic.ts';
import { freePort } from '../support/postgres-server.ts';
import { type ProxyName, ReverseProxy } from '../support/reverse-proxy.ts';

const CONNECTIONS_MAX = 200;
/** Time between the start of a node and the stop of the next, so that health checks notice the new node. */
const PAUSE_MS = 1_200;
const LOAD_CHUNK_MS = 500;

export interface LoadReport {
  readonly exitCodes: readonly number[];
  readonly answered: number;
  readonly statuses: Record<number, number>;
  readonly failures: Record<string, number>;
  readonly unsent: number;
  readonly p99Ms: number;
}

export interface LoadOptions {
  readonly proxy: ProxyName;
  readonly perSecond: number;
}

/** The two nodes, in the proxy's order. */
export interface Fleet {
  signal(place: number, signal: NodeJS.Signals): void;
  /** Stops a node, awaits `meanwhile` and starts another node in its place. */
  replace(place: number, meanwhile?: () => Promise<void>): Promise<void>;
}

/** Replaces the nodes one after the other. */
export function runDeploys(seeded: Seeded, options: LoadOptions & { stops: number }): Promise<LoadReport> {
  return runBehindProxy(seeded, options, async (fleet) => {
    for (let stop = 0; stop < options.stops; stop++) {
      await fleet.replace(stop % 2);
      await Bun.sleep(PAUSE_MS);
    }
  });
}

/** Sends requests through a proxy to two nodes while `disturb` runs. */
export async function runBehindProxy(
  seeded: Seeded,
  { proxy: name, perSecond }: LoadOptions,
  disturb: (fleet: Fleet) => Promise<void>,
): Promise<LoadReport> {
  const ports = [await freePort(), await freePort()];
  const nodes = await Promise.all(ports.map((port) => LoadedService.start(seeded, [], port)));
  const exitCodes: number[] = [];
  try {
    await using proxy = await ReverseProxy.start(
      name,
      nodes.map(({ url }) => url),
    );
    const load = startLoad(proxy.url, seeded, perSecond);
    await Bun.sleep(PAUSE_MS);
    await disturb({
      signal: (place, signal) => nodes[place]?.signal(signal),
      async replace(place, meanwhile) {
        exitCodes.push((await nodes[place]?.stop('SIGTERM')) ?? -1);
        await meanwhile?.();
        nodes[place] = await LoadedService.start(seeded, [], ports[place]);
      },
    });
    const { tally, unsent } = await load.stop();
    return {
      exitCodes,
      answered: tally.answered,
      statuses: tally.statuses,
      failures: tally.failures,
      unsent,
      p99Ms: tally.percentileMs(0.99),
    };
  } finally {
    for (const node of nodes) await node[Symbol.asyncDispose]();
  }
}

/** Requests three catalogue pages for each page of transactions, at a fixed rate, until it is stopped. */
function startLoad(url: string, { catalogueRequest, transactionsRequest }: Seeded, perSecond: number) {
  const requests = [catalogueRequest, catalogueRequest, catalogueRequest, transactionsRequest];
  const tally = new Tally();
  let stopped = false;
  let unsent = 0;
  const running = (async () => {
    while (!stopped) {
      const chunk = await openLoop(
        { url, requests, durationMs: LOAD_CHUNK_MS },
        perSecond,
        CONNECTIONS_MAX,
        tally,
      );
      unsent += chunk.unsent;
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      return { tally, unsent };
    },
  };
}
