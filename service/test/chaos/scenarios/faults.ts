// PostgreSQL is stopped, killed, frozen, cut off, out of connections or failed over while clients send requests. The catalogue
// is served from memory, transactions get 503 in time, and the node recovers without a restart and without leaked connections.

import { query, removePostgres, startReplica, untilCaughtUp } from '../../support/postgres-replica.ts';
import { PASSWORD, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { startFaultProxy } from '../cluster/fault-proxy.ts';
import { killPostgres } from '../cluster/machine.ts';
import { Node } from '../cluster/node.ts';
import { freeze } from '../cluster/pair.ts';
import { retailersWith, runCommand, seed, transactionsUpTo } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import type { Scenario } from '../scenario.ts';
import { CheckedRequests, type Target } from '../traffic/checked-requests.ts';

const UNAVAILABLE_WITHIN_MS = 2_000;
const RECOVERED_WITHIN_MS = 5_000;
/** An outage lasts until this many requests were rejected: two for each client that requests transactions. */
const REJECTED_MIN = 24;
/** Maximum number of a node's connections to its database. */
const CONNECTIONS_MAX = 11;
/** The node's user of PostgreSQL. Limits on connections do not apply to superusers. */
const ROLE = 'offerbook_node';

type Stage = Awaited<ReturnType<typeof openStage>>;

interface Fault {
  readonly name: string;
  /** The node must use the standby afterwards. Such a fault has one round, because the primary cannot be used again. */
  readonly needsStandby?: true;
  /** So short that no request may notice it. */
  readonly isShort?: true;
  /** Starts the fault. Returns a function that ends it. */
  readonly begin: (stage: Stage) => Promise<() => unknown>;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'stopped',
    async begin({ primary }) {
      await primary.process.stop();
      return () => primary.process.start();
    },
  },
  {
    name: 'killed',
    async begin({ primary }) {
      await killPostgres(primary);
      return () => primary.process.start();
    },
  },
  {
    name: 'restarted',
    isShort: true,
    async begin({ primary }) {
      await primary.process.stop();
      await primary.process.start();
      return () => {};
    },
  },
  { name: 'frozen', begin: async ({ primary }) => freeze(primary) },
  {
    name: 'cut off without a reset',
    async begin({ proxy }) {
      proxy.fallSilent();
      return () => proxy.comeBack();
    },
  },
  {
    name: 'out of connections',
    async begin({ primary }) {
      await query(primary, `ALTER ROLE ${ROLE} CONNECTION LIMIT 0`);
      // A connection that was being opened when the limit changed is not listed yet.
      await until(
        () => endConnections(primary),
        (count) => count === 0,
      );
      return () => query(primary, `ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
    },
  },
  {
    name: 'connections ended',
    isShort: true,
    async begin({ primary }) {
      await endConnections(primary);
      return () => {};
    },
  },
  {
    name: 'failed over to another address',
    needsStandby: true,
    async begin({ primary, standby }) {
      await killPostgres(primary);
      return () => query(standby, 'SELECT pg_promote(wait => true)');
    },
  },
];

export const faults: Scenario = {
  name: 'faults',
  summary: 'Causes every fault of PostgreSQL; the catalogue is served and the node recovers.',
  databases: ['PostgreSQL'],
  minutes: 10,
  options: {
    fault: { type: 'string', multiple: true, help: 'a fault, such as frozen; all if absent' },
    rounds: { type: 'string', default: '3', help: 'rounds of each fault' },
    busy: {
      type: 'boolean',
      help: 'all faults at once, and times are reported without checking their limits',
    },
  },
  mustHappen: ['requests', '503 responses'],
  short: {
    minutes: 10,
    values: {
      busy: true,
      rounds: '1',
      // The other faults are short, or tested in http/outage.test.ts.
      fault: ['frozen', 'cut off without a reset', 'out of connections', 'failed over to another address'],
    },
  },
  async run(run) {
    const chosen = run.choose('fault', FAULTS, ({ name }) => name);
    const playFault = async (fault: Fault) => {
      await using stack = new AsyncDisposableStack();
      const stage = await openStage(stack, fault.needsStandby);
      const rounds = fault.needsStandby ? 1 : run.number('rounds');
      for (let round = 0; round < rounds && !run.isOver; round++) await playRound(run, stage, fault);
    };
    if (run.flag('busy')) await Promise.all(chosen.map(playFault));
    else for (const fault of chosen) await playFault(fault);
  },
};

async function playRound(run: Run, stage: Stage, fault: Fault): Promise<void> {
  await using requests = await CheckedRequests.start(stage.node.url, stage.targets);
  await requests.untilServed();
  const end = await fault.begin(stage);
  if (fault.isShort !== true) await requests.untilAnswered(REJECTED_MIN, 503);
  await end();
  const endedMs = performance.now();
  await requests.untilServed();
  const answers = await requests.stop();
  const rejected = answers.filter(({ status }) => status === 503);
  const slowest503Ms = Math.round(Math.max(0, ...rejected.map((it) => it.endedMs - it.startedMs)));
  const recoveryMs = Math.round(Math.max(0, ...rejected.map((it) => it.endedMs - endedMs)));
  const { name } = fault;
  run.count('requests', answers.length);
  run.count('503 responses', rejected.length);
  run.rows.push({
    fault: name,
    requests: answers.length,
    rejected: rejected.length,
    'slowest 503, ms': slowest503Ms,
    'recovery, ms': recoveryMs,
  });
  for (const { wrong } of answers) if (wrong !== undefined) run.violation('WRONG', `${name}: ${wrong}`);
  if (!run.flag('busy')) {
    run.require(`${name}: a 503 comes within 2 s`, slowest503Ms <= UNAVAILABLE_WITHIN_MS, slowest503Ms);
    run.require(`${name}: the node recovers within 5 s`, recoveryMs <= RECOVERED_WITHIN_MS, recoveryMs);
  }
  // Replaced connections are closed after a few seconds.
  await until(
    () => query(stage.standby, `SELECT 1 FROM pg_stat_activity WHERE usename = '${ROLE}'`),
    ({ length }) => length <= CONNECTIONS_MAX,
  );
}

/**
 * Starts a PostgreSQL server with data, a standby if wanted, and a node that connects to the server through a proxy. Without a
 * standby, `standby` is the server itself. Everything ends with the stack.
 */
async function openStage(stack: AsyncDisposableStack, withStandby = false) {
  const own = (server: PostgresServer) => stack.adopt(server, removePostgres);
  const urlOf = (...ports: readonly number[]) =>
    `postgres://${ROLE}:${PASSWORD}@${ports.map((port) => `127.0.0.1:${port}`).join()}/postgres`;
  const primary = own(await startPostgres(['-c', 'fsync=off']));
  await query(primary, `CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
  await query(primary, `GRANT ALL ON SCHEMA public TO ${ROLE}`);
  const targets = await fill(urlOf(primary.port));
  const standby = withStandby ? own(await startReplica(primary)) : primary;
  if (withStandby) await untilCaughtUp(primary, standby);
  const proxy = stack.use(await startFaultProxy(primary.port));
  const databaseUrl = withStandby ? urlOf(proxy.port, standby.port) : urlOf(proxy.port);
  // On a busy machine, PostgreSQL may be too slow for the first connections of a node, which then exits.
  const start = () => Node.start(databaseUrl).catch((error: unknown) => error);
  const node = stack.use((await until(start, (it) => it instanceof Node)) as Node);
  return { primary, standby, proxy, node, targets };
}

/** Returns the number of connections that it ended. */
async function endConnections(server: PostgresServer): Promise<number> {
  const ended = await query(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`,
  );
  return ended.length;
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
