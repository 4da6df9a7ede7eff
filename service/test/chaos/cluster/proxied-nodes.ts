// Two nodes behind proxies, under load. Each proxy distributes its requests over both nodes.

import { type ProxyName, ReverseProxy } from '../../support/reverse-proxy.ts';
import { until } from '../../support/until.ts';
import { getRequest } from '../traffic/http-connection.ts';
import { openLoop } from '../traffic/loops.ts';
import { Tally } from '../traffic/tally.ts';
import { Node, readMetric } from './node.ts';
import type { Seeded } from './seed.ts';

const CONNECTIONS_MAX = 200;
/** A node that has answered this many requests is in the rotation of the proxies. */
const SERVED_MIN = 20;

/** The load through each proxy. */
export interface Load {
  readonly tallies: readonly Tally[];
  /** Waits until this many more requests were answered through each proxy. */
  untilAnswered(more: number): Promise<void>;
}

export class ProxiedNodes {
  readonly nodes: readonly [Node, Node];
  readonly #proxies: readonly ReverseProxy[];
  readonly #requests: readonly Uint8Array[];
  readonly #hasChecks: boolean;

  private constructor(
    nodes: readonly [Node, Node],
    proxies: readonly ReverseProxy[],
    { tokens }: Seeded,
    hasChecks: boolean,
  ) {
    this.nodes = nodes;
    this.#proxies = proxies;
    const catalogue = getRequest('/v1/cashback-offers/', tokens.public);
    this.#requests = [catalogue, catalogue, catalogue, getRequest('/v1/transactions/', tokens.private)];
    this.#hasChecks = hasChecks;
  }

  /** Everything that it starts ends with the stack. */
  static async start(
    stack: AsyncDisposableStack,
    seeded: Seeded,
    names: readonly ProxyName[],
  ): Promise<ProxiedNodes> {
    const start = async () => stack.use(await Node.start(seeded.databaseUrl, { discardsLog: true }));
    const nodes = [await start(), await start()] as const;
    const urls = nodes.map(({ url }) => url);
    const proxies: ReverseProxy[] = [];
    for (const name of names) proxies.push(stack.use(await ReverseProxy.start(name, urls)));
    return new ProxiedNodes(nodes, proxies, seeded, names.includes('haproxy'));
  }

  /** Waits until all proxies send requests to a node that was started under load. */
  async untilInRotation({ adminUrl }: Node): Promise<void> {
    const responses = (route: string) => countResponses(adminUrl, route);
    const checked = await responses('/readyz');
    // When the second health check arrives, the proxy has seen the result of the first.
    if (this.#hasChecks)
      await until(
        () => responses('/readyz'),
        (count) => count >= checked + 2,
      );
    await until(
      () => responses('/v1'),
      (count) => count >= SERVED_MIN,
    );
  }

  /** Number of responses to requests of the API that the nodes have sent. */
  async responses(): Promise<number> {
    const counts = await Promise.all(this.nodes.map(({ adminUrl }) => countResponses(adminUrl, '/v1')));
    return counts.reduce((sum, count) => sum + count);
  }

  /**
   * Sends requests at this rate through each proxy while `disturb` runs: three catalogue pages for each page of transactions.
   * Returns the responses through each proxy.
   */
  async underLoad(perSecond: number, disturb: (load: Load) => Promise<void>): Promise<readonly Tally[]> {
    const tallies = this.#proxies.map(() => new Tally());
    let isDone = false;
    const loads = this.#proxies.map(({ url }, i) =>
      openLoop(
        { url, requests: this.#requests, isOver: () => isDone, tally: tallies[i] ?? new Tally() },
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
}

/** Number of responses that a node has sent on routes that start like this. */
async function countResponses(adminUrl: string, route: string): Promise<number> {
  return (await readMetric(adminUrl, 'offerbook_http_requests_total', `route="${route}`)) || 0;
}
