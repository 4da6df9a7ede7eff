// Clients of a node with workers that know which failures are allowed at the moment, and the node's metrics.

import { id } from '../../support/fixtures.ts';
import { until } from '../../support/until.ts';
import type { Run } from '../report/run.ts';

export type Tokens = Readonly<Record<'public' | 'private', string>>;

const REQUEST_TIMEOUT_MS = 60_000;
/** Consecutive correct responses on connections of their own, so that every worker has sent some. */
const CONNECTIONS = 24;

export class WatchedNode {
  /** True while requests may be cut off. */
  workersMayFail = false;
  /** True while requests for transactions may get 503. */
  databaseMayFail = false;
  rejected = 0;
  readonly #run: Run;
  readonly #url: string;
  readonly #adminUrl: string;
  readonly #tokens: Tokens;
  /** Responses to each client. */
  readonly #answered: number[];

  constructor(run: Run, url: string, adminUrl: string, tokens: Tokens, clients: number) {
    this.#run = run;
    this.#url = url;
    this.#adminUrl = adminUrl;
    this.#tokens = tokens;
    this.#answered = Array(clients).fill(0);
  }

  async metric(name: string): Promise<number> {
    const page = await (await fetch(`${this.#adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1]);
  }

  /** Sends one request of a client and checks the response. */
  async ask(client: number, number: number, offers: number): Promise<void> {
    const targets = [
      `/v1/cashback-offers/?cursor=${id(1_000_000 + ((number * 7_919) % offers))}`,
      '/v1/transactions/?limit=100',
      `/v1/cashback-offers/?name=${number % 100}&limit=20`,
      '/v1/retailers/',
      '/readyz',
    ];
    const path = targets[number % targets.length] ?? '';
    const isPrivate = path.startsWith('/v1/transactions/');
    // A fault that has ended in the meantime may still be the reason.
    const [workersMayFail, databaseMayFail] = [this.workersMayFail, this.databaseMayFail];
    try {
      const token = isPrivate ? this.#tokens.private : this.#tokens.public;
      const response = await this.#fetch(path, token, number % 3 === 0);
      const body = await response.text();
      this.#run.count(`status ${response.status}`);
      const mayBeRejected = isPrivate && (databaseMayFail || this.databaseMayFail);
      if (response.status === 503 && mayBeRejected) this.rejected += 1;
      else if (response.status !== 200)
        this.#run.violation('WRONG', `${response.status} for ${path}: ${body.slice(0, 200)}`);
    } catch (error) {
      if (workersMayFail || this.workersMayFail) this.#run.count('cut off');
      else this.#run.violation('WRONG', `${path}: ${error}`);
    }
    this.#answered[client] = (this.#answered[client] ?? 0) + 1;
  }

  /** Waits until every client has noticed that a worker or the database has recovered. */
  async untilAllAnswered(): Promise<void> {
    const wanted = this.#answered.map((count) => count + 2);
    await until(
      () => [...this.#answered],
      (now) => now.every((count, client) => count >= (wanted[client] ?? 0)),
    );
  }

  /** Sends requests over separate connections until all responses, and thus all workers, are correct. */
  async untilEverywhere(
    path: string,
    token: string,
    isRight: (status: number, body: string) => boolean,
  ): Promise<void> {
    const findProblem = async () => {
      for (let count = 0; count < CONNECTIONS; count++) {
        const response = await this.#fetch(path, token, true);
        const body = await response.text();
        if (!isRight(response.status, body)) return `${response.status}: ${body.slice(0, 200)}`;
      }
      return undefined;
    };
    await until(
      () => findProblem().catch(String),
      (problem) => problem === undefined,
    );
  }

  #fetch(path: string, token: string, isOwnConnection: boolean): Promise<Response> {
    return fetch(this.#url + path, {
      headers: { Authorization: `Bearer ${token}`, ...(isOwnConnection ? { Connection: 'close' } : {}) },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  }
}
