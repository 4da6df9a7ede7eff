import { expect, test } from 'bun:test';
import { newClickTally } from '../../src/activation/click-tally.ts';
import { countsOf, mergeReports, NO_REPORT } from '../../src/cli/node/workers/worker-report.ts';
import type { ClickFate } from '../../src/domain/click.ts';
import type { ServingReport } from '../../src/http/metrics.ts';
import { type RequestTallies, requestTally } from '../../src/http/request-tally.ts';

const CALLER = { orgId: 1, orgName: 'acme' };

type Answer = readonly [route: string, status: number];

/** The report of a worker that has sent this response, at the time `tracked`. */
function report(answer: Answer, tracked: number, state: Partial<ServingReport>): ServingReport {
  const tally = requestTally(() => tracked);
  tally.answered(...answer, 1, CALLER);
  tally.polled(CALLER, 10 + tracked);
  tally.failed('not_found', 'unknown', CALLER, `request-${tracked}`);
  return { ...NO_REPORT, requests: tally.tallies, clicks: clicksOf('recorded', tracked), ...state };
}

/** The sum of the reports with these responses. `lastAtMs` is the time of the last response. */
function requestsOf(answers: readonly Answer[], lastAtMs: number): RequestTallies {
  const tally = requestTally(() => lastAtMs);
  for (const answer of answers) tally.answered(...answer, 1);
  const count = answers.length;
  const told = { lastPollAtMs: lastAtMs, syncedThroughMs: 10 + lastAtMs };
  const error = { code: 'not_found', route: 'unknown', ...CALLER } as const;
  return {
    routes: tally.tallies.routes,
    organisations: new Map([[1, { name: 'acme', requests: count, errors: 0, ...told }]]),
    errors: new Map([
      ['not_found unknown 1', { ...error, count, lastRequestId: `request-${lastAtMs}`, lastAtMs }],
    ]),
  };
}

const clicksOf = (fate: ClickFate, tracked = 0) => ({
  ...{ tally: { ...newClickTally(), tracked }, fate, isDiskLow: false, spooledCount: tracked },
});

test("merging reports adds up the workers' counts and uses the worst state", () => {
  const merged = mergeReports([
    // The latest first: an earlier error of another worker must not replace it.
    report(['/readyz', 200], 4, {
      spans: { sent: 4, dropped: 0 },
      databaseStatus: { state: 'corrupt', reason: 'bad page' },
      clicks: clicksOf('spooled', 4),
    }),
    report(['/v1/coupons/', 304], 1, {
      replica: { isUsable: true, lagMs: 5 },
      cluster: { rivals: ['a'], timeline: 2, isUnsettled: true, restamped: 3 },
      pools: { pages: { inUse: 1, waiting: 2, max: 7 }, other: { inUse: 2, waiting: 0, max: 2 } },
      spans: { sent: 3, dropped: 1 },
    }),
    report(['/v1/coupons/', 200], 2, {
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
    requests: requestsOf(
      [
        ['/readyz', 200],
        ['/v1/coupons/', 304],
        ['/v1/coupons/', 200],
      ],
      4,
    ),
    clicks: clicksOf('spooled', 7),
    spans: { sent: 7, dropped: 1 },
  });
});

test('merging reports keeps the counts of a worker that has exited and drops its state', () => {
  const spooling = { ...clicksOf('lost', 3), isDiskLow: true };
  const last = report(['/readyz', 200], 0, {
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
    requests: requestsOf([['/readyz', 200]], 0),
    clicks: { ...spooling, fate: 'recorded', isDiskLow: false },
    spans: { sent: 5, dropped: 2 },
  });
});

test('the state of clicks is the worst of any worker', () => {
  const merged = (...fates: ClickFate[]) =>
    mergeReports(fates.map((fate) => ({ ...NO_REPORT, clicks: clicksOf(fate) }))).clicks?.fate;
  expect(merged('recorded', 'spooled')).toBe('spooled');
  expect(merged('spooled', 'lost')).toBe('lost');
  expect(merged('lost', 'spooled', 'recorded')).toBe('lost');
});
