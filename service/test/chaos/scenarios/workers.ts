// Constant disturbances of a node with several workers: workers are killed and frozen, the catalogue is replaced, tokens are
// revoked and PostgreSQL is killed. Requests continue at a rate that leaves most of the machine idle. Only requests on a worker
// that fails may be cut off, and only requests for transactions may be rejected, while the database is down.

import { WorkerFaults } from '../../support/faulty-workers/worker-faults.ts';
import { id, offer, retailer } from '../../support/fixtures.ts';
import { freePort } from '../../support/postgres-server.ts';
import { residentMb } from '../../support/resident-memory.ts';
import { ndjson } from '../../support/test-node.ts';
import { until } from '../../support/until.ts';
import { openMachine } from '../cluster/machine.ts';
import { readMetric, UNLIMITED } from '../cluster/node.ts';
import { retailersWith, runCommand, seed, transactionsUpTo } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { startRequests, type Target } from '../traffic/checked-requests.ts';
import { untilEverywhere } from '../traffic/get.ts';
import { median } from '../traffic/tally.ts';

const PAUSE_MS = 150;
const REVOKED_WITHIN_MS = 4_000;
/** Rejected requests after which PostgreSQL is started again. */
const REJECTED_MIN = 8;
const MEMORY_GROWTH_MAX = 1.15;
/** With fewer rounds, memory has not reached its steady state. */
const ROUNDS_FOR_MEMORY = 20;

export const workers: Scenario = {
  name: 'workers',
  guarantee: 'requests succeed while other workers are killed and frozen, and every worker notices changes',
  minutes: 3,
  options: {
    workers: { type: 'string', default: '4', help: 'number of workers' },
    offers: { type: 'string', default: '30000', help: 'cashback offers in the catalogue' },
  },
  mustHappen: ['rounds', 'worker restarts', 'status 200'],
  short: { minutes: 0, values: { workers: '2', offers: '300' } },
  async run(run) {
    const machine = run.use(await openMachine(run.database.name));
    const { databaseUrl } = machine;
    const { tokens } = await seed(databaseUrl, retailersWith(run.number('offers'), 10), []);
    const faults = run.use(new WorkerFaults());
    const adminPort = await freePort();
    const count = run.number('workers');
    const args = ['--workers', String(count), '--admin-port', String(adminPort)];
    const env = { ...UNLIMITED, OFFERBOOK_DATABASE_URL: databaseUrl };
    const server = run.use(await faults.start(args, { env }));
    const metric = (name: string) => readMetric(`http://127.0.0.1:${adminPort}`, `offerbook_${name}`);
    const untilReady = () => until(async () => (await metric('workers_ready')) >= count);
    const untilSales = (token: string, status: number) =>
      untilEverywhere(`${server.url}/v1/transactions/?limit=1`, token, (found) => found === status);

    /** Allows this failure during a disturbance, and until the server responds normally again. */
    async function disturb(status: 0 | 503, work: () => Promise<unknown>): Promise<void> {
      requests.allowed = [status];
      await work();
      await requests.untilServed();
      requests.allowed = [];
    }

    const fail = (fault: 'crash' | 'loop', number: number) =>
      disturb(0, async () => {
        const before = await metric('worker_restarts_total');
        faults.letHappen(fault, (number % count) + 1);
        await until(async () => (await metric('worker_restarts_total')) > before);
        await untilReady();
      });

    const killDatabase = () =>
      disturb(503, async () => {
        await machine.kill();
        await requests.untilAnswered(REJECTED_MIN, 503);
        await machine.start();
        await untilSales(tokens.private, 200);
        await until(async () => (await metric('database_usable')) === 1);
      });

    async function changeCatalogue(round: number): Promise<void> {
      const name = `Retailer of round ${round}`;
      const rows = ndjson([retailer(1, { name, cashbackOffers: [offer(1)] })]);
      await runCommand(['import', 'catalogue', '-', '--merge'], databaseUrl, rows);
      const url = `${server.url}/v1/retailers/?limit=1`;
      await untilEverywhere(url, tokens.public, (_, body) => body.includes(name));
    }

    async function addTransactions(round: number): Promise<void> {
      const rows = ndjson(transactionsUpTo(round * 50 + 50, round * 50 + 1));
      await runCommand(['import', 'transactions', '-', '--org', 'acme'], databaseUrl, rows);
      const since = new Date(Date.now() - 600_000).toISOString().slice(0, 19);
      const url = `${server.url}/v1/transactions/?limit=1000&updatedAtGreaterThan=${since}`;
      await untilEverywhere(url, tokens.private, (_, body) => body.includes(id(round * 50 + 50)));
    }

    async function revoke(): Promise<void> {
      const issue = ['tokens', 'issue', '--org', 'acme', '--kind', 'private', '--json'];
      const issued = JSON.parse(await runCommand(issue, databaseUrl)) as { id: string; token: string };
      await untilSales(issued.token, 200);
      await runCommand(['tokens', 'revoke', issued.id], databaseUrl);
      const revokedAtMs = performance.now();
      await untilSales(issued.token, 401);
      const tookMs = performance.now() - revokedAtMs;
      run.requireWhenIdle('a revocation takes effect within 4 s', tookMs <= REVOKED_WITHIN_MS, tookMs);
    }

    await untilReady();
    const options = { pauseMs: PAUSE_MS, allowed: [] };
    const requests = run.use(await startRequests(server.url, targetsFor(run, tokens), options));
    const memoryMb: number[] = [];
    try {
      for (let round = 0; !run.isOver; round++) {
        await fail('crash', round);
        await changeCatalogue(round);
        await revoke();
        await fail('loop', round + 1);
        await addTransactions(round);
        if (run.database.name === 'PostgreSQL') await killDatabase();
        memoryMb.push(residentMb(server.pid));
        run.count('rounds');
        run.print(`round ${round + 1}: ${memoryMb.at(-1)} MB, ${requests.answers.length} requests`);
      }
    } finally {
      for (const { status, wrong } of await requests.stop()) {
        run.count(status === 0 ? 'cut off' : `status ${status}`);
        if (wrong !== undefined) run.violation('WRONG', wrong);
      }
    }
    run.count('worker restarts', await metric('worker_restarts_total'));
    judgeMemory(run, memoryMb);
  },
};

function targetsFor(run: Run, tokens: Readonly<Record<'public' | 'private', string>>): readonly Target[] {
  const firstId = (n: number) => id(1_000_000 + ((n * 7_919) % run.number('offers')));
  const catalogue = { kind: 'catalogue', token: tokens.public } as const;
  return [
    { ...catalogue, path: (n) => `/v1/cashback-offers/?cursor=${firstId(n)}` },
    { ...catalogue, path: (n) => `/v1/cashback-offers/?name=${n % 100}&limit=20` },
    { ...catalogue, path: '/v1/retailers/', changing: true },
    { kind: 'transactions', path: '/v1/transactions/?limit=100', token: tokens.private, changing: true },
    { kind: 'health', path: '/readyz' },
  ];
}

/** Compares the second quarter with the last: the first quarter warms up the server. */
function judgeMemory(run: Run, memoryMb: readonly number[]): void {
  if (memoryMb.length < ROUNDS_FOR_MEMORY) return;
  const quarter = Math.ceil(memoryMb.length / 4);
  const [earlier, later] = [memoryMb.slice(quarter, 2 * quarter), memoryMb.slice(-quarter)].map(median);
  run.limit('memory at the end', later ?? Number.NaN, (earlier ?? 0) * MEMORY_GROWTH_MAX, 'MB');
}
