// Two nodes behind the proxies that docs/operations/proxies.md recommends are replaced, frozen or slow, under load. No request
// may fail that a node alone would have answered.

import { PROXIES, type ProxyName, startProxy } from '../../support/reverse-proxy.ts';
import { untilMore } from '../../support/until.ts';
import { Node, readMetric } from '../cluster/node.ts';
import { seed } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { getRequest } from '../traffic/http-connection.ts';
import { openLoop } from '../traffic/loops.ts';
import { requireAnswered, Tally } from '../traffic/tally.ts';

const CONNECTIONS_MAX = 200;
/** A node that has answered this many requests is in the rotation of the proxies. */
const SERVED_MIN = 20;
/** Requests through each proxy while a node is frozen. They must not take as long as the proxies' read timeout of 15 s. */
const WHILE_FROZEN = 60;

/** The requests of one kind through one proxy, and their responses in this part. */
interface Load {
  readonly proxy: ProxyName;
  readonly url: string;
  readonly kind: 'catalogue' | 'transactions';
  /** Share of the rate. */
  readonly share: number;
  readonly request: Uint8Array;
  readonly tally: Tally;
}

interface Stage {
  readonly run: Run;
  readonly nodes: readonly [Node, Node];
  readonly loads: readonly Load[];
}

const PARTS = [
  { name: 'replace', part: replace, rateMax: Number.POSITIVE_INFINITY },
  { name: 'freeze', part: freeze, rateMax: 50 },
  { name: 'slow', part: slowDown, rateMax: 25 },
];

export const deploys: Scenario = {
  name: 'deploys',
  guarantee: 'no request fails while nodes behind proxies are replaced, frozen or slow',
  minutes: 20,
  options: {
    only: { type: 'string', multiple: true, help: 'replace, freeze or slow' },
    stops: { type: 'string', default: '50', help: 'number of nodes that are replaced' },
    rate: { type: 'string', default: '1000', help: 'requests per second through each proxy' },
    proxy: { type: 'string', multiple: true, help: 'nginx or haproxy' },
  },
  mustHappen: ['requests'],
  short: { minutes: 20, values: { stops: '2', rate: '40' } },
  async run(run) {
    const databaseUrl = await run.database.create();
    const { tokens } = await seed(databaseUrl);
    const start = async () => run.use(await Node.start(databaseUrl, { discardsLog: true }));
    const nodes = [await start(), await start()] as const;
    const nodeUrls = nodes.map(({ url }) => url);
    const kinds = [
      { kind: 'catalogue', share: 0.75, request: getRequest('/v1/cashback-offers/', tokens.public) },
      { kind: 'transactions', share: 0.25, request: getRequest('/v1/transactions/', tokens.private) },
    ] as const;
    const proxies: { readonly proxy: ProxyName; readonly url: string }[] = [];
    for (const proxy of run.choose('proxy', PROXIES)) {
      const { url } = run.use(await startProxy(proxy, nodeUrls));
      proxies.push({ proxy, url });
    }
    for (const { name, part, rateMax } of run.choose('only', PARTS)) {
      const loads = proxies.flatMap((proxy) =>
        kinds.map((kind) => ({ ...proxy, ...kind, tally: new Tally() })),
      );
      await underLoad({ run, nodes, loads }, Math.min(rateMax, run.number('rate')), part);
      for (const { proxy, kind, tally } of loads) {
        const { answered, statuses, failures, unsent } = tally;
        run.count('requests', answered);
        run.rows.push({
          ...{ part: name, proxy, kind, responses: JSON.stringify({ ...statuses, ...failures }), unsent },
          'p99, ms': Math.round(tally.percentileMs(0.99)),
        });
        // Pages of a new node on PostgreSQL need new connections first. Without spare CPU time, they may wait longer than a
        // node's queue allows, which is 500 ms.
        requireAnswered(run, `${name}, ${kind} behind ${proxy}`, tally, kind);
      }
    }
  },
};

/** Sends requests at this rate through each proxy while the part runs. */
async function underLoad(stage: Stage, perSecond: number, part: typeof replace): Promise<void> {
  let isDone = false;
  const loops = stage.loads.map(({ url, share, request, tally }) => {
    const traffic = { url, requests: [request], isOver: () => isDone, tally };
    return openLoop(traffic, perSecond * share, CONNECTIONS_MAX);
  });
  try {
    await untilAnswered(stage, SERVED_MIN);
    await part(stage);
    await untilAnswered(stage, SERVED_MIN);
  } finally {
    isDone = true;
    await Promise.all(loops);
  }
}

/** Waits until this many more requests for the catalogue were answered through each proxy. */
async function untilAnswered({ loads }: Stage, more: number): Promise<void> {
  const tallies = loads.filter(({ kind }) => kind === 'catalogue').map(({ tally }) => tally);
  await untilMore(() => Math.min(...tallies.map(({ answered }) => answered)), more);
}

async function replace({ run, nodes, loads }: Stage): Promise<void> {
  for (let stop = 0; stop < run.number('stops') && !run.isOver; stop++) {
    const node = nodes[stop % 2 === 0 ? 0 : 1];
    await node.restart();
    // When the second health check arrives, HAProxy has seen the result of the first.
    if (loads.some(({ proxy }) => proxy === 'haproxy')) await untilCounted(node, '/readyz', 2);
    await untilCounted(node, '/v1', SERVED_MIN);
    run.count('nodes replaced');
  }
}

async function freeze(stage: Stage): Promise<void> {
  const wake = stage.nodes[0].freeze();
  await untilAnswered(stage, WHILE_FROZEN).finally(wake);
}

/** One node is replaced, and the other runs for only a tenth of each second, which is too slow for its health checks. */
async function slowDown({ run, nodes: [replaced, slow] }: Stage): Promise<void> {
  const code = await replaced.stop();
  run.require('a node exits with 0', code === 0, code);
  for (let pause = 0; pause < 4; pause += 1) {
    const wake = slow.freeze();
    await Bun.sleep(900);
    wake();
    await Bun.sleep(100);
  }
  await replaced.start();
}

/** Waits until the node has sent this many more responses on routes that start like this. */
async function untilCounted({ adminUrl }: Node, route: string, more: number): Promise<void> {
  const metric = 'offerbook_http_requests_total';
  await untilMore(async () => (await readMetric(adminUrl, metric, `route="${route}`)) || 0, more);
}
