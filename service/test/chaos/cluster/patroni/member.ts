// One PostgreSQL server under Patroni, which can be killed, frozen, cut off from etcd, and started without Patroni.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import {
  freezeAll,
  isRunning,
  killAll,
  postgresProcesses,
  signalIfThere,
} from '../../../support/postgres-processes.ts';
import { freePort, PASSWORD, USER } from '../../../support/postgres-server.ts';
import { until } from '../../../support/until.ts';
import { FaultProxy } from '../fault-proxy.ts';
import { POSTGRES_BIN, patroniPrograms, startDaemon } from './daemons.ts';

export const DATABASE = 'offerbook';
const START_TIMEOUT_MS = 20_000;
export const SCOPE = 'offerbook';

interface MemberOptions {
  readonly name: string;
  readonly folder: string;
  readonly etcdPort: number;
  readonly isSynchronous: boolean;
}

export class Member implements Disposable {
  readonly name: string;
  readonly folder: string;
  readonly configuration: string;
  port = 0;
  restPort = 0;
  /** Patroni reaches etcd through this proxy. */
  etcd!: FaultProxy;
  /** Standbys replicate from this server through this proxy; Offerbook connects directly. */
  replication!: FaultProxy;
  #patroni: number | undefined;
  #unfenced: number | undefined;

  private constructor({ name, folder }: MemberOptions) {
    this.name = name;
    this.folder = folder;
    this.configuration = join(folder, 'patroni.yaml');
  }

  static async create(options: MemberOptions): Promise<Member> {
    const member = new Member(options);
    mkdirSync(member.folder);
    member.port = await freePort();
    member.restPort = await freePort();
    member.etcd = await FaultProxy.start(options.etcdPort);
    member.replication = await FaultProxy.start(member.port);
    // JSON is valid YAML.
    writeFileSync(member.configuration, JSON.stringify(member.#settings(options), null, 2));
    return member;
  }

  /** URL of this server alone. */
  get url(): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${this.port}/${DATABASE}`;
  }

  start(): void {
    this.#patroni = startDaemon(
      `patroni-${this.name}`,
      [patroniPrograms().patroni, this.configuration],
      this.folder,
    );
  }

  /** Kills Patroni and PostgreSQL. */
  async kill(): Promise<void> {
    await killAll(this.#processes());
    // PostgreSQL mistakes a zombie with the recorded pid for a running server.
    rmSync(join(this.folder, 'data', 'postmaster.pid'), { force: true });
    this.#patroni = undefined;
    this.#unfenced = undefined;
  }

  /** Freezes Patroni and PostgreSQL; returns a function that wakes them. */
  freeze(): () => void {
    return freezeAll(this.#processes());
  }

  /** Starts PostgreSQL on the files of a killed primary without Patroni: it accepts writes on its old timeline. */
  async startUnfenced(): Promise<void> {
    const command = [join(POSTGRES_BIN, 'postgres'), '-D', join(this.folder, 'data'), '-p', `${this.port}`];
    this.#unfenced = startDaemon(`unfenced-${this.name}`, [...command, '-h', '127.0.0.1'], this.folder);
    await until(() => this.isPrimary(), Boolean, START_TIMEOUT_MS);
  }

  /** Undefined if the server does not respond. */
  async isPrimary(): Promise<boolean | undefined> {
    const sql = 'SELECT NOT pg_is_in_recovery() AS "isPrimary"';
    return (await this.query<{ isPrimary: boolean }>(sql).catch(() => []))[0]?.isPrimary;
  }

  async timeline(): Promise<number> {
    const sql = `SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline`;
    const [row] = await this.query<{ timeline: number }>(sql, { timeoutMs: START_TIMEOUT_MS });
    if (row === undefined) throw new Error('expected exactly one row');
    return row.timeline;
  }

  /** Ends all connections of Offerbook to this server. */
  async endConnections(): Promise<void> {
    const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${DATABASE}'`;
    await this.query(sql).catch(() => {});
  }

  async query<Row>(sql: string, { database = 'postgres', timeoutMs = 1_000 } = {}): Promise<Row[]> {
    const connection = postgres(`postgres://${USER}:${PASSWORD}@127.0.0.1:${this.port}/${database}`, {
      max: 1,
      connect_timeout: 1,
      onnotice: () => {},
      fetch_types: false,
    });
    const timer = setTimeout(() => void connection.end({ timeout: 0 }), timeoutMs);
    try {
      return (await connection.unsafe(sql)) as unknown as Row[];
    } finally {
      clearTimeout(timer);
      void connection.end({ timeout: 0 });
    }
  }

  [Symbol.dispose](): void {
    for (const pid of this.#processes()) signalIfThere(pid, 'SIGKILL');
    void this.etcd[Symbol.asyncDispose]();
    void this.replication[Symbol.asyncDispose]();
  }

  /** Patroni, PostgreSQL and its children. */
  #processes(): number[] {
    const daemons = [this.#patroni, this.#unfenced].flatMap((pid) => pid ?? []);
    let server: number[] = [];
    try {
      server = postgresProcesses(this.folder);
    } catch {
      // There is no postmaster.pid, so PostgreSQL is not running.
    }
    return [...new Set([...daemons, ...server])].filter(isRunning);
  }

  #settings({ isSynchronous }: MemberOptions): object {
    const address = (port: number) => `127.0.0.1:${port}`;
    return {
      scope: SCOPE,
      name: this.name,
      restapi: { listen: address(this.restPort), connect_address: address(this.restPort) },
      // Without use_proxies, Patroni asks etcd for its addresses and connects to them directly.
      etcd3: { hosts: address(this.etcd.port), use_proxies: true },
      bootstrap: {
        dcs: {
          // On a busy machine, Patroni would lose a shorter lease now and then.
          ttl: 20,
          loop_wait: 1,
          retry_timeout: 5,
          maximum_lag_on_failover: 100_000_000,
          synchronous_mode: isSynchronous,
          postgresql: {
            use_pg_rewind: true,
            parameters: { wal_receiver_timeout: '20s', wal_sender_timeout: '20s', max_connections: 100 },
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
      },
      postgresql: {
        listen: address(this.port),
        connect_address: address(this.replication.port),
        data_dir: join(this.folder, 'data'),
        bin_dir: POSTGRES_BIN,
        pgpass: join(this.folder, 'pgpass'),
        // Otherwise, a new replica first waits minutes for the next regular checkpoint.
        basebackup: [{ checkpoint: 'fast' }],
        authentication: {
          superuser: { username: USER, password: PASSWORD },
          replication: { username: 'replicator', password: PASSWORD },
        },
        pg_hba: [
          'host replication replicator 127.0.0.1/32 scram-sha-256',
          'host all all 127.0.0.1/32 scram-sha-256',
        ],
        // A killed server would leave its socket's lock file behind.
        parameters: { unix_socket_directories: '' },
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    };
  }
}
