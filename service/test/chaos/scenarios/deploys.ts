// Nodes behind the proxies that docs/operations/proxies.md recommends are replaced, frozen or slow, or their database is locked,
// under load. No request may fail that a node alone would have answered, and no request may be sent twice.

import postgres from 'postgres';
import { PROXIES } from '../../support/reverse-proxy.ts';
import { until } from '../../support/until.ts';
import type { Node } from '../cluster/node.ts';
import { ProxiedNodes } from '../cluster/proxied-nodes.ts';
import { seed } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import type { Tally } from '../traffic/tally.ts';

/** Requests through each proxy while a node is frozen. They must not take as long as the proxies' read timeout of 15 s. */
const WHILE_FROZEN = 60;
const UNAVAILABLE_MIN = 20;

const PARTS = [
  { name: 'replace', part: replace },
  { name: 'freeze', part: freeze },
  { name: 'slow', part: slowDown },
  { name: 'lock', part: lock },
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
  },
  mustHappen: ['requests'],
  short: { minutes: 20, values: { stops: '2', rate: '40' } },
  async run(run) {
    const databaseUrl = await run.database.create();
    const names = run.choose('proxy', PROXIES, (name) => name);
    const fleet = await ProxiedNodes.start(run, await seed(databaseUrl), names);
    for (const { name, part } of run.choose('only', PARTS, (it) => it.name)) {
      // Readers of SQLite never wait for a lock.
      if (name === 'lock' && run.database.name === 'SQLite') continue;
      const tallies = await part(run, fleet, databaseUrl);
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
        const allowed = name === 'lock' ? ['200', '503'] : ['200'];
        const others = Object.keys({ ...statuses, ...failures }).filter((it) => !allowed.includes(it));
        run.require(`${name}: no request fails behind ${names[i]}`, others.length === 0, others);
      }
    }
  },
};

function replace(run: Run, fleet: ProxiedNodes): Promise<readonly Tally[]> {
  return fleet.underLoad(run.number('rate'), async () => {
    for (let stop = 0; stop < run.number('stops') && !run.isOver; stop++) {
      const node = fleet.nodes[stop % 2 === 0 ? 0 : 1];
      await replaceNode(run, node);
      await fleet.untilInRotation(node);
      run.count('nodes replaced');
    }
  });
}

/** Stops a node, awaits `meanwhile`, and starts the node again. */
async function replaceNode(run: Run, node: Node, meanwhile?: () => Promise<void>): Promise<void> {
  const code = await node.stop();
  run.require('every node exits with 0', code === 0, code);
  await meanwhile?.();
  await node.start();
}

function freeze(run: Run, fleet: ProxiedNodes): Promise<readonly Tally[]> {
  return fleet.underLoad(Math.min(50, run.number('rate')), async ({ untilAnswered }) => {
    const wake = fleet.nodes[0].freeze();
    await untilAnswered(WHILE_FROZEN).finally(wake);
  });
}

/** One node is replaced, and the other runs for only a tenth of each second, which is too slow for its health checks. */
function slowDown(run: Run, fleet: ProxiedNodes): Promise<readonly Tally[]> {
  return fleet.underLoad(Math.min(25, run.number('rate')), () =>
    replaceNode(run, fleet.nodes[0], async () => {
      for (let pause = 0; pause < 4; pause += 1) {
        const wake = fleet.nodes[1].freeze();
        await Bun.sleep(900);
        wake();
        await Bun.sleep(100);
      }
    }),
  );
}

/** Locks the transactions, as some ALTER TABLE statements do: they get 503, the catalogue is served, nothing is sent twice. */
async function lock(run: Run, fleet: ProxiedNodes, databaseUrl: string): Promise<readonly Tally[]> {
  const before = await fleet.responses();
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  const tallies = await fleet.underLoad(Math.min(40, run.number('rate')), async (load) => {
    await sql.begin(async (connection) => {
      await connection`LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE`;
      const fewest = () => Math.min(...load.tallies.map((tally) => tally.count(503)));
      await until(fewest, (count) => count >= UNAVAILABLE_MIN);
    });
  });
  await sql.end();
  const answered = tallies.reduce((sum, tally) => sum + tally.answered, 0);
  const sent = (await fleet.responses()) - before;
  run.require('the proxies send no request twice', sent === answered, { answered, sent });
  for (const tally of tallies) {
    // Every fourth request is for transactions; the last ones may be incomplete.
    const catalogueMin = Math.floor((tally.answered * 3) / 4) - 2;
    run.require('the catalogue is served', tally.count(200) >= catalogueMin, tally.statuses);
  }
  return tallies;
}
