// A server process with its own ports and spool. It can be stopped, killed and frozen, and started again at the same address.

import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '@offerbook/sandbox/random.ts';
import { COMMAND, cleanEnvironment } from '../../support/command.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { leakWatch } from '../../support/leak-watch.ts';
import { freePort } from '../../support/postgres-server.ts';
import { residentMb } from '../../support/resident-memory.ts';
import { until } from '../../support/until.ts';
import { get } from '../traffic/get.ts';

/** Far longer than a server needs to load a large catalogue on a busy machine. */
const START_MAX_MS = 300_000;
/** Far longer than a restart, or a failover of the database. */
const SERVED_MAX_MS = 60_000;

/** Rejected requests would hardly load a server, and all clients share one address. The disk of a scenario may be small. */
export const UNLIMITED = {
  OFFERBOOK_RATE_LIMIT_PUBLIC: '0',
  OFFERBOOK_RATE_LIMIT_PRIVATE: '0',
  OFFERBOOK_RATE_LIMIT_FAILED_AUTH: '0',
  OFFERBOOK_RATE_LIMIT_ACTIVATION: '0',
  OFFERBOOK_RATE_LIMIT_ACTIVATION_ORG: '0',
  OFFERBOOK_DISK_RESERVE: '0',
};

export interface NodeOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** True under heavy load: the server writes its log, as in production, but nothing stores it. */
  readonly discardsLog?: boolean;
}

export class Node implements AsyncDisposable {
  readonly url: string;
  readonly adminUrl: string;
  readonly #command: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #log: string;
  #child!: Bun.Subprocess;

  private constructor(databaseUrl: string, ports: readonly number[], options: NodeOptions) {
    const [port, adminPort] = ports.map(String);
    this.url = `http://127.0.0.1:${port}`;
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
    const folder = temporaryFolder();
    this.#log = options.discardsLog === true ? '/dev/null' : join(folder, 'log');
    const args = ['--port', port ?? '', '--admin-port', adminPort ?? '', '--spool', folder];
    this.#command = [COMMAND, 'serve', ...args, ...(options.args ?? [])];
    this.#env = { ...UNLIMITED, OFFERBOOK_DATABASE_URL: databaseUrl, ...options.env };
  }

  static async start(databaseUrl: string, options: NodeOptions = {}): Promise<Node> {
    const node = new Node(databaseUrl, [await freePort(), await freePort()], options);
    await node.start();
    return node;
  }

  /** Starts the process, and waits until it is ready. */
  async start(): Promise<void> {
    const log = openSync(this.#log, 'a');
    const child = Bun.spawn([...this.#command], {
      stdio: ['ignore', log, log],
      env: { ...cleanEnvironment(), ...this.#env },
    });
    closeSync(log);
    this.#child = child;
    // With workers, the admin port reports the first worker a few milliseconds after the public port has opened.
    for (const url of [this.url, this.adminUrl]) {
      const isReady = () => {
        if (child.exitCode !== null) throw this.#failure(child.exitCode);
        return get(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      };
      await until(isReady, Boolean, START_MAX_MS);
    }
  }

  /** Sends a signal, waits for the exit, and returns the exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    this.#child.kill(signal);
    const code = await this.#child.exited;
    if (this.#log !== '/dev/null') leakWatch.noteOutput('log', this.#output());
    return code;
  }

  /** Throws if the process does not end well after SIGTERM. */
  async restart(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const code = await this.stop(signal);
    if (signal === 'SIGTERM' && code !== 0) throw this.#failure(code);
    await this.start();
  }

  /** Freezes the process; returns a function that wakes it. */
  freeze(): () => void {
    this.#child.kill('SIGSTOP');
    return () => this.#child.kill('SIGCONT');
  }

  get(path: string, token?: string): Promise<Response> {
    return get(this.url + path, { token });
  }

  get pid(): number {
    return this.#child.pid;
  }

  get memoryMb(): number {
    return residentMb(this.pid);
  }

  /** Number of open files and sockets; 0 if the system does not report it. */
  get openFiles(): number {
    const folder = `/proc/${this.pid}/fd`;
    return existsSync(folder) ? readdirSync(folder).length : 0;
  }

  /** Log lines of all processes that this node has had. */
  get logLines(): readonly string[] {
    return this.#output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }

  #failure(code: number): Error {
    return new Error(`the server exited with ${code}: ${this.#output().slice(-2_000)}`);
  }

  #output(): string {
    return readFileSync(this.#log, 'utf8');
  }
}

/** Sum of a metric's samples, or of those whose labels contain `label`; NaN if there are none. */
export async function readMetric(adminUrl: string, name: string, label = ''): Promise<number> {
  const page = await (await get(`${adminUrl}/metrics`)).text();
  const samples = page
    .split('\n')
    .filter((line) => /^\w+/.exec(line)?.[0] === name && line.includes(label))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  return samples.length === 0 ? Number.NaN : samples.reduce((sum, value) => sum + value);
}

/** Sends the request to a random node, and retries on random nodes while a node is down or its database is unreachable. */
export async function sendToAny(
  nodes: readonly Node[],
  path: string,
  token: string,
  random: Random,
): Promise<Response> {
  const giveUpMs = performance.now() + SERVED_MAX_MS;
  while (true) {
    // Read the body here, because a server may be killed in the middle of it.
    const outcome = await random
      .pick(nodes)
      .get(path, token)
      .then(async (response) => new Response(await response.text(), response))
      .catch((error: unknown) => error);
    if (outcome instanceof Response && outcome.status !== 503) return outcome;
    if (performance.now() > giveUpMs) {
      const last = outcome instanceof Response ? await outcome.text() : outcome;
      throw new Error(`no node has served ${path} for ${SERVED_MAX_MS} ms: ${last}`);
    }
    await Bun.sleep(20);
  }
}
