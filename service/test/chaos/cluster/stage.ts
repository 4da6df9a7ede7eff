// A PostgreSQL server with data, and a node that connects to it through a proxy. With a standby, the node knows its address.

import { query, removePostgres, startReplica, untilCaughtUp } from '../../support/postgres-replica.ts';
import { PASSWORD, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import type { Target } from '../traffic/checked-requests.ts';
import { FaultProxy } from './fault-proxy.ts';
import { Node } from './node.ts';
import { retailersWith, runCommand, seed, transactionsUpTo } from './seed.ts';

/** The node's user of PostgreSQL. Limits on connections do not apply to superusers. */
export const ROLE = 'offerbook_node';

export interface Stage {
  readonly primary: PostgresServer;
  /** Undefined unless requested. */
  readonly standby: PostgresServer | undefined;
  readonly proxy: FaultProxy;
  readonly node: Node;
  readonly targets: readonly Target[];
}

/** Everything that it starts ends with the stack. */
export async function openStage(stack: AsyncDisposableStack, withStandby: boolean): Promise<Stage> {
  const own = (server: PostgresServer) => stack.adopt(server, removePostgres);
  const urlOf = (ports: readonly number[]) =>
    `postgres://${ROLE}:${PASSWORD}@${ports.map((port) => `127.0.0.1:${port}`).join()}/postgres`;
  const primary = own(await startPostgres(['-c', 'fsync=off']));
  await query(primary, `CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
  await query(primary, `GRANT ALL ON SCHEMA public TO ${ROLE}`);
  const targets = await fill(urlOf([primary.port]));
  const standby = withStandby ? own(await startReplica(primary)) : undefined;
  if (standby !== undefined) await untilCaughtUp(primary, standby);
  const proxy = stack.use(await FaultProxy.start(primary.port));
  const databaseUrl = urlOf([proxy.port, ...(standby === undefined ? [] : [standby.port])]);
  // On a busy machine, PostgreSQL may be too slow for the first connections of a node, which then exits.
  const start = () => Node.start(databaseUrl).catch((error: unknown) => error);
  const node = stack.use((await until(start, (it) => it instanceof Node)) as Node);
  return { primary, standby, proxy, node, targets };
}

/** Number of the node's connections to a server. */
export async function countConnections(server: PostgresServer): Promise<number> {
  const rows = await query(server, `SELECT 1 FROM pg_stat_activity WHERE usename = '${ROLE}'`);
  return rows.length;
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
