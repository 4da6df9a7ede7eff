import { expect, test } from 'bun:test';
import { HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { retryDelayMs } from '../../src/webhooks/sender.ts';

test('retries wait 5 s, 30 s, 2 min, 10 min, 30 min and then an hour each, without a last attempt', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => retryDelayMs(failures, 0, () => 0.5));
  const minutes = [2, 10, 30, 60, 60, 60].map((count) => count * MINUTE_MS);
  expect(delays).toEqual([5_000, 30_000, ...minutes]);
});

test('each delay deviates by at most 20 %', () => {
  expect([0, 1].map((random) => retryDelayMs(6, 0, () => random))).toEqual([0.8 * HOUR_MS, 1.2 * HOUR_MS]);
});

test('a longer Retry-After replaces the delay, up to 24 hours', () => {
  const delays = [1_000, 7_200_000, 100 * HOUR_MS].map((ms) => retryDelayMs(1, ms, () => 0.5));
  expect(delays).toEqual([5_000, 7_200_000, 24 * HOUR_MS]);
});
