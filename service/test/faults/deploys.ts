// Two nodes behind proxies, under load, while they are replaced one after the other, frozen or slowed down, or while their
// database is locked. No request may fail that a node alone would have answered.

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
  readonly proxy: ProxyName;
  readonly answered: number;
  readonly statuses: Record<number, number>;
  readonly failures: Record<string, number>;
  readonly unsent: number;
  readonly p99Ms: number;
}

/** Two nodes, and proxies of which each distributes its requests over both. */
export class Fleet implements AsyncDisposable {
  /** Exit codes of the nodes that were stopped. */
  readonly exitCodes: number[] = [];
  readonly #seeded: Seeded;
  readonly #nodes: LoadedService[];
  readonly #ports: readonly number[];
  readonly #proxies: readonly { readonly name: ProxyName; readonly proxy: ReverseProxy }[];

  private constructor(
    seeded: Seeded,
    nodes: LoadedService[],
    ports: readonly number[],
    proxies: readonly { readonly name: ProxyName; readonly proxy: ReverseProxy }[],
  ) {
    this.#seeded = seeded;
    this.#nodes = nodes;
    this.#ports = ports;
    this.#proxies = proxies;
  }

  static async start(seeded: Seeded, names: readonly ProxyName[]): Promise<Fleet> {
    const ports = [await freePort(), await freePort()];
    const nodes = await Promise.all(ports.map((port) => LoadedService.start(seeded, [], port)));
    const urls = nodes.map(({ url }) => url);
    const proxies = await Promise.all(
      names.map(async (name) => ({ name, proxy: await ReverseProxy.start(name, urls) })),
    );
    return new Fleet(seeded, nodes, ports, proxies);
  }

  signal(place: number, signal: NodeJS.Signals): void {
    this.#nodes[place]?.signal(signal);
  }

  /** Stops a node, awaits `meanwhile` and starts another node in its place. */
  async replace(place: number, meanwhile?: () => Promise<void>): Promise<void> {
    this.exitCodes.push((await this.#nodes[place]?.stop('SIGTERM')) ?? -1);
    await meanwhile?.();
    this.#nodes[place] = await LoadedService.start(this.#seeded, [], this.#ports[place]);
  }

  /** Replaces the nodes one after the other. */
  async replaceAll(stops: number): Promise<void> {
    for (let stop = 0; stop < stops; stop++) {
      await this.replace(stop % 2);
      await Bun.sleep(PAUSE_MS);
    }
  }

  /** Number of responses to requests of the API that the nodes have sent. */
  async responses(): Promise<number> {
    const metrics = await Promise.all(
      this.#nodes.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
    );
    return [...metrics.join('\n').matchAll(/^offerbook_http_requests_total\{route="\/v1[^}]*\} (\d+)$/gm)]
      .map(([, count]) => Number(count))
      .reduce((sum, count) => sum + count, 0);
  }

  /** Sends requests at this rate through each proxy while `disturb` runs. */
  async underLoad(perSecond: number, disturb: () => Promise<void>): Promise<LoadReport[]> {
    const loads = this.#proxies.map(({ name, proxy }) => ({
      name,
      load: startLoad(proxy.url, this.#seeded, perSecond),
    }));
    await disturb();
    return Promise.all(
      loads.map(async ({ name, load }) => {
        const { tally, unsent } = await load.stop();
        const { answered, statuses, failures } = tally;
        return { proxy: name, answered, statuses, failures, unsent, p99Ms: tally.percentileMs(0.99) };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { proxy } of this.#proxies) await proxy[Symbol.asyncDispose]();
    for (const node of this.#nodes) await node[Symbol.asyncDispose]();
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
