// Rolling deploys: two nodes behind a proxy are told to stop in turn and started again, under load. Not one
// request may fail.

import { LoadedService, type Seeded } from '../load/loaded-service.ts';
import { Tally } from '../load/tally.ts';
import { openLoop } from '../load/traffic.ts';
import { freePort } from '../support/postgres-server.ts';
import { type ProxyName, ReverseProxy } from '../support/reverse-proxy.ts';

const CONNECTIONS_MAX = 200;
/** Between a node's being ready and the next one's being told to stop, so that health checks can see it. */
const PAUSE_MS = 1_200;
const LOAD_CHUNK_MS = 500;

export interface DeploysReport {
  readonly stops: number;
  readonly exitCodes: readonly number[];
  readonly answered: number;
  readonly statuses: Record<number, number>;
  readonly failures: Record<string, number>;
  readonly unsent: number;
  readonly p99Ms: number;
}

export interface DeploysOptions {
  readonly proxy: ProxyName;
  readonly stops: number;
  readonly perSecond: number;
}

export async function runDeploys(seeded: Seeded, options: DeploysOptions): Promise<DeploysReport> {
  const ports = [await freePort(), await freePort()];
  const nodes = await Promise.all(ports.map((port) => LoadedService.start(seeded, [], port)));
  const exitCodes: number[] = [];
  try {
    await using proxy = await ReverseProxy.start(
      options.proxy,
      nodes.map(({ url }) => url),
    );
    const load = startLoad(proxy.url, seeded, options.perSecond);
    for (let stop = 0; stop < options.stops; stop++) {
      const place = stop % nodes.length;
      await Bun.sleep(PAUSE_MS);
      exitCodes.push((await nodes[place]?.stop('SIGTERM')) ?? -1);
      nodes[place] = await LoadedService.start(seeded, [], ports[place]);
    }
    await Bun.sleep(PAUSE_MS);
    const { tally, unsent } = await load.stop();
    return {
      stops: options.stops,
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

/** Three pages of the catalogue for each page of transactions, at a fixed rate, until it is stopped. */
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
