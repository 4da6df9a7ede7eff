// Clients that repeat their requests before, during and after faults. Every response is checked: it must be the correct one, or
// a failure that is allowed at the time.

import { until, untilMore } from '../../support/until.ts';
import { get } from './get.ts';

export interface Target {
  readonly kind: 'catalogue' | 'transactions' | 'health';
  /** If the path depends on the number of the request, or is `changing`, the body of a 200 is not checked. */
  readonly path: string | ((request: number) => string);
  readonly changing?: boolean;
  readonly token?: string | undefined;
}

export interface Answer {
  readonly kind: Target['kind'];
  /** 0 if there was no response. */
  readonly status: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** What was wrong; undefined for a correct response or an allowed failure. */
  readonly wrong: string | undefined;
}

/** Correct responses in a row after which a target counts as served. */
const IN_A_ROW = 3;

export type CheckedRequests = Awaited<ReturnType<typeof startRequests>>;

/**
 * Starts a client for each target. Its first 200 is the correct response; on a busy machine, a 503 may precede it. `allowed` are
 * the failures that are allowed now: 503 for requests for transactions, 0 for requests that are cut off.
 */
export async function startRequests(
  url: string,
  targets: readonly Target[],
  { pauseMs = 20, allowed = [503] as readonly number[] } = {},
) {
  const answers: Answer[] = [];
  const latest = targets.map((): Answer[] => []);
  let isOver = false;

  /** Every third request has its own connection, so that a server with several workers passes it to any of them. */
  function send(target: Target, number: number): Promise<Response> {
    const headers: Record<string, string> = number % 3 === 0 ? { Connection: 'close' } : {};
    return get(url + pathOf(target, number), { token: target.token, headers });
  }

  async function answerOf(target: Target, number: number, right: string): Promise<Answer> {
    const startedMs = performance.now();
    const allowedBefore = requests.allowed;
    // A fault that has ended in the meantime may be the reason of a failure.
    const allows = (status: number) => allowedBefore.includes(status) || requests.allowed.includes(status);
    const done = (status: number, wrong: string | undefined): Answer => ({
      ...{ kind: target.kind, status, startedMs, endedMs: performance.now(), wrong },
    });
    try {
      const response = await send(target, number);
      const body = await response.text();
      return done(response.status, problemOf(target, response, body, right, allows));
    } catch (error) {
      return done(0, allows(0) ? undefined : `${pathOf(target, number)}: ${error}`);
    }
  }

  const requests = {
    answers,
    allowed,
    /** Waits until each target has once answered several requests in a row with 200. A busy node may reject later requests. */
    async untilServed(): Promise<void> {
      const sinceMs = performance.now();
      const isServed = ({ startedMs, status }: Answer) => startedMs > sinceMs && status === 200;
      const served = targets.map(() => false);
      await until(
        () => {
          for (const [i, ofTarget] of latest.entries())
            served[i] ||= ofTarget.filter(isServed).length === IN_A_ROW;
          return served;
        },
        (all) => all.every(Boolean),
      );
    },
    /** Waits for this many more responses with this status. */
    async untilAnswered(more: number, status: number): Promise<void> {
      await untilMore(() => answers.filter((answer) => answer.status === status).length, more);
    },
    async stop(): Promise<readonly Answer[]> {
      isOver = true;
      await clients;
      return answers;
    },
    [Symbol.asyncDispose]: async () => void (await requests.stop()),
  };

  const right = await Promise.all(
    targets.map(async (target) =>
      (
        await until(
          () => send(target, 0),
          ({ status }) => status === 200,
        )
      ).text(),
    ),
  );
  const clients: Promise<unknown> = Promise.all(
    targets.map(async (target, i) => {
      for (let number = 1; !isOver; number++) {
        const answer = await answerOf(target, number, right[i] ?? '');
        answers.push(answer);
        latest[i] = [...(latest[i] ?? []), answer].slice(-IN_A_ROW);
        await Bun.sleep(pauseMs);
      }
    }),
  );
  return requests;
}

function pathOf({ path }: Target, number: number): string {
  return typeof path === 'string' ? path : path(number);
}

function problemOf(
  { kind, path, changing = false }: Target,
  { status, headers }: Response,
  body: string,
  right: string,
  allows: (status: number) => boolean,
): string | undefined {
  // The database state in /readyz changes with the fault.
  const isAnyBody = changing || typeof path !== 'string' || kind === 'health';
  if (status === 200)
    return isAnyBody || body === right ? undefined : `a different body: ${body.slice(0, 200)}`;
  const isProper503 =
    kind === 'transactions' && status === 503 && headers.has('Retry-After') && body.includes('"unavailable"');
  return isProper503 && allows(503) ? undefined : `${status} for ${kind}: ${body.slice(0, 200)}`;
}
