// Whatever a server does, a call ends with a response after a retry, or with a typed error. It never hangs or loops.

import { describe, expect, test } from 'bun:test';
import { type ClientOptions, OfferbookClient } from '../src/index.ts';
import { failure, id, PRIVATE, PUBLIC } from './support/answers.ts';
import {
  cutOff,
  cutOffChunk,
  garbage,
  hangUp,
  reply,
  type Step,
  silence,
  stall,
  startFaultyServer,
} from './support/faulty-server.ts';

const GOOD = { body: JSON.stringify({ data: [{ id: id(1) }] }) };
const PROBLEM = {
  type: 'application/problem+json',
  body: JSON.stringify({ code: 'rate_limited', status: 429, detail: 'Too many.', requestId: 'r', type: 't' }),
};

/** Long enough that only the timeout faults time out, even on a slow machine. */
const IMPATIENT = { timeoutMs: 100 };

function open(server: { url: string }, options: Partial<ClientOptions> = {}): OfferbookClient {
  return new OfferbookClient({
    baseUrl: server.url,
    token: PUBLIC,
    timeoutMs: 60_000,
    retry: { attemptsMax: 3, delayMs: 1, retryAfterMaxMs: 1 },
    ...options,
  });
}

const PASSING: readonly [string, Step, string][] = [
  ['never responds', silence, 'TimeoutError'],
  ['sends headers and no body', stall(GOOD), 'TimeoutError'],
  ['hangs up', hangUp, 'NetworkError'],
  ['does not speak HTTP', garbage, 'NetworkError'],
  ['closes the connection in the middle of the body', cutOff(GOOD), 'NetworkError'],
  ['resets the connection in the middle of the body', cutOff(GOOD, 'reset'), 'NetworkError'],
  ['closes the connection between two chunks', cutOffChunk({ body: GOOD.body.slice(0, 20) }), 'NetworkError'],
  ['sends truncated JSON', reply({ body: GOOD.body.slice(0, -3) }), 'NetworkError'],
  ['limits the rate', reply({ ...PROBLEM, status: 429, headers: ['Retry-After: 3600'] }), 'ApiError'],
  ['returns an internal error', reply({ ...PROBLEM, status: 500 }), 'ApiError'],
  ...[429, 500, 502, 503, 504].map((status): [string, Step, string] => [
    `is behind a proxy that returns a ${status} page`,
    reply({ status, type: 'text/html', body: '<html>' }),
    'OutageError',
  ]),
];

test.each(PASSING)(
  'requests throw a typed error after every retry if the server %s',
  async (_, fault, name) => {
    await using server = await startFaultyServer(fault);
    const options = name === 'TimeoutError' ? IMPATIENT : {};
    expect(await failure(open(server, options).retailers())).toMatchObject({ name, attempts: 3 });
    expect(server.paths).toHaveLength(3);
  },
);

const LASTING: readonly [string, Step, string][] = [
  ['sends an HTML page', reply({ type: 'text/html', body: '<html>log in</html>' }), 'not_offerbook'],
  ['sends JSON under another content type', reply({ ...GOOD, type: 'text/plain' }), 'not_offerbook'],
  ['redirects', reply({ status: 302, headers: ['Location: /login'], body: '' }), 'not_offerbook'],
  ['sends a list instead of a page', reply({ body: '[]' }), 'bad_shape'],
  ['sends null', reply({ body: 'null' }), 'bad_shape'],
  ['sends an invalid problem document', reply({ ...PROBLEM, status: 400, body: '{}' }), 'not_offerbook'],
];

test.each(LASTING)('requests are not retried if the server %s', async (_, fault, code) => {
  await using server = await startFaultyServer(fault);
  expect(await failure(open(server).retailers())).toMatchObject({ name: 'MalformedResponseError', code });
  expect(server.paths).toHaveLength(1);
});

function pages(body: (from: string | null) => unknown): Step {
  return (socket, path) => {
    const from = new URL(path, 'http://x').searchParams.get('cursor');
    reply({ body: JSON.stringify(body(from)), headers: ['Complete-Through: 2026-01-01T00:00:00'] })(
      socket,
      path,
    );
  };
}

const STUCK: readonly [string, Step, number][] = [
  ['points to itself', pages((from) => ({ data: [{ id: from ?? id(1) }], cursor: from ?? id(1) })), 1],
  ['points back to the start', pages(() => ({ data: [{ id: id(1) }], cursor: id(2) })), 2],
  ['advances without items', pages((from) => ({ data: [], cursor: next(from) })), 1],
  ['repeats the same items forever', pages((from) => ({ data: [{ id: id(1) }], cursor: next(from) })), 2],
];

function next(cursor: string | null): string {
  return id(Number.parseInt((cursor ?? id(1)).slice(-12), 16) + 1);
}

describe.each(STUCK)('with a cursor that %s,', (_, fault, requests) => {
  test('a stuck cursor ends a walk with an error', async () => {
    await using server = await startFaultyServer(fault);
    const walk = open(server).retailers().toArray({ max: 1_000 });
    expect(await failure(walk)).toMatchObject({ name: 'MalformedResponseError', code: 'stuck_cursor' });
    expect(server.paths).toHaveLength(requests);
  });

  test('a stuck cursor ends a follower with an error and leaves the last valid checkpoint saved', async () => {
    await using server = await startFaultyServer(fault);
    const checkpoints: string[] = [];
    const follow = async () => {
      const client = open(server, { token: PRIVATE });
      const onCheckpoint = (checkpoint: string) => void checkpoints.push(checkpoint);
      for await (const _ of client.followTransactions({ onCheckpoint }));
    };
    expect(await failure(follow())).toMatchObject({ code: 'stuck_cursor' });
    const good = { completeThrough: '2026-01-01T00:00:00', cursor: id(2) };
    expect(checkpoints).toEqual(Array.from({ length: requests - 1 }, () => JSON.stringify(good)));
  });
});
