import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { quantile, recentHour } from '../../src/console/recent-hour.ts';
import { BUCKETS_S, requestTally } from '../../src/http/request-tally.ts';

const MINUTE_MS = 60_000;
const MACHINE = { memoryBytes: 1e8, disk: { free: 1e9, size: 2e9 } };

test('recentHour() reports the requests since the first sample by minute and by route, with the busiest route first', () => {
  const tally = requestTally(() => 0);
  const hour = recentHour(0, MACHINE);
  tally.answered('/a', 200, 2);
  hour.sample(MINUTE_MS, tally.tallies.routes, MACHINE);
  tally.answered('/a', 404, 2);
  tally.answered('/b', 503, 0.2);
  tally.answered('/b', 200, 0.2);
  tally.answered('/b', 200, 0.2);
  const { all, routes, minutes, ...span } = hour.figures(90_000, tally.tallies.routes, MACHINE);
  expect(span).toEqual({ fromMs: 0, untilMs: 90_000, machine: MACHINE });
  // The 99th percentile lies in the bucket from 1 to 2.5 ms.
  const p99Ms = expect.closeTo(2.46, 1);
  expect(all).toEqual({ requests: 5, refused: 1, failed: 1, p99Ms });
  expect(routes.map(({ p50Ms: _, p99Ms: __, ...route }) => route)).toEqual([
    { route: '/b', requests: 3, refused: 0, failed: 1 },
    { route: '/a', requests: 2, refused: 1, failed: 0 },
  ]);
  expect(minutes).toEqual([
    { fromMs: 0, untilMs: MINUTE_MS, requests: 1, refused: 0, failed: 0, p99Ms, machine: MACHINE },
    { fromMs: MINUTE_MS, untilMs: 90_000, requests: 4, refused: 1, failed: 1, p99Ms, machine: MACHINE },
  ]);
});

test('drops samples that are older than an hour', () => {
  const tally = requestTally(() => 0);
  const hour = recentHour(0, MACHINE);
  for (let minute = 1; minute <= 100; minute++) {
    tally.answered('/a', 200, 1);
    hour.sample(minute * MINUTE_MS, tally.tallies.routes, MACHINE);
  }
  const figures = hour.figures(101 * MINUTE_MS, tally.tallies.routes, MACHINE);
  expect(figures.fromMs).toBe(41 * MINUTE_MS);
  expect(figures.minutes).toHaveLength(60);
  expect(figures.all.requests).toBe(59);
});

test('a quantile lies within the bucket that contains its rank', () => {
  const durations = fc.array(fc.double({ min: 0.00001, max: 2.5, noNaN: true }), {
    minLength: 1,
    maxLength: 50,
  });
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.99), (seconds, share) => {
      const tally = requestTally(() => 0);
      for (const each of seconds) tally.answered('/a', 200, each * 1_000);
      const sorted = seconds.toSorted((a, b) => a - b);
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
      const bucket = BUCKETS_S.findIndex((bound) => exact <= bound);
      const found = quantile(tally.tallies.routes.get('/a')?.buckets ?? [], share);
      expect(found).toBeGreaterThanOrEqual(BUCKETS_S[bucket - 1] ?? 0);
      expect(found).toBeLessThanOrEqual(BUCKETS_S[bucket] ?? 0);
    }),
  );
});

test('a quantile is 0 if there were no requests, and the highest bucket bound if the rank lies above it', () => {
  expect(quantile(BUCKETS_S.map(() => 0).concat(0), 0.99)).toBe(0);
  expect(quantile(BUCKETS_S.map(() => 0).concat(3), 0.5)).toBe(2.5);
});
