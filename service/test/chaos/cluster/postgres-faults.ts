// A PostgreSQL server behind a proxy, and the faults that make it unavailable.

import { query } from '../../support/postgres-replica.ts';
import { PASSWORD, type PostgresServer } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { killPostgres } from './machine.ts';
import { freeze, Pair } from './pair.ts';

/** The node's user of PostgreSQL. Limits on connections do not apply to superusers. */
const ROLE = 'offerbook_node';

export type FaultyPostgres = Awaited<ReturnType<typeof openFaultyPostgres>>;

/** Starts a server and its standby, which end with the stack. */
export async function openFaultyPostgres(stack: AsyncDisposableStack) {
  const pair = stack.use(await Pair.start());
  await query(pair.primary, `CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
  await query(pair.primary, `GRANT ALL ON SCHEMA public TO ${ROLE}`);
  const proxy = stack.use(await startFaultProxy(pair.primary.port));
  const urlOf = (...ports: readonly number[]) =>
    `postgres://${ROLE}:${PASSWORD}@${ports.map((port) => `127.0.0.1:${port}`).join()}/postgres`;
  return {
    pair,
    proxy,
    /** The URL of the server behind the proxy. */
    url: urlOf(proxy.port),
    urlWithStandby: urlOf(proxy.port, pair.standby.port),
    /** Number of connections of the node to a server. */
    countConnections: async (server: PostgresServer) =>
      (await query(server, `SELECT 1 FROM pg_stat_activity WHERE usename = '${ROLE}'`)).length,
  };
}

export interface PostgresFault {
  readonly name: string;
  /** The node must use the standby afterwards. Such a fault has one round, because the primary cannot be used again. */
  readonly needsStandby?: true;
  /**
   * Starts the fault. Returns a function that ends it, or undefined if the fault is already over. No request may notice such a
   * short fault.
   */
  readonly begin: (postgres: FaultyPostgres) => Promise<(() => unknown) | undefined>;
}

export const POSTGRES_FAULTS: readonly PostgresFault[] = [
  {
    name: 'stopped',
    async begin({ pair: { primary } }) {
      await primary.process.stop();
      return () => primary.process.start();
    },
  },
  {
    name: 'killed',
    async begin({ pair: { primary } }) {
      await killPostgres(primary);
      return () => primary.process.start();
    },
  },
  {
    name: 'restarted',
    async begin({ pair: { primary } }) {
      await primary.process.stop();
      await primary.process.start();
      return undefined;
    },
  },
  { name: 'frozen', begin: async ({ pair }) => freeze(pair.primary) },
  {
    name: 'cut off without a reset',
    async begin({ proxy }) {
      proxy.fallSilent();
      return () => proxy.comeBack();
    },
  },
  {
    name: 'out of connections',
    async begin({ pair: { primary } }) {
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
    async begin({ pair: { primary } }) {
      await endConnections(primary);
      return undefined;
    },
  },
  {
    name: 'failed over to another address',
    needsStandby: true,
    async begin({ pair }) {
      await killPostgres(pair.primary);
      return () => pair.promote();
    },
  },
];

/** Returns the number of connections of the node that it ended. */
async function endConnections(server: PostgresServer): Promise<number> {
  const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`;
  return (await query(server, sql)).length;
}
