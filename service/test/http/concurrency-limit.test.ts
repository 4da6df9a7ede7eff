// Limits concurrent work: what runs, what waits, what is rejected, and fairness between organisations.

import { expect, test } from 'bun:test';
import type { AccessToken } from '../../src/domain/access-token.ts';
import { ApiError } from '../../src/domain/api-errors.ts';
import { openExchange } from '../../src/http/exchange.ts';
import { concurrencyLimit } from '../../src/http/operations/concurrency-limit.ts';
import type { Services } from '../../src/http/operations/operation.ts';
import { READS_AT_ONCE_MAX } from '../../src/http/operations/operation-routes.ts';
import { transactionRoute } from '../../src/http/operations/transactions-route.ts';
import { SERVER_OPTIONS } from '../../src/storage/open-database.ts';
import { id } from '../support/fixtures.ts';

const ANYBODY = { orgId: 1, id: 'a' };

/** Work that the test ends. */
function job() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { work: () => promise, end: () => resolve('done'), fail: () => reject(new Error('failed')) };
}

const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error) =>
      error instanceof ApiError
        ? `${error.code}, retry after ${error.headers['Retry-After']} s`
        : String(error),
  );

/** Requests that wait for a limit. `begun` and `jobs` have the callers and the work that has begun; the test ends the work. */
function queue(runningMax: number) {
  const limited = concurrencyLimit({ runningMax, waitMaxMs: 60_000 });
  const begun: string[] = [];
  const jobs: ReturnType<typeof job>[] = [];
  const start = (caller: typeof ANYBODY) => {
    const each = job();
    begun.push(caller.id);
    jobs.push(each);
    return each.work();
  };
  const ask = (caller: typeof ANYBODY) => outcome(limited(caller, () => start(caller)));
  return { ask, begun, jobs };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a concurrency limit runs a limited number of tasks at once, and the other tasks of one caller in order of arrival', async () => {
  const { ask, jobs } = queue(2);
  const outcomes = Array.from({ length: 5 }, () => ask(ANYBODY));
  await settle();
  expect(jobs).toHaveLength(2);
  // The longest waiting work is next, also after a failure.
  for (const number of [1, 2]) {
    jobs[number]?.fail();
    await settle();
    expect(jobs).toHaveLength(number + 2);
  }
  for (const number of [0, 3, 4]) {
    jobs[number]?.end();
    await settle();
  }
  expect(await Promise.all(outcomes)).toEqual(['done', 'Error: failed', 'Error: failed', 'done', 'done']);
});

test("a concurrency limit alternates between organisations, and between each organisation's tokens, regardless of their number of requests", async () => {
  const { ask, begun, jobs } = queue(1);
  const [greedy, sister, other] = [ANYBODY, { orgId: 1, id: 'b' }, { orgId: 2, id: 'c' }];
  const asked = [greedy, greedy, greedy, greedy, sister, sister, other].map(ask);
  for (let done = 0; done < 7; done++) {
    await settle();
    jobs[done]?.end();
  }
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 7 }, () => 'done'));
  expect(begun).toEqual(['a', 'a', 'c', 'b', 'a', 'b', 'a']);
});

test('a concurrency limit rejects requests that waited too long, without starting their work', async () => {
  const limited = concurrencyLimit({ runningMax: 1, waitMaxMs: 20 });
  const first = job();
  const running = outcome(limited(ANYBODY, first.work));
  let begun = false;
  const late = outcome(
    limited(ANYBODY, async () => {
      begun = true;
    }),
  );
  expect(await late).toBe('unavailable, retry after 1 s');
  first.end();
  expect([await running, begun]).toEqual(['done', false]);
  expect(await outcome(limited(ANYBODY, async () => 'next'))).toBe('done');
});

test('a concurrency limit lets the event loop run between tasks that block the thread', async () => {
  const limited = concurrencyLimit({ runningMax: 8, waitMaxMs: 60_000 });
  const holdUp = async () => {
    for (const endMs = performance.now() + 5; performance.now() < endMs; );
  };
  let turns = 0;
  let working = true;
  const work = Promise.all(Array.from({ length: 30 }, () => limited(ANYBODY, holdUp))).then(() => {
    working = false;
  });
  while (working) {
    await settle();
    turns += 1;
  }
  await work;
  // 150 ms of work in total; no turn of the event loop took much more than 20 ms.
  expect(turns).toBeGreaterThan(4);
});

test('a single transaction waits in the same queue as pages of transactions', async () => {
  const transactionQueue = concurrencyLimit({ runningMax: 1, waitMaxMs: 60_000 });
  const running = job();
  const page = outcome(transactionQueue(ANYBODY, running.work));
  const looked: string[] = [];
  const transactions = { find: async (_: number, id: string) => void looked.push(id) };
  const route = transactionRoute({ transactions, transactionQueue } as unknown as Services);
  const exchange = { ...openExchange(new Request('http://test/')), parameters: { id: id(1) } };
  const item = outcome(Promise.resolve(route(exchange, ANYBODY as AccessToken)));
  await settle();
  expect(looked).toEqual([]);
  running.end();
  expect(await Promise.all([page, item])).toEqual(['done', expect.stringMatching(/^transaction_not_found/)]);
  expect(looked).toEqual([id(1)]);
});

test('the queue of pages admits two pages per database connection, so the second is ready when the first ends', () => {
  expect(READS_AT_ONCE_MAX).toBe(2 * (SERVER_OPTIONS.pageConnectionsMax ?? 0));
});
