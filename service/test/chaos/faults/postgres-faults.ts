// The PostgreSQL faults, each with its start and its end.

import { query } from '../../support/postgres-replica.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
import { killPostgres } from '../cluster/machine.ts';
import { freeze } from '../cluster/pair.ts';
import { ROLE, type Stage } from '../cluster/stage.ts';

export interface Fault {
  readonly name: string;
  readonly withStandby?: boolean;
  /** True if transactions cannot be served for a while. A short fault may go unnoticed. */
  readonly isOutage: boolean;
  /** Starts the fault. Returns a function that ends it and returns the server that the node then uses. */
  readonly begin: (stage: Stage) => Promise<() => Promise<PostgresServer>>;
}

export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    name: 'stopped',
    isOutage: true,
    async begin({ primary }) {
      await primary.process.stop();
      return () => started(primary);
    },
  },
  {
    name: 'killed',
    isOutage: true,
    async begin({ primary }) {
      await killPostgres(primary);
      return () => started(primary);
    },
  },
  {
    name: 'restarted',
    isOutage: false,
    async begin({ primary }) {
      await primary.process.stop();
      await primary.process.start();
      return async () => primary;
    },
  },
  {
    name: 'frozen',
    isOutage: true,
    async begin({ primary }) {
      const wake = freeze(primary);
      return async () => {
        wake();
        return primary;
      };
    },
  },
  {
    name: 'cut off without a reset',
    isOutage: true,
    async begin({ primary, proxy }) {
      proxy.fallSilent();
      return async () => {
        proxy.comeBack();
        return primary;
      };
    },
  },
  {
    name: 'out of connections',
    isOutage: true,
    async begin({ primary }) {
      await query(primary, `ALTER ROLE ${ROLE} CONNECTION LIMIT 0`);
      // A connection that was being opened when the limit changed is not listed yet.
      await until(
        () => endConnections(primary),
        (count) => count === 0,
      );
      return async () => {
        await query(primary, `ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
        return primary;
      };
    },
  },
  {
    name: 'connections ended',
    isOutage: false,
    async begin({ primary }) {
      await endConnections(primary);
      return async () => primary;
    },
  },
  {
    name: 'failed over to another address',
    withStandby: true,
    isOutage: true,
    async begin({ primary, standby }) {
      if (standby === undefined) throw new Error('there is no standby');
      await killPostgres(primary);
      return async () => {
        await query(standby, 'SELECT pg_promote(wait => true)');
        return standby;
      };
    },
  },
];

async function started(server: PostgresServer): Promise<PostgresServer> {
  await server.process.start();
  return server;
}

/** Returns the number of connections that it ended. */
async function endConnections(server: PostgresServer): Promise<number> {
  const ended = await query(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`,
  );
  return ended.length;
}
