// Constant disturbances of a node with several workers: workers are killed and frozen, the catalogue is replaced, tokens are
// revoked and PostgreSQL is stopped. Requests continue at a rate that leaves most of the machine idle.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { offerbook, type ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { WorkerFaults } from '../support/faulty-workers/worker-faults.ts';
import { id, offer, retailer, transaction } from '../support/fixtures.ts';
import { freePort, type PostgresServer } from '../support/postgres-server.ts';
import { residentMb } from '../support/resident-memory.ts';
import { ndjson } from '../support/test-node.ts';

const CLIENTS = 4;
const PAUSE_MS = 150;
const REQUEST_TIMEOUT_MS = 15_000;
const OFFERS_OF_RETAILER = 10;
const OUTAGE_MS = 5_000;
/** Requests for transactions may be rejected for this long after the database has recovered. */
const RECOVERY_MAX_MS = 10_000;
/** Enough connections that every worker gets some. */
const CONNECTIONS = 24;

export interface SoakOptions {
  readonly databaseUrl: string;
  readonly minutes: number;
  readonly workers: number;
  readonly offers: number;
  /** Stopped and started in each round if PostgreSQL is the database. */
  readonly postgres?: PostgresServer | undefined;
  readonly onRound: (line: string) => void;
}

export interface SoakReport {
  readonly rounds: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Wrong responses, and missing responses without a known reason. */
  readonly wrong: readonly string[];
  /** Requests that a worker was handling when it was killed. */
  readonly cutOff: number;
  readonly restarts: number;
  readonly revokedWithinMs: number;
  readonly takenUpWithinMs: number;
  /** Called after each round. */
  readonly memoryMb: readonly number[];
}

export async function soakWorkers(options: SoakOptions): Promise<SoakReport> {
  const env = { OFFERBOOK_DATABASE_URL: options.databaseUrl };
  await fill(env, options.offers);
  using faults = new WorkerFaults();
  const adminPort = await freePort();
  const args = ['--workers', String(options.workers), '--admin-port', String(adminPort)];
  const limits = { OFFERBOOK_RATE_LIMIT_PUBLIC: '0', OFFERBOOK_RATE_LIMIT_PRIVATE: '0' };
  await using server = await faults.start(args, { env: { ...env, ...limits } });
  const soak = new Soak(options, env, server, faults, adminPort);
  return await soak.run();
}

async function fill(env: Record<string, string>, offers: number): Promise<void> {
  await run(env, 'orgs', 'create', 'acme');
  const file = join(temporaryFolder(), 'catalogue.ndjson');
  const stream = createWriteStream(file);
  for (let i = 0; i < offers / OFFERS_OF_RETAILER; i += 1) {
    const first = 1_000_000 + i * OFFERS_OF_RETAILER;
    const own = Array.from({ length: OFFERS_OF_RETAILER }, (_, j) => offer(first + j));
    if (!stream.write(ndjson([retailer(i + 1, { cashbackOffers: own })]))) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
  await run(env, 'import', 'catalogue', file);
}

async function run(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await offerbook(args, { env });
  if (code !== 0) throw new Error(`offerbook ${args.join(' ')}: ${stderr}`);
  return stdout;
}

class Soak {
  readonly #options: SoakOptions;
  readonly #env: Record<string, string>;
  readonly #server: ServerProcess;
  readonly #faults: WorkerFaults;
  readonly #adminUrl: string;
  readonly #statuses: Record<string, number> = {};
  readonly #wrong: string[] = [];
  readonly #memoryMb: number[] = [];
  readonly #tokens = { public: '', private: '' };
  #cutOff = 0;
  #revokedWithinMs = 0;
  #takenUpWithinMs = 0;
  #isOver = false;
  #workersMayFail = false;
  #databaseMayFail = false;

  constructor(
    options: SoakOptions,
    env: Record<string, string>,
    server: ServerProcess,
    faults: WorkerFaults,
    adminPort: number,
  ) {
    this.#options = options;
    this.#env = env;
    this.#server = server;
    this.#faults = faults;
    this.#adminUrl = `http://127.0.0.1:${adminPort}`;
  }

  async run(): Promise<SoakReport> {
    for (const kind of ['public', 'private'] as const) this.#tokens[kind] = (await this.#issue(kind)).token;
    await this.#allReady();
    const clients = Array.from({ length: CLIENTS }, (_, i) => this.#askOn(i));
    const endMs = performance.now() + this.#options.minutes * 60_000;
    let rounds = 0;
    while (performance.now() < endMs) {
      await this.#playRound(rounds);
      rounds += 1;
      this.#memoryMb.push(residentMb(this.#server.pid));
      this.#options.onRound(
        `round ${rounds}: ${this.#memoryMb.at(-1)} MB, ${JSON.stringify(this.#statuses)}, ` +
          `${this.#cutOff} cut off, ${this.#wrong.length} wrong`,
      );
    }
    this.#isOver = true;
    await Promise.all(clients);
    return {
      rounds,
      statuses: this.#statuses,
      wrong: this.#wrong,
      cutOff: this.#cutOff,
      restarts: await this.#metric('offerbook_worker_restarts_total'),
      revokedWithinMs: this.#revokedWithinMs,
      takenUpWithinMs: this.#takenUpWithinMs,
      memoryMb: this.#memoryMb,
    };
  }

  async #playRound(round: number): Promise<void> {
    const { workers, postgres } = this.#options;
    await this.#kill('crash', (round % workers) + 1);
    await this.#changeCatalogue(round);
    await this.#revoke();
    await this.#kill('loop', ((round + 1) % workers) + 1);
    await this.#addTransactions(round);
    if (postgres !== undefined) await this.#stopDatabase(postgres);
  }

  async #kill(fault: 'crash' | 'loop', worker: number): Promise<void> {
    const before = await this.#metric('offerbook_worker_restarts_total');
    this.#workersMayFail = true;
    this.#faults.letHappen(fault, worker);
    while ((await this.#metric('offerbook_worker_restarts_total')) === before) await Bun.sleep(100);
    await this.#allReady();
    // By now, the clients of this worker have noticed.
    await Bun.sleep(1_000);
    this.#workersMayFail = false;
  }

  async #changeCatalogue(round: number): Promise<void> {
    const name = `Retailer of round ${round}`;
    const file = join(temporaryFolder(), 'change.ndjson');
    await Bun.write(file, ndjson([retailer(1, { name, cashbackOffers: [offer(1)] })]));
    await run(this.#env, 'import', 'catalogue', file, '--merge');
    const importedAtMs = performance.now();
    await this.#until('/v1/retailers/?limit=1', this.#tokens.public, async (response) =>
      (await response.text()).includes(name),
    );
    this.#takenUpWithinMs = Math.max(this.#takenUpWithinMs, performance.now() - importedAtMs);
  }

  async #addTransactions(round: number): Promise<void> {
    const rows = Array.from({ length: 50 }, (_, i) => transaction(round * 50 + i + 1));
    const file = join(temporaryFolder(), 'transactions.ndjson');
    await Bun.write(file, ndjson(rows));
    await run(this.#env, 'import', 'transactions', file, '--org', 'acme');
    const newest = id(round * 50 + 50);
    const path = `/v1/transactions/?limit=1000&updatedAtGreaterThan=${new Date(Date.now() - 60_000).toISOString().slice(0, 19)}`;
    await this.#until(path, this.#tokens.private, async (response) =>
      (await response.text()).includes(newest),
    );
  }

  async #revoke(): Promise<void> {
    const { id: tokenId, token } = await this.#issue('private');
    const path = '/v1/transactions/?limit=1';
    await this.#until(path, token, async ({ status }) => status === 200);
    await run(this.#env, 'tokens', 'revoke', tokenId);
    const revokedAtMs = performance.now();
    await this.#until(path, token, async ({ status }) => status === 401);
    this.#revokedWithinMs = Math.max(this.#revokedWithinMs, performance.now() - revokedAtMs);
  }

  async #stopDatabase(postgres: PostgresServer): Promise<void> {
    this.#databaseMayFail = true;
    await postgres.process.stop();
    await Bun.sleep(OUTAGE_MS);
    await postgres.process.start();
    const startedAtMs = performance.now();
    await this.#until(
      '/v1/transactions/?limit=1',
      this.#tokens.private,
      async ({ status }) => status === 200,
    );
    const recoveryMs = performance.now() - startedAtMs;
    if (recoveryMs > RECOVERY_MAX_MS) this.#wrong.push(`recovery took ${Math.round(recoveryMs)} ms`);
    while ((await this.#metric('offerbook_database_usable')) !== 1) await Bun.sleep(100);
    this.#databaseMayFail = false;
  }

  /** Sends requests over separate connections until all responses, and thus all workers, are correct. */
  async #until(
    path: string,
    token: string,
    isRight: (response: Response) => Promise<boolean>,
  ): Promise<void> {
    const giveUpAtMs = performance.now() + 120_000;
    for (let inARow = 0; inARow < CONNECTIONS; ) {
      const isSo = await this.#fetch(path, token, true).then(isRight, () => false);
      inARow = isSo ? inARow + 1 : 0;
      if (performance.now() < giveUpAtMs) continue;
      this.#wrong.push(`${path} was not as it should be for two minutes`);
      return;
    }
  }

  async #askOn(client: number): Promise<void> {
    for (let i = client; !this.#isOver; i += 1) {
      const targets = [
        `/v1/cashback-offers/?cursor=${id(1_000_000 + ((i * 7_919) % this.#options.offers))}`,
        '/v1/transactions/?limit=100',
        `/v1/cashback-offers/?name=${i % 100}&limit=20`,
        '/v1/retailers/',
        '/readyz',
      ];
      await this.#ask(targets[i % targets.length] ?? '', i % 3 === 0);
      await Bun.sleep(PAUSE_MS);
    }
  }

  async #ask(path: string, isOwnConnection: boolean): Promise<void> {
    const isPrivate = path.startsWith('/v1/transactions/');
    const token = isPrivate ? this.#tokens.private : this.#tokens.public;
    // A fault that has ended in the meantime may still be the reason.
    const [workersMayFail, databaseMayFail] = [this.#workersMayFail, this.#databaseMayFail];
    try {
      const response = await this.#fetch(path, token, isOwnConnection);
      const body = await response.text();
      const { status } = response;
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
      const mayBeRefused = isPrivate && (databaseMayFail || this.#databaseMayFail);
      if (status === 200 || (status === 503 && mayBeRefused)) return;
      this.#wrong.push(`${status} for ${path}: ${body.slice(0, 200)}`);
    } catch (error) {
      if (workersMayFail || this.#workersMayFail) this.#cutOff += 1;
      else this.#wrong.push(`${path}: ${error}`);
    }
  }

  #fetch(path: string, token: string, isOwnConnection: boolean): Promise<Response> {
    return fetch(this.#server.url + path, {
      headers: { Authorization: `Bearer ${token}`, ...(isOwnConnection ? { Connection: 'close' } : {}) },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  }

  async #issue(kind: 'public' | 'private'): Promise<{ id: string; token: string }> {
    const printed = await run(this.#env, 'tokens', 'issue', '--org', 'acme', '--kind', kind, '--json');
    return JSON.parse(printed) as { id: string; token: string };
  }

  async #allReady(): Promise<void> {
    while ((await this.#metric('offerbook_workers_ready')) < this.#options.workers) await Bun.sleep(100);
  }

  async #metric(name: string): Promise<number> {
    const page = await (await fetch(`${this.#adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1]);
  }
}
