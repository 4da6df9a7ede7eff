import { expect, test } from 'bun:test';
import { metricsPage, type NodeState } from '../../src/http/metrics.ts';
import { RequestTally } from '../../src/http/request-tally.ts';

const STATE: NodeState = {
  routes: new Map(),
  isReady: true,
  isDatabaseUsable: false,
  catalogueRevision: 7,
  replica: { isUsable: true, lagMs: 1_500 },
  clicks: undefined,
};

/** The lines of one metric, without those that explain it. */
async function linesOf(metric: string, state: NodeState): Promise<string[]> {
  const text = await metricsPage(state).text();
  return text.split('\n').filter((line) => line.startsWith(metric));
}

test('an answer is counted by route and status, and in every bucket that its duration fits into', async () => {
  const tally = new RequestTally();
  for (const durationMs of [0.1, 0.2, 2_500, 2_501]) tally.count('/v1/coupons/', 200, durationMs);
  tally.count('/v1/coupons/', 503, 3);
  const state = { ...STATE, routes: tally.routes };
  expect(await linesOf('offerbook_http_requests_total', state)).toEqual([
    'offerbook_http_requests_total{route="/v1/coupons/",status="200"} 4',
    'offerbook_http_requests_total{route="/v1/coupons/",status="503"} 1',
  ]);
  const name = 'offerbook_http_request_duration_seconds';
  const buckets = [
    ['0.0001', 1],
    ['0.00025', 2],
    ['0.0005', 2],
    ['0.001', 2],
    ['0.0025', 2],
    ['0.005', 3],
    ['0.01', 3],
    ['0.05', 3],
    ['0.25', 3],
    ['1', 3],
    ['2.5', 4],
    ['+Inf', 5],
  ].map(([bound, count]) => `${name}_bucket{route="/v1/coupons/",le="${bound}"} ${count}`);
  expect(await linesOf(name, state)).toEqual([
    ...buckets,
    `${name}_sum{route="/v1/coupons/"} ${[0.1, 0.2, 2_500, 2_501, 3].reduce((sum, ms) => sum + ms / 1_000, 0)}`,
    `${name}_count{route="/v1/coupons/"} 5`,
  ]);
});

test('what several threads have counted can be added up', () => {
  const first = new RequestTally();
  const second = new RequestTally();
  const both = new RequestTally();
  for (const [tally, route, status] of [
    [first, '/v1/coupons/', 200],
    [first, '/v1/coupons/', 304],
    [second, '/v1/coupons/', 200],
    [second, 'unknown', 404],
  ] as const) {
    tally.count(route, status, 2);
    both.count(route, status, 2);
  }
  const sum = new RequestTally();
  for (const { routes } of [first, second]) sum.add(structuredClone(routes));
  expect(sum.routes).toEqual(both.routes);
});

test('the page has a type and a help text for each metric, and is in the text format', async () => {
  const page = metricsPage(STATE);
  expect(page.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await page.text();
  expect(text).toContain(
    '# HELP offerbook_database_usable Whether the database, the primary if it has replicas, can be used.\n' +
      '# TYPE offerbook_database_usable gauge\n' +
      'offerbook_database_usable 0\n',
  );
  expect(text).toContain('\nofferbook_ready 1\n');
  expect(text).toContain('\nofferbook_replica_lag_seconds 1.5\n');
});

test('what a node without a replica has nothing to say about is left out', async () => {
  const text = await metricsPage({ ...STATE, replica: undefined }).text();
  expect(text).not.toContain('replica_');
});
