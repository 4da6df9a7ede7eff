// Two nodes behind the proxies that docs/operations/proxies.md recommends are replaced, frozen or slow, or their database is
// locked, under load. No request may fail that a node alone would have answered, and no request may be sent twice.

import postgres from 'postgres';
import { PROXIES, type ProxyName, startProxy } from '../../support/reverse-proxy.ts';
import { until } from '../../support/until.ts';
import { Node, readMetric } from '../cluster/node.ts';
import { seed } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import { getRequest } from '../traffic/http-connection.ts';
import { openLoop } from '../traffic/loops.ts';
import { Tally } from '../traffic/tally.ts';

const CONNECTIONS_MAX = 200;
/** A node that has answered this many requests is in the rotation of the proxies. */
const SERVED_MIN = 20;
/** Requests through each proxy while a node is frozen. They must not take as long as the proxies' read timeout of 15 s. */
const WHILE_FROZEN = 60;
const UNAVAILABLE_MIN = 20;

interface Stage {
  readonly run: Run;
  readonly nodes: readonly [Node, Node];
  /** The proxies, with a count of the responses to this part's requests. */
  readonly proxies: readonly { readonly name: ProxyName; readonly url: string; readonly tally: Tally }[];
  /** The requests of each client: every fourth is for a page of transactions. */
  readonly requests: readonly Uint8Array[];
  readonly databaseUrl: string;
}

const PARTS = [
  { name: 'replace', part: replace, rateMax: Number.POSITIVE_INFINITY },
  { name: 'freeze', part: freeze, rateMax: 50 },
  { name: 'slow', part: slowDown, rateMax: 25 },
  { name: 'lock', part: lock, rateMax: 40 },
];

export const deploys: Scenario = {
  name: 'deploys',
  summary: 'Replaces, freezes and slows down nodes behind proxies; no request may fail.',
  databases: BOTH,
  minutes: 20,
  options: {
    only: { type: 'string', multiple: true, help: 'replace, freeze, slow or lock' },
    stops: { type: 'string', default: '50', help: 'number of nodes that are replaced' },
    rate: { type: 'string', default: '1000', help: 'requests per second through each proxy' },
    proxy: { type: 'string', multiple: true, help: 'nginx or haproxy' },
    // Pages of a new node on PostgreSQL need new connections first. Without spare CPU time, they may wait longer than a node's
    // queue allows, which is 500 ms.
    busy: { type: 'boolean', help: 'accept 503 for transactions, which a node without CPU time returns' },
  },
  mustHappen: ['requests'],
  short: { minutes: 20, values: { stops: '2', rate: '40', busy: true } },
  async run(run) {
    const databaseUrl = await run.database.create();
    const { tokens } = await seed(databaseUrl);
    const start = async () => run.use(await Node.start(databaseUrl, { discardsLog: true }));
    const nodes = [await start(), await start()] as const;
    const names = run.choose('proxy', PROXIES, (name) => name);
    const nodeUrls = nodes.map(({ url }) => url);
    const urls: string[] = [];
    for (const name of names) urls.push(run.use(await startProxy(name, nodeUrls)).url);
    const catalogue = getRequest('/v1/cashback-offers/', tokens.public);
    const requests = [catalogue, catalogue, catalogue, getRequest('/v1/transactions/', tokens.private)];
    for (const { name, part, rateMax } of run.choose('only', PARTS, (it) => it.name)) {
      // Readers of SQLite never wait for a lock.
      if (name === 'lock' && run.database.name === 'SQLite') continue;
      const proxies = names.map((proxy, i) => ({ name: proxy, url: urls[i] ?? '', tally: new Tally() }));
      const sentBefore = await countSent(nodes);
      const rate = Math.min(rateMax, run.number('rate'));
      await underLoad({ run, nodes, proxies, requests, databaseUrl }, rate, part);
      // The counts of the other parts end with their nodes.
      if (name === 'lock') {
        const answered = proxies.reduce((sum, { tally }) => sum + tally.answered, 0);
        const sent = (await countSent(nodes)) - sentBefore;
        run.require('the proxies send no request twice', sent === answered, { answered, sent });
      }
      for (const { name: proxy, tally } of proxies) {
        const { answered, statuses, failures, unsent } = tally;
        run.count('requests', answered);
        run.rows.push({
          ...{ part: name, proxy, requests: answered },
          ...{ statuses: JSON.stringify(statuses), failures: JSON.stringify(failures), unsent },
          'p99, ms': Math.round(tally.percentileMs(0.99)),
        });
        const allowed = name === 'lock' || run.flag('busy') ? ['200', '503'] : ['200'];
        const others = Object.keys({ ...statuses, ...failures }).filter((it) => !allowed.includes(it));
        run.require(`${name}: no request fails behind ${proxy}`, others.length === 0, others);
        // The last requests for transactions may be incomplete.
        const catalogueMin = Math.floor((answered * 3) / 4) - 2;
        run.require(`${name}: the catalogue is served`, tally.count(200) >= catalogueMin, statuses);
      }
    }
  },
};

/** Sends requests at this rate through each proxy while the part runs. */
async function underLoad(
  stage: Stage,
  perSecond: number,
  part: (stage: Stage) => Promise<void>,
): Promise<void> {
  let isDone = false;
  const loads = stage.proxies.map(({ url, tally }) => {
    const traffic = { url, requests: stage.requests, isOver: () => isDone, tally };
    return openLoop(traffic, perSecond, CONNECTIONS_MAX);
  });
  try {
    await untilAnswered(stage, SERVED_MIN);
    await part(stage);
    await untilAnswered(stage, SERVED_MIN);
  } finally {
    isDone = true;
    await Promise.all(loads);
  }
}

/** Waits until this many more requests were answered through each proxy. */
async function untilAnswered({ proxies }: Stage, more: number): Promise<void> {
  const answered = () => Math.min(...proxies.map(({ tally }) => tally.answered));
  const wanted = answered() + more;
  await until(answered, (count) => count >= wanted);
}

async function replace({ run, nodes, proxies }: Stage): Promise<void> {
  for (let stop = 0; stop < run.number('stops') && !run.isOver; stop++) {
    const node = nodes[stop % 2 === 0 ? 0 : 1];
    await stopNode(run, node);
    await node.start();
    // When the second health check arrives, HAProxy has seen the result of the first.
    if (proxies.some(({ name }) => name === 'haproxy')) await untilCounted(node, '/readyz', 2);
    await untilCounted(node, '/v1', SERVED_MIN);
    run.count('nodes replaced');
  }
}

async function stopNode(run: Run, node: Node): Promise<void> {
  const code = await node.stop();
  run.require('every node exits with 0', code === 0, code);
}

async function freeze(stage: Stage): Promise<void> {
  const wake = stage.nodes[0].freeze();
  await untilAnswered(stage, WHILE_FROZEN).finally(wake);
}

/** One node is replaced, and the other runs for only a tenth of each second, which is too slow for its health checks. */
async function slowDown({ run, nodes: [replaced, slow] }: Stage): Promise<void> {
  await stopNode(run, replaced);
  for (let pause = 0; pause < 4; pause += 1) {
    const wake = slow.freeze();
    await Bun.sleep(900);
    wake();
    await Bun.sleep(100);
  }
  await replaced.start();
}

/** Locks the transactions, as some ALTER TABLE statements do. */
async function lock({ databaseUrl, proxies }: Stage): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await sql.begin(async (connection) => {
    await connection`LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE`;
    const fewest = () => Math.min(...proxies.map(({ tally }) => tally.count(503)));
    await until(fewest, (count) => count >= UNAVAILABLE_MIN);
  });
  await sql.end();
}

/** Number of responses that a node has sent on routes that start like this. */
async function countResponses({ adminUrl }: Node, route: string): Promise<number> {
  return (await readMetric(adminUrl, 'offerbook_http_requests_total', `route="${route}`)) || 0;
}

async function countSent(nodes: readonly Node[]): Promise<number> {
  const counts = await Promise.all(nodes.map((node) => countResponses(node, '/v1')));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function untilCounted(node: Node, route: string, more: number): Promise<void> {
  const before = await countResponses(node, route);
  await until(
    () => countResponses(node, route),
    (count) => count >= before + more,
  );
}
