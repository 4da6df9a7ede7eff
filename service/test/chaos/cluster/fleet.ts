// Two nodes behind proxies, under load. One node can be replaced, frozen or slowed down.

import { freePort } from '../../support/postgres-server.ts';
import { type ProxyName, ReverseProxy } from '../../support/reverse-proxy.ts';
import { until } from '../../support/until.ts';
import { openLoop } from '../traffic/loops.ts';
import { Tally } from '../traffic/tally.ts';
import { LoadedService, type Seeded } from './loaded-service.ts';

const CONNECTIONS_MAX = 200;
/** A node that has answered this many requests is in the rotation of the proxies. */
const SERVED_MIN = 20;

/** The load through each proxy. */
export interface Load {
  readonly tallies: readonly Tally[];
  /** Waits until this many more requests were answered through each proxy. */
  untilAnswered(more: number): Promise<void>;
}

/** Two nodes, and proxies. Each proxy distributes its requests over both nodes. */
export class Fleet implements AsyncDisposable {
  /** Exit codes of the nodes that were stopped. */
  readonly exitCodes: number[] = [];
  readonly #seeded: Seeded;
  readonly #nodes: LoadedService[];
  readonly #proxies: readonly ReverseProxy[];
  readonly #hasChecks: boolean;

  private constructor(
    seeded: Seeded,
    nodes: LoadedService[],
    proxies: readonly ReverseProxy[],
    hasChecks: boolean,
  ) {
    this.#seeded = seeded;
    this.#nodes = nodes;
    this.#proxies = proxies;
    this.#hasChecks = hasChecks;
  }

  static async start(seeded: Seeded, names: readonly ProxyName[]): Promise<Fleet> {
    const ports = [await freePort(), await freePort()];
    const nodes = await Promise.all(ports.map((port) => LoadedService.start(seeded, [], port)));
    const urls = nodes.map(({ url }) => url);
    const proxies = await Promise.all(names.map((name) => ReverseProxy.start(name, urls)));
    return new Fleet(seeded, nodes, proxies, names.includes('haproxy'));
  }

  signal(place: number, signal: NodeJS.Signals): void {
    this.#node(place).signal(signal);
  }

  /** Stops a node, awaits `meanwhile` and starts another node in its place. */
  async replace(place: number, meanwhile?: () => Promise<void>): Promise<void> {
    const old = this.#node(place);
    this.exitCodes.push(await old.stop('SIGTERM'));
    await meanwhile?.();
    this.#nodes[place] = await LoadedService.start(this.#seeded, [], Number(new URL(old.url).port));
  }

  /** Replaces a node under load, and waits until the proxies send requests to the new one. */
  async replaceInRotation(place: number): Promise<void> {
    await this.replace(place);
    const node = this.#node(place);
    const checked = await responses([node], '/readyz');
    // When the second health check arrives, the proxy has seen the result of the first.
    if (this.#hasChecks)
      await until(
        () => responses([node], '/readyz'),
        (count) => count >= checked + 2,
      );
    await until(
      () => responses([node], '/v1'),
      (count) => count >= SERVED_MIN,
    );
  }

  /** Number of responses to requests of the API that the nodes have sent. */
  responses(): Promise<number> {
    return responses(this.#nodes, '/v1');
  }

  /**
   * Sends requests at this rate through each proxy while `disturb` runs: three catalogue pages for each page of transactions.
   * Returns the responses through each proxy.
   */
  async underLoad(perSecond: number, disturb: (load: Load) => Promise<void>): Promise<readonly Tally[]> {
    const { catalogueRequest, transactionsRequest } = this.#seeded;
    const requests = [catalogueRequest, catalogueRequest, catalogueRequest, transactionsRequest];
    const tallies = this.#proxies.map(() => new Tally());
    let isDone = false;
    const loads = this.#proxies.map(({ url }, i) =>
      openLoop(
        { url, requests, isOver: () => isDone, tally: tallies[i] ?? new Tally() },
        perSecond,
        CONNECTIONS_MAX,
      ),
    );
    const answered = () => Math.min(...tallies.map((tally) => tally.answered));
    const untilAnswered = async (more: number) => {
      const wanted = answered() + more;
      await until(answered, (count) => count >= wanted);
    };
    try {
      await untilAnswered(SERVED_MIN);
      await disturb({ tallies, untilAnswered });
      await untilAnswered(SERVED_MIN);
    } finally {
      isDone = true;
      await Promise.all(loads);
    }
    return tallies;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.#proxies) await proxy[Symbol.asyncDispose]();
    for (const node of this.#nodes) await node[Symbol.asyncDispose]();
  }

  #node(place: number): LoadedService {
    const node = this.#nodes[place];
    if (node === undefined) throw new Error(`there is no node ${place}`);
    return node;
  }
}

/** Number of responses that the nodes have sent on routes that start like this. */
async function responses(nodes: readonly LoadedService[], route: string): Promise<number> {
  const metrics = await Promise.all(
    nodes.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
  );
  const samples = new RegExp(`^offerbook_http_requests_total\\{route="${route}[^}]*\\} (\\d+)$`, 'gm');
  return [...metrics.join('\n').matchAll(samples)].reduce((sum, [, count]) => sum + Number(count), 0);
}
