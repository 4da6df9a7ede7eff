// Constant disturbances of a node with several workers: workers are killed and frozen, the catalogue is replaced, tokens are
// revoked and PostgreSQL is killed. Requests continue at a rate that leaves most of the machine idle. Only requests on a worker
// that fails may be cut off, and only requests for transactions may be rejected, while the database is down.

import { WorkerFaults } from '../../support/faulty-workers/worker-faults.ts';
import { id, offer, retailer, transaction } from '../../support/fixtures.ts';
import { freePort } from '../../support/postgres-server.ts';
import { residentMb } from '../../support/resident-memory.ts';
import { until } from '../../support/until.ts';
import { importAll, issueToken, runCommand } from '../cluster/commands.ts';
import { openMachine } from '../cluster/machine.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import { type Tokens, WatchedNode } from '../traffic/watched-node.ts';

const CLIENTS = 4;
const PAUSE_MS = 150;
const OFFERS_OF_RETAILER = 10;
const REVOKED_WITHIN_MS = 4_000;
/** Rejected requests after which PostgreSQL is started again. */
const REJECTED_MIN = 8;
const MEMORY_GROWTH_MAX = 1.15;
/** With fewer rounds, memory has not reached its steady state. */
const ROUNDS_FOR_MEMORY = 20;

export const workers: Scenario = {
  name: 'workers',
  summary: 'Kills and freezes workers, changes data and kills the database; other requests must succeed.',
  databases: BOTH,
  minutes: 3,
  options: {
    workers: { type: 'string', default: '4', help: 'number of workers' },
    offers: { type: 'string', default: '30000', help: 'cashback offers in the catalogue' },
    busy: { type: 'boolean', help: 'report times without checking their limits' },
  },
  mustHappen: ['rounds', 'worker restarts', 'status 200'],
  short: { minutes: 0, values: { busy: true, workers: '2', offers: '300' } },
  async run(run) {
    const machine = run.use(await openMachine(run.database.name));
    const env = { OFFERBOOK_DATABASE_URL: machine.databaseUrl };
    await runCommand(['orgs', 'create', 'acme'], env);
    await importAll(['catalogue'], retailersWith(run.number('offers')), env);
    const faults = run.use(new WorkerFaults());
    const adminPort = await freePort();
    const args = ['--workers', run.text('workers'), '--admin-port', String(adminPort)];
    const limits = { OFFERBOOK_RATE_LIMIT_PUBLIC: '0', OFFERBOOK_RATE_LIMIT_PRIVATE: '0' };
    const server = run.use(await faults.start(args, { env: { ...env, ...limits } }));
    const tokens: Tokens = {
      public: (await issueToken('public', env)).token,
      private: (await issueToken('private', env)).token,
    };
    const node = new WatchedNode(run, server.url, `http://127.0.0.1:${adminPort}`, tokens, CLIENTS);
    const allReady = () =>
      until(
        () => node.metric('offerbook_workers_ready'),
        (count) => count >= run.number('workers'),
      );

    async function fail(fault: 'crash' | 'loop', number: number): Promise<void> {
      const before = await node.metric('offerbook_worker_restarts_total');
      node.workersMayFail = true;
      faults.letHappen(fault, (number % run.number('workers')) + 1);
      await until(
        () => node.metric('offerbook_worker_restarts_total'),
        (count) => count > before,
      );
      await allReady();
      await node.untilAllAnswered();
      node.workersMayFail = false;
    }

    async function killDatabase(): Promise<void> {
      node.databaseMayFail = true;
      const before = node.rejected;
      await machine.kill();
      await until(
        () => node.rejected,
        (count) => count >= before + REJECTED_MIN,
      );
      await machine.start();
      await node.untilEverywhere('/v1/transactions/?limit=1', tokens.private, (status) => status === 200);
      await until(
        () => node.metric('offerbook_database_usable'),
        (usable) => usable === 1,
      );
      await node.untilAllAnswered();
      node.databaseMayFail = false;
    }

    await allReady();
    const actors = new Actors();
    for (let client = 0; client < CLIENTS; client++) {
      let number = client;
      const step = () => node.ask(client, number++, run.number('offers'));
      actors.start(step, () => PAUSE_MS);
    }
    const memoryMb: number[] = [];
    try {
      for (let round = 0; round === 0 || !run.isOver; round++) {
        await fail('crash', round);
        await changeCatalogue(node, tokens, env, round);
        await revoke(run, node, env);
        await fail('loop', round + 1);
        await addTransactions(node, tokens, env, round);
        if (run.database.name === 'PostgreSQL') await killDatabase();
        memoryMb.push(residentMb(server.pid));
        run.count('rounds');
        run.print(`round ${round + 1}: ${memoryMb.at(-1)} MB, ${JSON.stringify(run.counts)}`);
      }
    } finally {
      actors.end();
      await actors.untilOver();
    }
    run.count('worker restarts', await node.metric('offerbook_worker_restarts_total'));
    judgeMemory(run, memoryMb);
  },
};

type Environment = Readonly<Record<string, string>>;

const retailersWith = (offers: number) =>
  Array.from({ length: offers / OFFERS_OF_RETAILER }, (_, i) => {
    const first = 1_000_000 + i * OFFERS_OF_RETAILER;
    const own = Array.from({ length: OFFERS_OF_RETAILER }, (_, j) => offer(first + j));
    return retailer(i + 1, { cashbackOffers: own });
  });

async function changeCatalogue(node: WatchedNode, tokens: Tokens, env: Environment, round: number) {
  const name = `Retailer of round ${round}`;
  await importAll(['catalogue', '--merge'], [retailer(1, { name, cashbackOffers: [offer(1)] })], env);
  await node.untilEverywhere('/v1/retailers/?limit=1', tokens.public, (_, body) => body.includes(name));
}

async function addTransactions(node: WatchedNode, tokens: Tokens, env: Environment, round: number) {
  const rows = Array.from({ length: 50 }, (_, i) => transaction(round * 50 + i + 1));
  await importAll(['transactions', '--org', 'acme'], rows, env);
  const newest = id(round * 50 + 50);
  const since = new Date(Date.now() - 600_000).toISOString().slice(0, 19);
  const path = `/v1/transactions/?limit=1000&updatedAtGreaterThan=${since}`;
  await node.untilEverywhere(path, tokens.private, (_, body) => body.includes(newest));
}

async function revoke(run: Run, node: WatchedNode, env: Environment): Promise<void> {
  const { id: tokenId, token } = await issueToken('private', env);
  const path = '/v1/transactions/?limit=1';
  await node.untilEverywhere(path, token, (status) => status === 200);
  await runCommand(['tokens', 'revoke', tokenId], env);
  const revokedAtMs = performance.now();
  await node.untilEverywhere(path, token, (status) => status === 401);
  const tookMs = performance.now() - revokedAtMs;
  if (!run.flag('busy'))
    run.require('a revocation takes effect within 4 s', tookMs <= REVOKED_WITHIN_MS, tookMs);
}

/** Compares the second quarter with the last: the first quarter warms up the server. */
function judgeMemory(run: Run, memoryMb: readonly number[]): void {
  const quarter = Math.ceil(memoryMb.length / 4);
  const quarters = [memoryMb.slice(quarter, 2 * quarter), memoryMb.slice(-quarter)];
  const [earlier = 0, later = 0] = quarters.map((all) => all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0);
  run.count('memory at the end, MB', later);
  if (memoryMb.length >= ROUNDS_FOR_MEMORY)
    run.require('memory does not grow', later <= earlier * MEMORY_GROWTH_MAX, { earlier, later });
}
