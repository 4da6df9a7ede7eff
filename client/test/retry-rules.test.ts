import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
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

  test('the pause doubles before each retry, up to a limit', () => {
    const policy = { ...RETRY_DEFAULTS, attemptsMax: 100 };
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((attempts) =>
      retryDelayMs({ error: NETWORK, attempts, elapsedMs: 0 }, policy, 1),
    );
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
  });

  test('a retry waits at least as long as Retry-After requires, up to the cap', () => {
    const delays = [2_000, 60_000, 86_400_000].map((retryAfterMs) =>
      retryDelayMs({ error: api(429, retryAfterMs), attempts: 1, elapsedMs: 0 }, RETRY_DEFAULTS, 0.4),
    );
    expect(delays).toEqual([2_100, 60_100, 60_100]);
  });

  test('retries never exceed the attempts or the budget, and never wait a negative time', () => {
    const failures = fc.record({
      error: fc.constantFrom(NETWORK, api(429, 5_000), api(503)),
      attempts: fc.integer({ min: 1, max: 10 }),
      elapsedMs: fc.integer({ min: 0, max: 120_000 }),
    });
    fc.assert(
      fc.property(failures, fc.double({ min: 0, max: 1, noNaN: true }), (failed, random) => {
        const delayMs = retryDelayMs(failed, RETRY_DEFAULTS, random);
        const allowed = failed.attempts < RETRY_DEFAULTS.attemptsMax;
        expect(delayMs === undefined || (allowed && delayMs >= 0)).toBe(true);
        expect(failed.elapsedMs + (delayMs ?? -failed.elapsedMs)).toBeLessThan(RETRY_DEFAULTS.budgetMs);
      }),
      { numRuns: 200 },
    );
  });

  test('a follower treats a response that is not from Offerbook as a wrong address until Offerbook has responded', () => {
    expect([
      isOutage(foreign(404), false),
      isOutage(foreign(200), false),
      isOutage(outage(502), false),
    ]).toEqual([false, false, true]);
  });
});

test('Retry-After is parsed as seconds or as a date, and any other value is ignored', () => {
  const headers = [
    '0',
    '7',
    'Sat, 14 Nov 2026 12:00:30 GMT',
    'Sat, 14 Nov 2026 11:00:00 GMT',
    'soon',
    '-5',
    null,
  ];
  expect(headers.map((header) => parseRetryAfterMs(header, NOW))).toEqual([
    0,
    7_000,
    30_000,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
