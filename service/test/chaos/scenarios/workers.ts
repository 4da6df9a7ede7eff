// Constant disturbances of a node with several workers: workers are killed and frozen, the catalogue is replaced, tokens are
// revoked and PostgreSQL is stopped. Requests continue at a rate that leaves most of the machine idle. Only requests on a worker
// that fails may be cut off, and only requests for transactions may be rejected, while the database is stopped.

import type { ServerProcess } from '../../support/command.ts';
import { WorkerFaults } from '../../support/faulty-workers/worker-faults.ts';
import { id, offer, retailer, transaction } from '../../support/fixtures.ts';
import { freePort } from '../../support/postgres-server.ts';
import { residentMb } from '../../support/resident-memory.ts';
import { until } from '../../support/until.ts';
import { importAll, issueToken, runCommand } from '../cluster/commands.ts';
import { type Machine, openMachine } from '../cluster/machine.ts';
import { Actors } from '../report/actors.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';

const CLIENTS = 4;
const PAUSE_MS = 150;
const REQUEST_TIMEOUT_MS = 60_000;
const OFFERS_OF_RETAILER = 10;
const REVOKED_WITHIN_MS = 4_000;
/** Rejected requests after which PostgreSQL is started again. */
const REJECTED_MIN = 8;
/** Consecutive correct responses on connections of their own, so that every worker has sent some. */
const CONNECTIONS = 24;
const MEMORY_GROWTH_MAX = 1.15;
/** With fewer rounds, memory has not reached its steady state. */
const ROUNDS_FOR_MEMORY = 20;

export const workers: Scenario = {
  name: 'workers',
  summary: 'Kills and freezes workers, changes data and stops the database; other requests must succeed.',
  databases: BOTH,
  minutes: 3,
  options: {
    workers: { type: 'string', default: '4', help: 'number of workers' },
    offers: { type: 'string', default: '30000', help: 'cashback offers in the catalogue' },
    busy: { type: 'boolean', help: 'report times without checking their limits' },
  },
  mustHappen: ['rounds', 'worker restarts', 'status 200'],
  short: { minutes: 0, values: { busy: true, workers: '2', offers: '300' } },
  async run(run) {
    const machine = run.use(await openMachine(run.database.name));
    const env = { OFFERBOOK_DATABASE_URL: machine.databaseUrl };
    await fill(env, run.number('offers'));
    const faults = run.use(new WorkerFaults());
    const adminPort = await freePort();
    const args = ['--workers', run.text('workers'), '--admin-port', String(adminPort)];
    const limits = { OFFERBOOK_RATE_LIMIT_PUBLIC: '0', OFFERBOOK_RATE_LIMIT_PRIVATE: '0' };
    const server = run.use(await faults.start(args, { env: { ...env, ...limits } }));
    await new Disturbances(run, machine, env, server, faults, adminPort).play();
  },
};

async function fill(env: Record<string, string>, offers: number): Promise<void> {
  await runCommand(['orgs', 'create', 'acme'], env);
  const retailers = Array.from({ length: offers / OFFERS_OF_RETAILER }, (_, i) => {
    const first = 1_000_000 + i * OFFERS_OF_RETAILER;
    const own = Array.from({ length: OFFERS_OF_RETAILER }, (_, j) => offer(first + j));
    return retailer(i + 1, { cashbackOffers: own });
  });
  await importAll(['catalogue'], retailers, env);
}

class Disturbances {
  readonly #run: Run;
  readonly #machine: Machine;
  readonly #env: Record<string, string>;
  readonly #server: ServerProcess;
  readonly #faults: WorkerFaults;
  readonly #adminUrl: string;
  readonly #tokens = { public: '', private: '' };
  readonly #memoryMb: number[] = [];
  /** Responses to each client. */
  readonly #answered = Array.from({ length: CLIENTS }, () => 0);
  #rejected = 0;
  #workersMayFail = false;
  #databaseMayFail = false;

  constructor(
    run: Run,
    machine: Machine,
    env: Record<string, string>,
    server: ServerProcess,
    faults: WorkerFaults,
    adminPort: number,
  ) {
    this.#run = run;
    this.#machine = machine;
    this.#env = env;
    this.#server = server;
    this.#faults = faults;
    this.#adminUrl = `http://127.0.0.1:${adminPort}`;
  }

  async play(): Promise<void> {
    for (const kind of ['public', 'private'] as const)
      this.#tokens[kind] = (await issueToken(kind, this.#env)).token;
    await this.#allReady();
    const actors = new Actors();
    for (const client of this.#answered.keys()) {
      let number = client;
      actors.start(
        () => this.#ask(client, number++),
        () => PAUSE_MS,
      );
    }
    try {
      for (let round = 0; round === 0 || !this.#run.isOver; round++) await this.#playRound(round);
    } finally {
      actors.end();
      await actors.untilOver();
    }
    this.#run.count('worker restarts', await this.#metric('offerbook_worker_restarts_total'));
    this.#judgeMemory();
  }

  async #playRound(round: number): Promise<void> {
    const workers = this.#run.number('workers');
    await this.#kill('crash', (round % workers) + 1);
    await this.#changeCatalogue(round);
    await this.#revoke();
    await this.#kill('loop', ((round + 1) % workers) + 1);
    await this.#addTransactions(round);
    if (this.#run.database.name === 'PostgreSQL') await this.#stopDatabase();
    this.#memoryMb.push(residentMb(this.#server.pid));
    this.#run.count('rounds');
    this.#run.print(`round ${round + 1}: ${this.#memoryMb.at(-1)} MB, ${JSON.stringify(this.#run.counts)}`);
  }

  async #kill(fault: 'crash' | 'loop', worker: number): Promise<void> {
    const before = await this.#metric('offerbook_worker_restarts_total');
    this.#workersMayFail = true;
    this.#faults.letHappen(fault, worker);
    await until(
      () => this.#metric('offerbook_worker_restarts_total'),
      (count) => count > before,
    );
    await this.#allReady();
    await this.#untilAllAnswered();
    this.#workersMayFail = false;
  }

  /** By then, every client has noticed that a worker has failed or recovered. */
  async #untilAllAnswered(): Promise<void> {
    const wanted = this.#answered.map((count) => count + 2);
    await until(
      () => [...this.#answered],
      (now) => now.every((count, client) => count >= (wanted[client] ?? 0)),
    );
  }

  async #changeCatalogue(round: number): Promise<void> {
    const name = `Retailer of round ${round}`;
    const changed = retailer(1, { name, cashbackOffers: [offer(1)] });
    await importAll(['catalogue', '--merge'], [changed], this.#env);
    await this.#untilEverywhere('/v1/retailers/?limit=1', this.#tokens.public, (_, body) =>
      body.includes(name),
    );
  }

  async #addTransactions(round: number): Promise<void> {
    const rows = Array.from({ length: 50 }, (_, i) => transaction(round * 50 + i + 1));
    await importAll(['transactions', '--org', 'acme'], rows, this.#env);
    const newest = id(round * 50 + 50);
    const since = new Date(Date.now() - 600_000).toISOString().slice(0, 19);
    const path = `/v1/transactions/?limit=1000&updatedAtGreaterThan=${since}`;
    await this.#untilEverywhere(path, this.#tokens.private, (_, body) => body.includes(newest));
  }

  async #revoke(): Promise<void> {
    const { id: tokenId, token } = await issueToken('private', this.#env);
    const path = '/v1/transactions/?limit=1';
    await this.#untilEverywhere(path, token, (status) => status === 200);
    await runCommand(['tokens', 'revoke', tokenId], this.#env);
    const revokedAtMs = performance.now();
    await this.#untilEverywhere(path, token, (status) => status === 401);
    const tookMs = performance.now() - revokedAtMs;
    if (!this.#run.flag('busy'))
      this.#run.require('a revocation takes effect within 4 s', tookMs <= REVOKED_WITHIN_MS, tookMs);
  }

  async #stopDatabase(): Promise<void> {
    this.#databaseMayFail = true;
    const before = this.#rejected;
    await this.#machine.kill();
    await until(
      () => this.#rejected,
      (count) => count >= before + REJECTED_MIN,
    );
    await this.#machine.start();
    const path = '/v1/transactions/?limit=1';
    await this.#untilEverywhere(path, this.#tokens.private, (status) => status === 200);
    await until(
      () => this.#metric('offerbook_database_usable'),
      (usable) => usable === 1,
    );
    await this.#untilAllAnswered();
    this.#databaseMayFail = false;
  }

  /** Sends requests over separate connections until all responses, and thus all workers, are correct. */
  async #untilEverywhere(
    path: string,
    token: string,
    isRight: (status: number, body: string) => boolean,
  ): Promise<void> {
    await until(
      async () => {
        for (let count = 0; count < CONNECTIONS; count++) {
          try {
            const response = await this.#fetch(path, token, true);
            const body = await response.text();
            if (!isRight(response.status, body)) return `${response.status}: ${body.slice(0, 200)}`;
          } catch (error) {
            return String(error);
          }
        }
        return undefined;
      },
      (problem) => problem === undefined,
    );
  }

  async #ask(client: number, number: number): Promise<void> {
    const targets = [
      `/v1/cashback-offers/?cursor=${id(1_000_000 + ((number * 7_919) % this.#run.number('offers')))}`,
      '/v1/transactions/?limit=100',
      `/v1/cashback-offers/?name=${number % 100}&limit=20`,
      '/v1/retailers/',
      '/readyz',
    ];
    const path = targets[number % targets.length] ?? '';
    const isPrivate = path.startsWith('/v1/transactions/');
    // A fault that has ended in the meantime may still be the reason.
    const [workersMayFail, databaseMayFail] = [this.#workersMayFail, this.#databaseMayFail];
    try {
      const token = isPrivate ? this.#tokens.private : this.#tokens.public;
      const response = await this.#fetch(path, token, number % 3 === 0);
      const body = await response.text();
      this.#run.count(`status ${response.status}`);
      const mayBeRejected = isPrivate && (databaseMayFail || this.#databaseMayFail);
      if (response.status === 503 && mayBeRejected) this.#rejected += 1;
      else if (response.status !== 200)
        this.#run.violation('WRONG', `${response.status} for ${path}: ${body.slice(0, 200)}`);
    } catch (error) {
      if (workersMayFail || this.#workersMayFail) this.#run.count('cut off');
      else this.#run.violation('WRONG', `${path}: ${error}`);
    }
    this.#answered[client] = (this.#answered[client] ?? 0) + 1;
  }

  #fetch(path: string, token: string, isOwnConnection: boolean): Promise<Response> {
    return fetch(this.#server.url + path, {
      headers: { Authorization: `Bearer ${token}`, ...(isOwnConnection ? { Connection: 'close' } : {}) },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  }

  async #allReady(): Promise<void> {
    await until(
      () => this.#metric('offerbook_workers_ready'),
      (count) => count >= this.#run.number('workers'),
    );
  }

  async #metric(name: string): Promise<number> {
    const page = await (await fetch(`${this.#adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1]);
  }

  /** Compares the second quarter with the last: the first quarter warms up the server. */
  #judgeMemory(): void {
    const quarter = Math.ceil(this.#memoryMb.length / 4);
    const [earlier = 0, later = 0] = [
      this.#memoryMb.slice(quarter, 2 * quarter),
      this.#memoryMb.slice(-quarter),
    ].map((values) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0);
    this.#run.count('memory at the end, MB', later);
    if (this.#memoryMb.length >= ROUNDS_FOR_MEMORY)
      this.#run.require('memory does not grow', later <= earlier * MEMORY_GROWTH_MAX, { earlier, later });
  }
}
