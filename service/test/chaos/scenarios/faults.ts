// PostgreSQL is stopped, killed, frozen, cut off, out of connections or failed over while clients send requests. The catalogue
// is served from memory, transactions get 503 in time, and the node recovers without a restart and without leaked connections.

import { until } from '../../support/until.ts';
import { Node } from '../cluster/node.ts';
import { openFaultyPostgres, POSTGRES_FAULTS, type PostgresFault } from '../cluster/postgres-faults.ts';
import { retailersWith, runCommand, seed, transactionsUpTo } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { startRequests, type Target } from '../traffic/checked-requests.ts';

const UNAVAILABLE_WITHIN_MS = 2_000;
const RECOVERED_WITHIN_MS = 5_000;
/** An outage lasts until this many requests were rejected: two for each client that requests transactions. */
const REJECTED_MIN = 24;
/** Maximum number of a node's connections to its database. */
const CONNECTIONS_MAX = 11;

export const faults: Scenario = {
  name: 'faults',
  guarantee: 'during faults of PostgreSQL, the catalogue is served, and the node recovers without a restart',
  databases: ['PostgreSQL'],
  minutes: 10,
  options: {
    fault: { type: 'string', multiple: true, help: 'a fault, such as frozen; all if absent' },
    rounds: { type: 'string', default: '3', help: 'rounds of each fault' },
  },
  mustHappen: ['requests', '503 responses'],
  short: {
    minutes: 10,
    values: {
      rounds: '1',
      // The other faults are short, or tested in http/outage.test.ts.
      fault: ['frozen', 'cut off without a reset', 'out of connections', 'failed over to another address'],
    },
  },
  async run(run) {
    const chosen = run.choose('fault', POSTGRES_FAULTS);
    // With --busy, no times are checked.
    if (run.isBusy) await Promise.all(chosen.map((fault) => playFault(run, fault)));
    else for (const fault of chosen) await playFault(run, fault);
  },
};

async function playFault(run: Run, { name, needsStandby, begin }: PostgresFault): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const postgres = await openFaultyPostgres(stack);
  const targets = await fill(postgres.url);
  await postgres.pair.untilCaughtUp();
  // On a busy machine, PostgreSQL may be too slow for the first connections of a node, which then exits.
  const start = () =>
    Node.start(needsStandby ? postgres.urlWithStandby : postgres.url).catch((error: unknown) => error);
  const node = stack.use((await until(start, (it) => it instanceof Node)) as Node);
  const rounds = needsStandby ? 1 : run.number('rounds');
  for (let round = 0; round < rounds && !run.isOver; round++) {
    await using requests = await startRequests(node.url, targets);
    await requests.untilServed();
    const end = await begin(postgres);
    if (end !== undefined) await requests.untilAnswered(REJECTED_MIN, 503);
    await end?.();
    const endedMs = performance.now();
    await requests.untilServed();
    const answers = await requests.stop();
    const rejected = answers.filter(({ status }) => status === 503);
    const slowestMs = Math.round(Math.max(0, ...rejected.map((it) => it.endedMs - it.startedMs)));
    const recoveryMs = Math.round(Math.max(0, ...rejected.map((it) => it.endedMs - endedMs)));
    run.count('requests', answers.length);
    run.count('503 responses', rejected.length);
    run.rows.push({
      ...{ fault: name, requests: answers.length, rejected: rejected.length },
      ...{ 'slowest 503, ms': slowestMs, 'recovery, ms': recoveryMs },
    });
    for (const { wrong } of answers) if (wrong !== undefined) run.violation('WRONG', `${name}: ${wrong}`);
    run.requireWhenIdle(`${name}: a 503 comes within 2 s`, slowestMs <= UNAVAILABLE_WITHIN_MS, slowestMs);
    run.requireWhenIdle(
      `${name}: the node recovers within 5 s`,
      recoveryMs <= RECOVERED_WITHIN_MS,
      recoveryMs,
    );
    const { primary, standby } = postgres.pair;
    // Replaced connections are closed after a few seconds.
    await until(
      () => postgres.countConnections(needsStandby ? standby : primary),
      (count) => count <= CONNECTIONS_MAX,
    );
  }
}

/** A catalogue, transactions from two imports, and the paths to request: lists, a narrow window and a wide one. */
async function fill(databaseUrl: string): Promise<Target[]> {
  const { tokens } = await seed(databaseUrl, retailersWith(20), transactionsUpTo(700, 11));
  const few = transactionsUpTo(10).map((row) => `${JSON.stringify(row)}\n`);
  await runCommand(['import', 'transactions', '-', '--org', 'acme'], databaseUrl, few.join(''));
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 19);
  const pages = [
    '/v1/transactions/?limit=1000',
    `/v1/transactions/?updatedAtLessThan=${yesterday}`,
    `/v1/transactions/?updatedAtGreaterThan=${yesterday}`,
  ];
  // Often enough that every connection of the pool is open when the fault begins.
  const transactions = Array.from({ length: 12 }, (_, i) => pages[i % pages.length] ?? '');
  return [
    { kind: 'catalogue', path: '/v1/retailers/', token: tokens.public },
    { kind: 'catalogue', path: '/v1/cashback-offers/?name=a&limit=5', token: tokens.public },
    { kind: 'health', path: '/livez' },
    { kind: 'health', path: '/readyz' },
    ...transactions.map((path) => ({ kind: 'transactions', path, token: tokens.private }) as const),
  ];
}
