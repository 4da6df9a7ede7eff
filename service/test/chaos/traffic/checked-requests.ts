// Requests before, during and after a fault, each compared with the only correct response. Catalogue requests must always
// succeed; requests for transactions must succeed or get 503.

import { until } from '../../support/until.ts';

export interface Answer {
  readonly kind: 'catalogue' | 'transactions' | 'health';
  readonly status: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** What was wrong; undefined for a correct response or a valid 503. */
  readonly wrong: string | undefined;
}

export interface Target {
  readonly kind: Answer['kind'];
  readonly path: string;
  readonly token?: string | undefined;
}

const PAUSE_MS = 20;
/** Correct responses in a row after which a target counts as served. */
const IN_A_ROW = 3;

export class CheckedRequests {
  readonly answers: Answer[] = [];
  /** The latest answers to each target, newest last. */
  readonly #latest: Answer[][];
  readonly #clients: Promise<void>[];
  #isOver = false;

  private constructor(baseUrl: string, targets: readonly Target[], right: readonly string[]) {
    this.#latest = targets.map(() => []);
    this.#clients = targets.map(async (target, i) => {
      while (!this.#isOver) {
        const answer = await answerOf(baseUrl, target, right[i] ?? '');
        this.answers.push(answer);
        this.#latest[i] = [...(this.#latest[i] ?? []), answer].slice(-IN_A_ROW);
        await Bun.sleep(PAUSE_MS);
      }
    });
  }

  /** Requests each target to record the correct response, then repeatedly. On a busy machine, a node may return 503 at first. */
  static async start(baseUrl: string, targets: readonly Target[]): Promise<CheckedRequests> {
    const right = await Promise.all(
      targets.map(async (target) => {
        const response = await until(
          () => ask(baseUrl, target),
          ({ status }) => status === 200,
        );
        return response.text();
      }),
    );
    return new CheckedRequests(baseUrl, targets, right);
  }

  /** Waits until each target's latest responses, to requests sent from now on, were 200. */
  async untilServed(): Promise<void> {
    const sinceMs = performance.now();
    await until(
      () =>
        this.#latest.map((answers) => answers.filter((it) => it.startedMs > sinceMs && it.status === 200)),
      (served) => served.every(({ length }) => length === IN_A_ROW),
    );
  }

  /** Waits for this many more responses with this status. */
  async untilAnswered(more: number, status: number): Promise<void> {
    const count = () => this.answers.filter((answer) => answer.status === status).length;
    const wanted = count() + more;
    await until(count, (now) => now >= wanted);
  }

  async stop(): Promise<readonly Answer[]> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    return this.answers;
  }
}

async function answerOf(baseUrl: string, target: Target, right: string): Promise<Answer> {
  const startedMs = performance.now();
  const { kind } = target;
  try {
    const response = await ask(baseUrl, target);
    const body = await response.text();
    const wrong = faultOf(response, body, kind, right);
    return { kind, status: response.status, startedMs, endedMs: performance.now(), wrong };
  } catch (error) {
    return { kind, status: 0, startedMs, endedMs: performance.now(), wrong: String(error) };
  }
}

function faultOf(response: Response, body: string, kind: Answer['kind'], right: string): string | undefined {
  if (response.status === 200) {
    // The database state in /readyz changes with the fault.
    return body === right || kind === 'health' ? undefined : `another body: ${body.slice(0, 200)}`;
  }
  const isProper503 =
    kind === 'transactions' &&
    response.status === 503 &&
    response.headers.has('Retry-After') &&
    (JSON.parse(body) as { code?: string }).code === 'unavailable';
  return isProper503 ? undefined : `${response.status} for ${kind}: ${body.slice(0, 200)}`;
}

function ask(baseUrl: string, { path, token }: Target): Promise<Response> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return fetch(baseUrl + path, { headers });
}
