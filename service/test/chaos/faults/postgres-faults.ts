// The PostgreSQL faults, each with its start and its end.

import { isRunning, postgresProcesses, signalIfThere } from '../../support/postgres-processes.ts';
import { query } from '../../support/postgres-replica.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';
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
      await kill(primary);
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
      const frozen = postgresProcesses(primary.directory);
      for (const pid of frozen) signalIfThere(pid, 'SIGSTOP');
      return async () => {
        for (const pid of frozen.toReversed()) signalIfThere(pid, 'SIGCONT');
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
      await kill(primary);
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

/** Freezes the processes first, so that none can react. */
async function kill({ directory, process: server }: PostgresServer): Promise<void> {
  const all = postgresProcesses(directory);
  for (const pid of all) signalIfThere(pid, 'SIGSTOP');
  // Call stop() before the kill: it fails for a process that has already exited.
  const stopped = server.stop();
  for (const pid of all) signalIfThere(pid, 'SIGKILL');
  await stopped;
  while (all.some(isRunning)) await Bun.sleep(2);
}

/** Returns the number of connections that it ended. */
async function endConnections(server: PostgresServer): Promise<number> {
  const ended = await query(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`,
  );
  return ended.length;
}
