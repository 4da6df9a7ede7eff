// A Patroni cluster on loopback: etcd, three PostgreSQL servers under Patroni, and HAProxy, which forwards connections to the
// server that is the primary according to its Patroni.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'bun';
import { signalIfThere } from '../../../support/postgres-processes.ts';
import { freePort, PASSWORD, USER } from '../../../support/postgres-server.ts';
import { patroniPrograms, startDaemon } from './daemons.ts';
import { DATABASE, Member, SCOPE } from './member.ts';

const NAMES = ['pg1', 'pg2', 'pg3'];
const READY_TIMEOUT_MS = 120_000;
/** A standby that does not replicate after this time gets a new copy of the primary, as an operator would do it. */
const REINIT_AFTER_MS = 30_000;
const LEADER_KEY = `/service/${SCOPE}/leader`;

export class PatroniCluster implements Disposable {
  readonly members: Member[] = [];
  readonly isSynchronous: boolean;
  readonly #folder = mkdtempSync(join(tmpdir(), 'offerbook-failover-'));
  #etcdPort = 0;
  #proxyPort = 0;
  /** Their pids. */
  readonly #daemons: number[] = [];

  private constructor(isSynchronous: boolean) {
    this.isSynchronous = isSynchronous;
  }

  static async start(isSynchronous: boolean): Promise<PatroniCluster> {
    const cluster = new PatroniCluster(isSynchronous);
    try {
      await cluster.#start();
    } catch (error) {
      cluster[Symbol.dispose]();
      throw error;
    }
    return cluster;
  }

  /** Lists all servers; Offerbook finds the primary. */
  get multiHostUrl(): string {
    const hosts = this.members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `postgres://${USER}:${PASSWORD}@${hosts}/${DATABASE}`;
  }

  /** HAProxy finds the primary. */
  get proxyUrl(): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${this.#proxyPort}/${DATABASE}`;
  }

  /** The servers that accept writes now. */
  async primaries(): Promise<Member[]> {
    const answers = await Promise.all(this.members.map((member) => member.isPrimary()));
    return this.members.filter((_, i) => answers[i] === true);
  }

  /** Waits until one server is the primary and both others replicate from it; returns the primary. */
  async untilHealthy(): Promise<Member> {
    const giveUpMs = performance.now() + READY_TIMEOUT_MS;
    let reinitAtMs = performance.now() + REINIT_AFTER_MS;
    while (true) {
      const [primary, ...others] = await this.primaries();
      if (primary !== undefined && others.length === 0) {
        if (await this.#isHealthy(primary)) return primary;
        if (performance.now() > reinitAtMs) {
          reinitAtMs = giveUpMs;
          await this.#reinit(primary);
        }
      }
      if (performance.now() > giveUpMs)
        throw new Error(`the cluster is not healthy: ${await this.describe()}`);
      await Bun.sleep(100);
    }
  }

  async describe(): Promise<string> {
    return $`${patroniPrograms().patronictl} -c ${this.#configuration} list`.nothrow().quiet().text();
  }

  async switchover(from: Member): Promise<void> {
    await $`${patroniPrograms().patronictl} -c ${this.#configuration} switchover --master ${from.name} --force`
      .nothrow()
      .quiet();
  }

  /** Ends the leader's lease, as etcd does when the ttl has passed. */
  async expireLeader(): Promise<void> {
    const { kvs = [] } = await this.#etcd<{ kvs?: { lease?: string }[] }>('kv/range', {
      key: btoa(LEADER_KEY),
    });
    const lease = kvs[0]?.lease;
    if (lease !== undefined) await this.#etcd('kv/lease/revoke', { ID: lease });
  }

  /** Synchronous, so that it also runs when the process is interrupted. */
  [Symbol.dispose](): void {
    for (const pid of this.#daemons) signalIfThere(pid, 'SIGKILL');
    for (const member of this.members) member[Symbol.dispose]();
    // The processes may still be writing when they are killed.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  get #configuration(): string {
    return this.members[0]?.configuration ?? '';
  }

  async #start(): Promise<void> {
    this.#etcdPort = await freePort();
    this.#proxyPort = await freePort();
    const { isSynchronous } = this;
    for (const name of NAMES) {
      const options = { name, folder: join(this.#folder, name), etcdPort: this.#etcdPort, isSynchronous };
      this.members.push(await Member.create(options));
    }
    chmodSync(this.#folder, 0o755);
    if (process.getuid?.() === 0) await $`chown -R postgres:postgres ${this.#folder}`;
    const [client, peer] = [`http://127.0.0.1:${this.#etcdPort}`, `http://127.0.0.1:${await freePort()}`];
    const settings = {
      'data-dir': join(this.#folder, 'etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
    };
    const options = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
    this.#daemons.push(startDaemon('etcd', [patroniPrograms().etcd, ...options], this.#folder));
    const file = join(this.#folder, 'haproxy.cfg');
    writeFileSync(file, this.#haproxySettings());
    for (const member of this.members) member.start();
    this.#daemons.push(startDaemon('haproxy', [patroniPrograms().haproxy, '-db', '-f', file], this.#folder));
    const primary = await this.untilHealthy();
    await primary.query(`CREATE DATABASE ${DATABASE}`, { timeoutMs: 30_000 });
  }

  #haproxySettings(): string {
    const servers = this.members.map(
      ({ name, port, restPort }) => `  server ${name} 127.0.0.1:${port} check port ${restPort}`,
    );
    return `
global
  maxconn 500
defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 30m
  timeout server 30m
listen primary
  bind 127.0.0.1:${this.#proxyPort}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 observe layer4 error-limit 1 on-error mark-down on-marked-down shutdown-sessions
${servers.join('\n')}
`;
  }

  /** In synchronous mode, Patroni must also have chosen a synchronous standby. */
  async #isHealthy(primary: Member): Promise<boolean> {
    const sql = `SELECT count(*) FILTER (WHERE state = 'streaming')::integer AS streaming,
                        count(*) FILTER (WHERE sync_state = 'sync')::integer AS synchronous
                   FROM pg_stat_replication`;
    const [row] = await primary.query<{ streaming: number; synchronous: number }>(sql).catch(() => []);
    return row?.streaming === NAMES.length - 1 && (!this.isSynchronous || row.synchronous > 0);
  }

  async #reinit(primary: Member): Promise<void> {
    const sql = `SELECT application_name AS name FROM pg_stat_replication WHERE state = 'streaming'`;
    const streaming = (await primary.query<{ name: string }>(sql).catch(() => [])).map(({ name }) => name);
    for (const { name } of this.members) {
      if (name === primary.name || streaming.includes(name)) continue;
      await $`${patroniPrograms().patronictl} -c ${this.#configuration} reinit ${SCOPE} ${name} --force`
        .nothrow()
        .quiet();
    }
  }

  async #etcd<Answer>(path: string, body: object): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${this.#etcdPort}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`etcd: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  }
}
