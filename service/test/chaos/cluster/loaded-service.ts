// A service process for load tests, with enough data to fill a page.

import { existsSync, readdirSync } from 'node:fs';
import { COMMAND, cleanEnvironment } from '../../support/command.ts';
import { offer, retailer, transaction } from '../../support/fixtures.ts';
import { freePort } from '../../support/postgres-server.ts';
import { residentMb } from '../../support/resident-memory.ts';
import { getRequest } from '../traffic/http-connection.ts';
import { importAll, issueToken, runCommand } from './commands.ts';

const RETAILERS = 300;
const TRANSACTIONS = 2_000;

export interface Seeded {
  readonly env: Record<string, string>;
  readonly publicToken: string;
  readonly privateToken: string;
  /** A request for a page of the catalogue, and one for a page of transactions. */
  readonly catalogueRequest: Uint8Array;
  readonly transactionsRequest: Uint8Array;
}

/** Fills a new database. Rate limits are off, because rejected requests would hardly load the service. */
export async function seed(databaseUrl: string): Promise<Seeded> {
  const env = {
    OFFERBOOK_DATABASE_URL: databaseUrl,
    OFFERBOOK_RATE_LIMIT_PUBLIC: '0',
    OFFERBOOK_RATE_LIMIT_PRIVATE: '0',
    OFFERBOOK_RATE_LIMIT_FAILED_AUTH: '0',
  };
  await runCommand(['orgs', 'create', 'acme'], env);
  const retailers = Array.from({ length: RETAILERS }, (_, i) =>
    retailer(i + 1, { cashbackOffers: [offer(10_000 + i)] }),
  );
  const transactions = Array.from({ length: TRANSACTIONS }, (_, i) => transaction(i + 1));
  await importAll(['catalogue'], retailers, env);
  await importAll(['transactions', '--org', 'acme'], transactions, env);
  const { token: publicToken } = await issueToken('public', env);
  const { token: privateToken } = await issueToken('private', env);
  return {
    env,
    publicToken,
    privateToken,
    catalogueRequest: getRequest('/v1/cashback-offers/', publicToken),
    transactionsRequest: getRequest('/v1/transactions/', privateToken),
  };
}

export class LoadedService implements AsyncDisposable {
  readonly url: string;
  readonly adminUrl: string;
  readonly #child: Bun.Subprocess;

  private constructor(child: Bun.Subprocess, port: number, adminPort: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
    this.adminUrl = `http://127.0.0.1:${adminPort}`;
  }

  /** Starts the service. It logs every request, as in production, but the log is discarded. */
  static async start(
    { env }: Pick<Seeded, 'env'>,
    args: readonly string[] = [],
    port?: number,
  ): Promise<LoadedService> {
    const ownPort = port ?? (await freePort());
    const adminPort = await freePort();
    const ports = ['--port', String(ownPort), '--admin-port', String(adminPort)];
    const child = Bun.spawn([COMMAND, 'serve', ...ports, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...cleanEnvironment(), ...env },
    });
    const service = new LoadedService(child, ownPort, adminPort);
    // With workers, the admin port reports the first worker a few milliseconds after the public port has opened.
    for (const url of [service.url, service.adminUrl]) {
      while ((await statusOf(`${url}/readyz`)) !== 200) {
        if (child.exitCode !== null) throw new Error(`the service exited with ${child.exitCode}`);
        await Bun.sleep(10);
      }
    }
    return service;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Undefined while the process runs. */
  get exitCode(): number | undefined {
    return this.#child.exitCode ?? undefined;
  }

  get memoryMb(): number {
    return residentMb(this.pid);
  }

  /** Number of open files and sockets; 0 if the system does not report it. */
  get openFiles(): number {
    const folder = `/proc/${this.pid}/fd`;
    return existsSync(folder) ? readdirSync(folder).length : 0;
  }

  /** Response time of /livez on the admin port. */
  async livezMs(): Promise<number> {
    const startedAtMs = performance.now();
    const response = await fetch(`${this.adminUrl}/livez`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`/livez returned ${response.status}`);
    return performance.now() - startedAtMs;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    this.#child.kill(signal);
    return this.#child.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }
}

/** Status of a response; 0 if there is none. */
export function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}
