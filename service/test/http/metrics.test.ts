import { expect, test } from 'bun:test';
import { closeSync, openSync, readFileSync } from 'node:fs';
import manifest from '../../package.json';
import { metricsPage, type NodeState } from '../../src/http/metrics.ts';
import { requestTally } from '../../src/http/request-tally.ts';
import { NODE_STATE } from '../support/node-state.ts';

const STATE: NodeState = {
  ...NODE_STATE,
  databaseStatus: { state: 'unreachable' },
  replica: { isUsable: true, lagMs: 1_500 },
};

/** The samples of one metric, without its HELP and TYPE lines. */
async function linesOf(metric: string, state: NodeState): Promise<string[]> {
  const text = await metricsPage(state).text();
  return text.split('\n').filter((line) => line.startsWith(metric));
}

test('a response is counted by route and status, and in every histogram bucket that includes its duration', async () => {
  const tally = requestTally(() => 0);
  for (const durationMs of [0.1, 0.2, 2_500, 2_501]) tally.answered('/v1/coupons/', 200, durationMs);
  tally.answered('/v1/coupons/', 503, 3);
  const state = { ...STATE, requests: tally.tallies };
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
    ['0.1', 3],
    ['0.25', 3],
    ['0.5', 3],
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

test('an organisation that was deleted and recreated is one series, with summed counts and its latest poll', async () => {
  let nowMs = 5_000;
  const tally = requestTally(() => nowMs);
  const [gone, made] = [
    { orgId: 1, orgName: 'shop' },
    { orgId: 2, orgName: 'shop' },
  ];
  for (const status of [200, 200, 500]) tally.answered('/a', status, 1, gone);
  tally.polled(gone, undefined);
  tally.answered('/a', 404, 1, made);
  nowMs = 7_500;
  tally.polled(made, undefined);
  tally.answered('/a', 200, 1, { orgId: 3, orgName: 'quiet' });
  expect(await linesOf('offerbook_organisation_', { ...STATE, requests: tally.tallies })).toEqual([
    'offerbook_organisation_requests_total{organisation="shop"} 4',
    'offerbook_organisation_requests_total{organisation="quiet"} 1',
    'offerbook_organisation_errors_total{organisation="shop"} 2',
    'offerbook_organisation_errors_total{organisation="quiet"} 0',
    'offerbook_organisation_last_poll_timestamp_seconds{organisation="shop"} 7.5',
  ]);
});

test('the metrics page uses the text format, with a type and a help text for each metric', async () => {
  const page = metricsPage(STATE);
  expect(page.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await page.text();
  expect(text).toContain(
    '# HELP offerbook_database_usable 1 if the database (the primary, if there are replicas) is usable.\n' +
      '# TYPE offerbook_database_usable gauge\n' +
      'offerbook_database_usable 0\n',
  );
  expect(text).toContain('\nofferbook_ready 1\n');
  expect(text).toContain('\nofferbook_replica_lag_seconds 1.5\n');
});

const FEED = { orgName: null, source: null, lastOutcome: 'refused', lastEndedMs: 3_000 } as const;

test('imports, tokens and lists have series by kind, outcome and name; import and token series are omitted if the database did not respond', async () => {
  const imports = {
    counts: [{ kind: 'links', outcome: 'refused', count: 3 }],
    feeds: [
      { ...FEED, kind: 'catalogue', lastSuccessMs: 1_794_657_600_500 },
      { ...FEED, kind: 'transactions', orgName: 'a\\"b', source: 'c"d', lastSuccessMs: 2_000 },
      { ...FEED, kind: 'transactions', orgName: 'never', lastSuccessMs: null },
    ],
  } as const;
  const known = { ...STATE, database: { imports, tokensExpiring: 2 } };
  const names = ['offerbook_import', 'offerbook_tokens', 'offerbook_catalogue_items', 'offerbook_build'];
  const lines = async (state: NodeState) => (await Promise.all(names.map((it) => linesOf(it, state)))).flat();
  const always = [
    'offerbook_catalogue_items{list="retailers"} 1',
    'offerbook_catalogue_items{list="cashbackOffers"} 2',
    'offerbook_catalogue_items{list="coupons"} 0',
    'offerbook_catalogue_items{list="promotions"} 3',
    `offerbook_build_info{version="${manifest.version}",commit="unknown",bun="${Bun.version}"} 1`,
  ];
  expect(await lines(known)).toEqual([
    'offerbook_imports_total{kind="links",outcome="refused"} 3',
    'offerbook_import_last_success_timestamp_seconds{kind="catalogue",organisation="",source=""} 1794657600.5',
    'offerbook_import_last_success_timestamp_seconds{kind="transactions",organisation="a\\\\\\"b",source="c\\"d"} 2',
    'offerbook_tokens_expiring 2',
    ...always,
  ]);
  expect(await lines(STATE)).toEqual(always);
});

test('connections have a series per pool; pools and replicas that a node does not have are omitted', async () => {
  const pools = { pages: { inUse: 7, waiting: 3, max: 7 }, other: { inUse: 1, waiting: 0, max: 2 } };
  const name = 'offerbook_database_';
  expect((await linesOf(name, { ...STATE, pools })).slice(2)).toEqual([
    'offerbook_database_connections_in_use{pool="pages"} 7',
    'offerbook_database_connections_in_use{pool="other"} 1',
    'offerbook_database_connections_max{pool="pages"} 7',
    'offerbook_database_connections_max{pool="other"} 2',
    'offerbook_database_waiting{pool="pages"} 3',
    'offerbook_database_waiting{pool="other"} 0',
  ]);
  expect(await linesOf(name, STATE)).toEqual(['offerbook_database_usable 0', 'offerbook_database_corrupt 0']);
  expect(await linesOf('offerbook_replica', { ...STATE, replica: undefined })).toEqual([]);
});

test('the process metrics include the start time, the number of open files and its limit', async () => {
  const value = async (metric: string) => Number((await linesOf(metric, STATE))[0]?.split(' ')[1]);
  const startedS = await value('process_start_time_seconds');
  expect(Math.abs(startedS - (Date.now() / 1_000 - process.uptime()))).toBeLessThan(5);
  const before = await value('process_open_fds');
  const files = [1, 2, 3].map(() => openSync('/dev/null', 'r'));
  expect(await value('process_open_fds')).toBe(before + files.length);
  for (const file of files) closeSync(file);
  const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  expect(await value('process_max_fds')).toBe(Number(limit));
});
