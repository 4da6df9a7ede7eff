// How requests are sent, retried and abandoned, with an injected fetch and clock.

import { describe, expect, test } from 'bun:test';
import { AbortedError, ApiError, MalformedResponseError, OutageError, TimeoutError } from '../src/index.ts';
import {
  failure,
  html,
  id,
  json,
  PRIVATE,
  PUBLIC,
  page,
  problem,
  refuseConnection,
  type ScriptedFetch,
  scripted,
} from './support/answers.ts';
import { openClient } from './support/open-client.ts';

const never = () => new Promise<never>(() => {});

test('a request does not send cookies or follow redirects', async () => {
  const sent: unknown[] = [];
  const fetch: ScriptedFetch['fetch'] = async (_, { method, credentials, redirect, ...rest }) => {
    sent.push({ method, credentials, redirect });
    expect(Object.keys(rest).toSorted()).toEqual(['headers', 'signal']);
    return page([]);
  };
  await openClient({ fetch }).client.retailers();
  expect(sent).toEqual([{ method: 'GET', credentials: 'omit', redirect: 'manual' }]);
});

describe('failed requests', () => {
  test('a failed request is retried with exponential backoff, and the eventual response is returned', async () => {
    const script = scripted(
      refuseConnection,
      () => problem(503, 'unavailable'),
      () => problem(429, 'rate_limited', { 'Retry-After': '7' }),
      () => html(503),
      () => page([1]),
    );
    const { client, clock } = openClient(script);
    expect((await client.retailers()).data).toHaveLength(1);
    expect(clock.slept).toEqual([250, 500, 8_000, 2_000]);
  });

  test.each<[string, unknown, string]>([
    [
      'Node, whose fetch hides the reason in the cause',
      new TypeError('fetch failed', { cause: Object.assign(new Error(''), { code: 'ECONNREFUSED' }) }),
      'connection refused',
    ],
    [
      'Bun, whose message has several sentences',
      Object.assign(new TypeError('ECONNRESET: Closed. Pass `verbose: true`'), { code: 'ECONNRESET' }),
      'the connection was closed',
    ],
    [
      'Node, for a reason without a code',
      new TypeError('fetch failed', { cause: new Error('bad port') }),
      'fetch failed (bad port)',
    ],
    ['Bun, whose message is a question', new Error('Is the address right?'), 'Is the address right'],
    ['a fetch that throws a string', 'no network', 'no network'],
  ])('the error contains the reason for a failed fetch: %s', async (_, thrown, reason) => {
    const fetch = () => Promise.reject(thrown);
    const { client } = openClient({ fetch }, { retry: { attemptsMax: 1 } });
    expect(await failure(client.retailers())).toMatchObject({
      name: 'NetworkError',
      message: `No complete response from https://api.example/v1/retailers/: ${reason}. Check the address and the network.`,
      cause: thrown,
    });
  });

  test('a failed request throws immediately if the pause would exceed the budget', async () => {
    const script = scripted(() => problem(429, 'rate_limited', { 'Retry-After': '50' }));
    const { client, clock } = openClient(script, { retry: { budgetMs: 50_000 } });
    expect(await failure(client.retailers())).toMatchObject({
      code: 'rate_limited',
      attempts: 1,
      retryAfterMs: 50_000,
    });
    expect(clock.slept).toEqual([]);
  });

  test.each([0, 3_600_000, -3_600_000])(
    'a request spends at most its budget on attempts that hang, also when the clock is set by %p ms',
    async (byMs) => {
      const { client, clock } = openClient(
        {
          fetch: () => {
            clock.set(byMs);
            return never();
          },
        },
        { timeoutMs: 40_000, retry: { attemptsMax: 100 } },
      );
      const startedAtMs = clock.monotonicMs();
      expect(await failure(client.retailers())).toBeInstanceOf(TimeoutError);
      expect(clock.monotonicMs() - startedAtMs).toBe(90_000);
    },
  );

  test('a request has the default budget if the option is missing or undefined', async () => {
    const script = scripted(
      () => problem(429, 'rate_limited', { 'Retry-After': '50' }),
      () => page([]),
    );
    const { client, clock } = openClient(script, { retry: { budgetMs: undefined, attemptsMax: undefined } });
    expect((await client.retailers()).data).toEqual([]);
    expect(clock.slept).toEqual([50_250]);
  });

  test("the error for a rejected request has all fields of the service's problem document", async () => {
    const errors = [{ parameter: 'limit', detail: 'must be a whole number from 1 to 1000' }];
    const script = scripted(() => problem(400, 'invalid_parameter', {}, { errors, detail: 'limit is bad.' }));
    const error = await failure(openClient(script).client.retailers());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      name: 'ApiError',
      code: 'invalid_parameter',
      status: 400,
      requestId: 'req-1',
      detail: 'limit is bad.',
      errors,
      type: 'https://api.example/errors/invalid_parameter',
      message:
        'limit is bad. (400 invalid_parameter, request req-1; see https://api.example/errors/invalid_parameter)',
    });
  });

  test('the error for a response from a server that is not Offerbook contains the response and the address', async () => {
    const error = await failure(openClient(scripted(() => html(200))).client.retailers());
    expect(error).toBeInstanceOf(MalformedResponseError);
    expect(error).toMatchObject({
      code: 'not_offerbook',
      status: 200,
      message:
        'https://api.example/v1/retailers/ did not respond like Offerbook: status 200, text/html, "<html><title>Bad gateway</title></html>". Check the address and any proxy in between.',
    });
  });

  test('a request answered by a proxy throws an OutageError', async () => {
    const script = scripted(() => html(502, { 'Retry-After': '3' }));
    const error = await failure(openClient(script, { retry: { attemptsMax: 1 } }).client.retailers());
    expect(error).toBeInstanceOf(OutageError);
    expect(error).toMatchObject({
      code: 'outage',
      status: 502,
      retryAfterMs: 3_000,
      attempts: 1,
      message:
        'https://api.example/v1/retailers/ is unreachable: a proxy in front of the service returned 502. Try again later; if this persists, contact the operator of the service.',
    });
  });
});

test('each retry, and nothing else, is reported to onRetry before the pause, with the error and the delay', async () => {
  const script = scripted(
    refuseConnection,
    () => problem(500, 'internal'),
    () => problem(400, 'invalid_parameter'),
  );
  const seen: unknown[] = [];
  const { client, clock } = openClient(script, {
    onRetry: (error, retryInMs) =>
      void seen.push([error.code, error.attempts, retryInMs, clock.slept.length]),
  });
  expect(await failure(client.retailers())).toBeInstanceOf(ApiError);
  expect(seen).toEqual([
    ['network', 1, 250, 0],
    ['internal', 2, 500, 1],
  ]);
});

describe('options of a call', () => {
  test("a call applies its own options to all its pages, and the next call uses the client's options", async () => {
    const told: string[] = [];
    const script = scripted(
      () => page([1], 2),
      () => problem(503, 'unavailable'),
      () => problem(503, 'unavailable'),
      () => page([]),
    );
    const { client, clock } = openClient(script, { headers: { 'X-Team': 'blue', 'X-Run': '1' } });
    const list = client.retailers({
      headers: { 'x-run': '2', authorization: 'Bearer stolen' },
      retry: { attemptsMax: 2, delayMs: 7 },
      onRetry: (error) => void told.push(error.code),
    });
    expect(await failure(list.toArray({ max: 9 }))).toMatchObject({ code: 'unavailable', attempts: 2 });
    await client.retailers();
    expect(clock.slept).toEqual([7]);
    expect(told).toEqual(['unavailable']);
    const sent = script.requests.map(({ headers }) => [
      headers['x-team'],
      headers['x-run'],
      headers.authorization,
    ]);
    expect(sent).toEqual([
      ...Array.from({ length: 3 }, () => ['blue', '2', `Bearer ${PUBLIC}`]),
      ['blue', '1', `Bearer ${PUBLIC}`],
    ]);
    expect(script.requests.map(({ url }) => new URL(url).search)).toEqual([
      '',
      `?cursor=${id(2)}`,
      `?cursor=${id(2)}`,
      '',
    ]);
  });

  test('a call can have its own timeout', async () => {
    const { client, clock } = openClient({ fetch: never }, { retry: { attemptsMax: 1 } });
    expect(await failure(client.retailers({ timeoutMs: 123 }))).toMatchObject({
      code: 'timeout',
      attempts: 1,
    });
    expect(clock.slept).toEqual([123]);
  });

  test.each([
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { retry: { attemptsMax: 0 } },
    { retry: { delayMs: -1 } },
    { retry: { budgetMs: Number.NaN } },
    { retry: { attemptsMax: '5' as unknown as number } },
  ])('an invalid setting is rejected: %j', (options) => {
    const { client } = openClient(scripted());
    expect(() => client.retailers(options)).toThrow(RangeError);
    expect(() => openClient(scripted(), options)).toThrow(RangeError);
  });
});

describe('the number of attempts in an error', () => {
  test("an error's number of attempts includes the attempts before an abort during a pause", async () => {
    const controller = new AbortController();
    const script = scripted(refuseConnection, () => problem(503, 'unavailable'));
    const onRetry = (error: { attempts: number }) => void (error.attempts === 2 && controller.abort());
    const { client, clock } = openClient(script, { onRetry });
    const error = await failure(client.retailers({ signal: controller.signal }));
    expect(error).toMatchObject({ code: 'aborted', attempts: 2 });
    expect(clock.slept).toEqual([250]);
  });

  test.each([
    ['no page', () => json({ data: 1 }), 'bad_shape'],
    ['a page with a stuck cursor', () => page([], 1), 'stuck_cursor'],
    ['transactions without Complete-Through', () => page([1]), 'no_complete_through'],
  ])("an error's number of attempts includes the attempt that returned %s", async (_, answer, code) => {
    const { client } = openClient(scripted(refuseConnection, answer), { token: PRIVATE });
    const next = client.followTransactions({ once: true }).pages().next();
    expect(await failure(next)).toMatchObject({ code, attempts: 2 });
  });
});

describe('aborting a call', () => {
  test('an abort before the request throws without sending it', async () => {
    const script = scripted();
    const error = await failure(openClient(script).client.retailers({ signal: AbortSignal.abort('enough') }));
    expect(error).toBeInstanceOf(AbortedError);
    expect(error).toMatchObject({ name: 'AbortError', code: 'aborted', cause: 'enough', attempts: 0 });
  });

  test('an abort during the request throws immediately and aborts the fetch', async () => {
    const stop = new AbortController();
    let aborted = false;
    const fetch: ScriptedFetch['fetch'] = (_, init) => {
      init.signal?.addEventListener('abort', () => {
        aborted = true;
      });
      queueMicrotask(() => stop.abort());
      return never();
    };
    const { client } = openClient({ fetch });
    expect(await failure(client.retailers({ signal: stop.signal }))).toBeInstanceOf(AbortedError);
    expect(aborted).toBe(true);
  });

  test('an abort between two pages ends the iteration', async () => {
    const stop = new AbortController();
    const { client } = openClient(scripted(() => page([1], 2)));
    const iterate = async () => {
      for await (const _ of client.retailers({ signal: stop.signal })) stop.abort();
    };
    expect(await failure(iterate())).toBeInstanceOf(AbortedError);
  });
});
