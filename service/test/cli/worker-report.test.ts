import { expect, test } from 'bun:test';
import { newClickTally } from '../../src/activation/click-tally.ts';
import { countsOf, mergeReports, NO_REPORT } from '../../src/cli/node/workers/worker-report.ts';
import type { ClickFate } from '../../src/domain/click.ts';
import { callerTally } from '../../src/http/caller-tally.ts';
import type { ServingReport } from '../../src/http/metrics.ts';
import { requestTally } from '../../src/http/request-tally.ts';

const CALLER = { orgId: 1, orgName: 'acme' };

function report(route: string, tracked: number, state: Partial<ServingReport>): ServingReport {
  const callers = callerTally(() => tracked);
  callers.answered(CALLER, 200);
  callers.polled(CALLER, 10 + tracked);
  callers.failed('not_found', 'unknown', CALLER, `request-${tracked}`);
  const clicks = clicksOf('recorded', tracked);
  return { ...NO_REPORT, routes: routesOf([route, 200]), callers: callers.tallies, clicks, ...state };
}

/** The sum of `count` reports, the last of which was made at `lastAtMs`. */
function callersOf(count: number, lastAtMs: number) {
  const told = { lastPollAtMs: lastAtMs, syncedThroughMs: 10 + lastAtMs };
  const error = { code: 'not_found', route: 'unknown', ...CALLER } as const;
  return {
    organisations: new Map([[1, { name: 'acme', requests: count, errors: 0, ...told }]]),
    errors: new Map([
      ['not_found unknown 1', { ...error, count, lastRequestId: `request-${lastAtMs}`, lastAtMs }],
    ]),
  };
}

const clicksOf = (fate: ClickFate, tracked = 0) => ({
  ...{ tally: { ...newClickTally(), tracked }, fate, isDiskLow: false, spooledCount: tracked },
});

/** The tally of a worker that has answered these requests. */
function routesOf(...requests: readonly [route: string, status: number][]) {
  const tally = requestTally();
  for (const [route, status] of requests) tally.count(route, status, 1);
  return tally.routes;
}

test("merging reports adds up the workers' counts and uses the worst state", () => {
  const merged = mergeReports([
    // The latest first: an earlier error of another worker must not replace it.
    report('/readyz', 4, {
      spans: { sent: 4, dropped: 0 },
      databaseStatus: { state: 'corrupt', reason: 'bad page' },
      clicks: clicksOf('spooled', 4),
    }),
    report('/v1/coupons/', 1, {
      routes: routesOf(['/v1/coupons/', 304]),
      replica: { isUsable: true, lagMs: 5 },
      cluster: { rivals: ['a'], timeline: 2, isUnsettled: true, restamped: 3 },
      pools: { pages: { inUse: 1, waiting: 2, max: 7 }, other: { inUse: 2, waiting: 0, max: 2 } },
      spans: { sent: 3, dropped: 1 },
    }),
    report('/v1/coupons/', 2, {
      replica: { isUsable: false, lagMs: 2, reason: 'frozen' },
      cluster: { rivals: ['a', 'b'], timeline: 1, isUnsettled: false, restamped: 4 },
      pools: { pages: { inUse: 3, waiting: 4, max: 7 }, other: { inUse: 0, waiting: 5, max: 2 } },
      databaseStatus: { state: 'unreachable', reason: 'cut off' },
    }),
  ]);
  expect(merged).toEqual({
    databaseStatus: { state: 'corrupt', reason: 'bad page' },
    replica: { isUsable: false, lagMs: 5, reason: 'frozen' },
    cluster: { rivals: ['a', 'b'], timeline: 2, isUnsettled: true, restamped: 7 },
    pools: { pages: { inUse: 4, waiting: 6, max: 14 }, other: { inUse: 2, waiting: 5, max: 4 } },
    routes: routesOf(['/readyz', 200], ['/v1/coupons/', 304], ['/v1/coupons/', 200]),
    clicks: clicksOf('spooled', 7),
    spans: { sent: 7, dropped: 1 },
    callers: callersOf(3, 4),
  });
});

test('merging reports keeps the counts of a worker that has exited and drops its state', () => {
  const spooling = { ...clicksOf('lost', 3), isDiskLow: true };
  const last = report('/readyz', 0, {
    databaseStatus: { state: 'corrupt' },
    replica: { isUsable: false, lagMs: 9 },
    pools: { pages: { inUse: 1, waiting: 2, max: 7 }, other: { inUse: 2, waiting: 0, max: 2 } },
    clicks: spooling,
    spans: { sent: 5, dropped: 2 },
  });
  const merged = mergeReports([countsOf(last), NO_REPORT]);
  expect(merged).toEqual({
    databaseStatus: { state: 'usable' },
    replica: undefined,
    cluster: undefined,
    pools: undefined,
    routes: routesOf(['/readyz', 200]),
    clicks: { ...spooling, fate: 'recorded', isDiskLow: false },
    spans: { sent: 5, dropped: 2 },
    callers: callersOf(1, 0),
  });
});

test('the state of clicks is the worst of any worker', () => {
  const merged = (...fates: ClickFate[]) =>
    mergeReports(fates.map((fate) => ({ ...NO_REPORT, clicks: clicksOf(fate) }))).clicks?.fate;
  expect(merged('recorded', 'spooled')).toBe('spooled');
  expect(merged('spooled', 'lost')).toBe('lost');
  expect(merged('lost', 'spooled', 'recorded')).toBe('lost');
});
