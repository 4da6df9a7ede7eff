// A PostgreSQL primary and its streaming standby, which can be paused, cut off, frozen and promoted.

import { freezeAll, postgresProcesses } from '../../support/postgres-processes.ts';
import { query, removePostgres, startReplica, untilCaughtUp } from '../../support/postgres-replica.ts';
import {
  PASSWORD,
  type PostgresServer,
  postgresUrl,
  startPostgres,
  USER,
} from '../../support/postgres-server.ts';
import type { TestNode, TestNodeOptions } from '../../support/test-node.ts';
import { until } from '../../support/until.ts';
import { Scene } from './scene.ts';

export class Pair implements AsyncDisposable {
  primary: PostgresServer;
  standby: PostgresServer;
  readonly #servers: PostgresServer[];

  private constructor(primary: PostgresServer, standby: PostgresServer) {
    this.primary = primary;
    this.standby = standby;
    this.#servers = [primary, standby];
  }

  static async start(): Promise<Pair> {
    const primary = await startPostgres(['-c', 'fsync=off']);
    return new Pair(primary, await startReplica(primary));
  }

  /** Creates a database and waits until the standby has it; returns its name. */
  async newDatabase(): Promise<string> {
    const name = `scene_${Bun.randomUUIDv7().replaceAll('-', '')}`;
    await query(this.primary, `CREATE DATABASE ${name}`);
    await this.untilCaughtUp();
    return name;
  }

  /** The URL of both servers. */
  url(
    database: string,
    { others = [] as readonly PostgresServer[], user = `${USER}:${PASSWORD}` } = {},
  ): string {
    const hosts = [this.primary, this.standby, ...others].map(({ port }) => `127.0.0.1:${port}`);
    return `postgres://${user}@${hosts.join()}/${database}`;
  }

  untilCaughtUp(server = this.standby): Promise<void> {
    return untilCaughtUp(this.primary, server);
  }

  /** Lets the standby receive changes without showing them. */
  async hold(): Promise<void> {
    await query(this.standby, 'SELECT pg_wal_replay_pause()');
  }

  async release(): Promise<void> {
    await query(this.standby, 'SELECT pg_wal_replay_resume()');
  }

  /** From now on, the server receives nothing. */
  async cut(server = this.standby): Promise<void> {
    await query(server, `ALTER SYSTEM SET primary_conninfo = ''`);
    await query(server, 'SELECT pg_reload_conf()');
    await until(
      () => query(server, 'SELECT 1 FROM pg_stat_wal_receiver'),
      (rows) => rows.length === 0,
    );
  }

  /** From now on, a commit waits until the standby has it. A promoted standby is not synchronous. */
  async makeSynchronous(): Promise<void> {
    await query(this.primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await query(this.primary, 'SELECT pg_reload_conf()');
    await until(
      () => query(this.primary, `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`),
      (rows) => rows.length === 1,
    );
  }

  async promote(): Promise<void> {
    await query(this.standby, 'SELECT pg_promote()');
  }

  /** Makes the promoted standby the primary of a new pair, whose standby has this port. */
  async replacePrimary(port?: number): Promise<void> {
    this.primary = this.standby;
    await query(this.primary, 'ALTER SYSTEM RESET primary_conninfo');
    this.standby = await this.addStandby(port);
  }

  async addStandby(port?: number): Promise<PostgresServer> {
    const standby = await startReplica(this.primary, port);
    this.#servers.push(standby);
    return standby;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await removePostgres(server);
  }
}

/** Freezes all processes of a server; returns a function that wakes them. */
export function freeze({ directory }: PostgresServer): () => void {
  return freezeAll(postgresProcesses(directory));
}

/** The first node reads from the primary, the second from the standby. `options` are those of the second. */
export async function openReplicaScene(pair: Pair, options: TestNodeOptions = {}): Promise<Scene> {
  const database = await pair.newDatabase();
  const settings = { ...options.settings, replicaUrl: postgresUrl(pair.standby.port, database) };
  const scene = await Scene.open(postgresUrl(pair.primary.port, database), { ...options, settings });
  await untilReplicaIsRead(scene.nodes[1]);
  return scene;
}

/** Waits until the node's last log line about its replica reports that the replica is used. */
export async function untilReplicaIsRead(node: TestNode): Promise<void> {
  const said = () => node.logLines.map((line) => (JSON.parse(line) as { msg?: string }).msg);
  await until(
    () => said().findLast((msg) => msg?.includes('replica')),
    (msg) => msg === 'transactions are read from the replica',
  );
}

/** Waits for the log line that reports a failover. */
export function failoverOf(node: TestNode): Promise<Record<string, unknown>> {
  return node.logged(({ msg }) => String(msg).startsWith('PostgreSQL has failed over'));
}
