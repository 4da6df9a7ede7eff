import { describe, expect, test } from 'bun:test';
import {
  ApiError,
  MalformedResponseError,
  NetworkError,
  OutageError,
  TimeoutError,
  TokenError,
} from '../src/errors.ts';
import { isOutage, parseRetryAfterMs, RETRY_DEFAULTS, retryDelayMs } from '../src/retry-rules.ts';

const NOW = Date.UTC(2026, 10, 14, 12);

function api(status: number, retryAfterMs?: number): ApiError {
  const text = { type: '', title: '', detail: '', instance: '', requestId: '' };
  return new ApiError({ ...text, status, code: 'internal' }, retryAfterMs);
}

function foreign(status: number): MalformedResponseError {
  return new MalformedResponseError('not_offerbook', '', status);
}

function outage(status: number): OutageError {
  return new OutageError('', status);
}

const NETWORK = new NetworkError('', 'down');
const TIMEOUT = new TimeoutError('', 1);
const STUCK = new MalformedResponseError('stuck_cursor', '');

describe('retries', () => {
  test.each([
    ['a network error', true, true, NETWORK],
    ['a timeout', true, true, TIMEOUT],
    ['429', true, true, api(429)],
    ['503', true, true, api(503)],
    ['500', true, true, api(500)],
    ["a proxy's 429", true, true, outage(429)],
    ["a proxy's 502", true, true, outage(502)],
    ["a proxy's 503", true, true, outage(503)],
    ["a proxy's 504", true, true, outage(504)],
    ["a proxy's 200", false, true, foreign(200)],
    ["a proxy's 404", false, true, foreign(404)],
    ['400', false, false, api(400)],
    ['401', false, false, api(401)],
    ['404', false, false, api(404)],
    ['a stuck cursor', false, false, STUCK],
    ['a token of the wrong kind', false, false, new TokenError('wrong_token_kind', '')],
    ['an error thrown by the caller', false, false, new Error('disk full')],
  ])(
    'after %s: a request is retried: %p; a follower that has had a valid response waits: %p',
    (_, isRetried, waits, error) => {
      const delayMs = retryDelayMs({ error, attempts: 1, elapsedMs: 0 }, RETRY_DEFAULTS, 0.5);
      expect([delayMs !== undefined, isOutage(error, true)]).toEqual([isRetried, waits]);
    },
  );

  test('a retry waits at least as long as Retry-After requires, and its backoff grows, both up to a cap', () => {
    const policy = { ...RETRY_DEFAULTS, attemptsMax: 10 };
    const cases = [
      [2_000, 1],
      [60_000, 1],
      [86_400_000, 1],
      [0, 5],
      [0, 9],
    ] as const;
    const delays = cases.map(([retryAfterMs, attempts]) =>
      retryDelayMs({ error: api(429, retryAfterMs), attempts, elapsedMs: 0 }, policy, 0.4),
    );
    expect(delays).toEqual([2_100, 60_100, 60_100, 1_600, 3_200]);
  });
});

test.each([
  ['0', 0],
  ['7', 7_000],
  ['Sat, 14 Nov 2026 12:00:30 GMT', 30_000],
  ['Sat, 14 Nov 2026 11:00:00 GMT', undefined],
  ['soon', undefined],
  ['-5', undefined],
  [null, undefined],
])('Retry-After %p is %p ms', (header, expected) => {
  expect(parseRetryAfterMs(header, NOW)).toBe(expected);
});
