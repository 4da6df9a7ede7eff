// Two nodes behind the proxies that docs/operations/proxies.md recommends are replaced, frozen or slow, or their database is
// locked, under load. No request may fail that a node alone would have answered, and no request may be sent twice.

import postgres from 'postgres';
import { PROXIES, ReverseProxy } from '../../support/reverse-proxy.ts';
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

/** The nodes, the URL of each proxy, and the requests of each client: every fourth is for a page of transactions. */
interface Behind {
  readonly nodes: readonly [Node, Node];
  readonly proxies: readonly string[];
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
    const urls = nodes.map(({ url }) => url);
    const proxies: string[] = [];
    for (const name of names) proxies.push(run.use(await ReverseProxy.start(name, urls)).url);
    const catalogue = getRequest('/v1/cashback-offers/', tokens.public);
    const requests = [catalogue, catalogue, catalogue, getRequest('/v1/transactions/', tokens.private)];
    const behind = { nodes, proxies, requests, databaseUrl };
    for (const { name, part, rateMax } of run.choose('only', PARTS, (it) => it.name)) {
      // Readers of SQLite never wait for a lock.
      if (name === 'lock' && run.database.name === 'SQLite') continue;
      const tallies = proxies.map(() => new Tally());
      const countSent = async () => {
        const [first, second] = await Promise.all(nodes.map((node) => countResponses(node, '/v1')));
        return (first ?? 0) + (second ?? 0);
      };
      const before = await countSent();
      await underLoad(behind, tallies, Math.min(rateMax, run.number('rate')), (load) =>
        part(run, behind, load),
      );
      // The counts of the other parts end with their nodes.
      if (name === 'lock') {
        const answered = tallies.reduce((sum, tally) => sum + tally.answered, 0);
        const sent = (await countSent()) - before;
        run.require('the proxies send no request twice', sent === answered, { answered, sent });
      }
      for (const [i, tally] of tallies.entries()) {
        const { answered, statuses, failures, unsent } = tally;
        run.count('requests', answered);
        run.row({
          part: name,
          proxy: names[i] ?? '',
          requests: answered,
          statuses: JSON.stringify(statuses),
          failures: JSON.stringify(failures),
          unsent,
          'p99, ms': Math.round(tally.percentileMs(0.99)),
        });
        const allowed = name === 'lock' || run.flag('busy') ? ['200', '503'] : ['200'];
        const others = Object.keys({ ...statuses, ...failures }).filter((it) => !allowed.includes(it));
        run.require(`${name}: no request fails behind ${names[i]}`, others.length === 0, others);
        // The last requests for transactions may be incomplete.
        const catalogueMin = Math.floor((answered * 3) / 4) - 2;
        run.require(`${name}: the catalogue is served`, tally.count(200) >= catalogueMin, statuses);
      }
    }
  },
};

interface Load {
  readonly tallies: readonly Tally[];
  /** Waits until this many more requests were answered through each proxy. */
  untilAnswered(more: number): Promise<void>;
}

/** Sends requests at this rate through each proxy while `disturb` runs. */
async function underLoad(
  { proxies, requests }: Behind,
  tallies: readonly Tally[],
  perSecond: number,
  disturb: (load: Load) => Promise<void>,
): Promise<void> {
  let isDone = false;
  const loads = proxies.map((url, i) => {
    const traffic = { url, requests, isOver: () => isDone, tally: tallies[i] ?? new Tally() };
    return openLoop(traffic, perSecond, CONNECTIONS_MAX);
  });
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
}

async function replace(run: Run, { nodes }: Behind): Promise<void> {
  for (let stop = 0; stop < run.number('stops') && !run.isOver; stop++) {
    const node = nodes[stop % 2 === 0 ? 0 : 1];
    await replaceNode(run, node);
    await untilInRotation(node, run.choose('proxy', PROXIES, (name) => name).includes('haproxy'));
    run.count('nodes replaced');
  }
}

/** Stops a node, awaits `meanwhile`, and starts the node again. */
async function replaceNode(run: Run, node: Node, meanwhile?: () => Promise<void>): Promise<void> {
  const code = await node.stop();
  run.require('every node exits with 0', code === 0, code);
  await meanwhile?.();
  await node.start();
}

/** Waits until all proxies send requests to a node that was started under load. */
async function untilInRotation(node: Node, hasChecks: boolean): Promise<void> {
  const checked = await countResponses(node, '/readyz');
  // When the second health check arrives, the proxy has seen the result of the first.
  if (hasChecks)
    await until(
      () => countResponses(node, '/readyz'),
      (count) => count >= checked + 2,
    );
  await until(
    () => countResponses(node, '/v1'),
    (count) => count >= SERVED_MIN,
  );
}

async function freeze(_run: Run, { nodes }: Behind, { untilAnswered }: Load): Promise<void> {
  const wake = nodes[0].freeze();
  await untilAnswered(WHILE_FROZEN).finally(wake);
}

/** One node is replaced, and the other runs for only a tenth of each second, which is too slow for its health checks. */
function slowDown(run: Run, { nodes }: Behind): Promise<void> {
  return replaceNode(run, nodes[0], async () => {
    for (let pause = 0; pause < 4; pause += 1) {
      const wake = nodes[1].freeze();
      await Bun.sleep(900);
      wake();
      await Bun.sleep(100);
    }
  });
}

/** Locks the transactions, as some ALTER TABLE statements do. */
async function lock(_run: Run, { databaseUrl }: Behind, { tallies }: Load): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await sql.begin(async (connection) => {
    await connection`LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE`;
    const fewest = () => Math.min(...tallies.map((tally) => tally.count(503)));
    await until(fewest, (count) => count >= UNAVAILABLE_MIN);
  });
  await sql.end();
}

/** Number of responses that a node has sent on routes that start like this. */
async function countResponses({ adminUrl }: Node, route: string): Promise<number> {
  return (await readMetric(adminUrl, 'offerbook_http_requests_total', `route="${route}`)) || 0;
}
