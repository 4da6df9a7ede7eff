// Pulls from networks that fail, refuse and mislead, and pulls that are interrupted.

import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { awinSale, cjRecord, impactAction, type Row } from '../../../feeds/test/fixture.ts';
import { checkSource } from '../../src/pull/check-source.ts';
import { forgetSource } from '../../src/pull/forget-source.ts';
import { DATABASES } from '../support/databases.ts';
import { DATABASE, PullTest, START_MS, total } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';

const soldAtMs = START_MS - 3 * DAY_MS;
const sale = (id: number, changes: Row = {}) => ({
  row: awinSale({ id, transactionDate: '2026-11-17T00:00:00', ...changes }),
  times: { transaction: soldAtMs },
});
const status =
  (code: number, headers: Record<string, string> = {}, body: unknown = {}) =>
  () =>
    Response.json(body, { status: code, headers });

describe.each(DATABASES)('on $name', (database) => {
  test('a pull whose lease was taken cannot write', async () => {
    await using t = await PullTest.open('awin', database);
    const { leases } = t.stores;
    t.network.planned.push(async () => {
      let isTaken = false;
      // A renewal can come in between.
      while (!isTaken) isTaken = await leases.acquire('awin:77777', 'other', await leases.find('awin:77777'));
      return Response.json([]);
    });
    const [first] = await t.pull();
    expect(first?.error).toBe('another process has taken over the pull of awin:77777');
    expect((await t.stores.pulls.list())[0]?.completeThroughMs).toBeNull();
  });
});

test.each([
  [{ 'Retry-After': '30' }, 30_000],
  [{ 'X-RateLimit-Retry-After': '40' }, 40_000],
  [{ 'X-RateLimit-Reset': '50' }, 50_000],
  [{ 'Retry-After': '86400' }, 60 * 60_000],
  [{}, 60_000],
])('waits after 429 with the headers %j', async (headers, waitMs) => {
  await using t = await PullTest.open('impact', DATABASE);
  t.network.planned.push(status(429, headers));
  const startedMs = t.nowMs;
  let secondMs = 0;
  t.network.planned.push(() => {
    secondMs = t.nowMs;
    return undefined;
  });
  expect(errorsOf(await t.pull())).toEqual([null]);
  expect(secondMs - startedMs).toBeGreaterThanOrEqual(waitMs);
  expect(secondMs - startedMs).toBeLessThan(waitMs + 10_000);
});

test.each<[string, () => Response]>([
  ['a server error', status(503)],
  ['a response that is not JSON', () => new Response('<html>busy</html>')],
  ['a truncated response', () => new Response('[{"id":1,"adver')],
  ['an object instead of a list', () => Response.json({ oops: true })],
  ['an error with status 200', () => Response.json({ error: 'busy', description: 'later' })],
  ['an empty response', () => new Response('')],
])('repeats a request after %s', async (_what, answer) => {
  await using t = await PullTest.open('awin', DATABASE);
  t.network.rows.push(sale(1));
  t.network.planned.push(undefined, undefined, answer, answer, answer);
  const reports = await t.pull();
  expect(errorsOf(reports)).toEqual([null, null, null]);
  expect(total(reports)).toMatchObject({ added: 1 });
});

const widthsOf = (t: PullTest) =>
  t.network.requests.map(
    ({ query }) =>
      (Date.parse(`${query.get('endDate')}Z`) - Date.parse(`${query.get('startDate')}Z`)) / DAY_MS,
  );

test('after repeated failures, skips the stream and continues with the next one', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  t.network.rows.push({
    ...sale(1, { validationDate: '2026-11-17T00:00:00' }),
    times: { validation: soldAtMs },
  });
  t.network.planned.push(...Array.from({ length: 4 }, () => status(502)));
  const reports = await t.pull();
  const failure = 'the network answered with status 502';
  expect(errorsOf(reports)).toEqual([failure, null, null]);
  expect(total(reports)).toMatchObject({ added: 1 });
  expect(widthsOf(t).slice(0, 5)).toEqual([30, 30, 30, 30, 30]);
  expect((await t.stores.pulls.list()).map(({ stream, error }) => [stream, error])).toEqual([
    ['amendment', null],
    ['transaction', failure],
    ['validation', null],
  ]);
  t.nowMs += 1;
  expect(errorsOf(await t.pull())).toEqual([null, null, null]);
});

test('halves the window until the network no longer rejects it as too large', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  t.network.rows.push(sale(1));
  t.network.planned.push(status(413), status(413));
  expect(total(await t.pull())).toMatchObject({ added: 1 });
  expect(widthsOf(t).slice(0, 4)).toEqual([30, 15, 7.5, 7.5]);
});

test('does not repeat a request after a GraphQL error with status 200', async () => {
  await using t = await PullTest.open('cj', DATABASE);
  t.network.planned.push(() => Response.json({ errors: [{ message: 'no such field' }] }));
  const message = 'the network rejected the request: no such field';
  t.network.planned.push(...t.network.planned);
  expect(errorsOf(await t.pull())).toEqual([message, message]);
  expect(t.network.requests.length).toBe(2);
});

test('Rakuten: gets a new access token after 401 and waits after 403', async () => {
  await using t = await PullTest.open('rakuten', DATABASE);
  t.network.planned.push(undefined, status(401), undefined, status(403));
  expect(errorsOf(await t.pull())).toEqual([null]);
  expect(t.network.requests.map(({ path }) => path)).toEqual([
    '/token',
    '/events/1.0/transactions',
    '/token',
    '/events/1.0/transactions',
    '/events/1.0/transactions',
  ]);
});

test.each(['null', '{}', '[]', '{"Actions":[]}'])(
  'impact.com: %s means that there are no actions',
  async (body) => {
    await using t = await PullTest.open('impact', DATABASE);
    t.network.planned.push(() => new Response(body));
    expect(errorsOf(await t.pull())).toEqual([null]);
    // Two windows and one of old sales: none was repeated.
    expect(t.network.requests.length).toBe(3);
  },
);

test('impact.com: reads the list again if it changes during the walk, and ignores a link to the same page', async () => {
  await using t = await PullTest.open('impact', DATABASE);
  const action = (n: number) => ({ row: impactAction({ Id: `1.${n}` }), times: { changes: soldAtMs } });
  for (const n of [1, 2, 3]) t.network.rows.push(action(n));
  // The first window is empty. A row leaves the list after its first page was read.
  t.network.planned.push(undefined, undefined, () => {
    t.network.rows.shift();
    return undefined;
  });
  const selfLink = (query: URLSearchParams) => `/Mediapartners/77777/Actions?${query}`;
  t.network.planned.push(({ query }) =>
    Response.json({
      ...{ '@page': '1', '@numpages': '1', '@total': '2', '@nextpageuri': selfLink(query) },
      Actions: t.network.rows.map(({ row }) => row),
    }),
  );
  const reports = await t.pull();
  expect(errorsOf(reports)).toEqual([null]);
  expect(total(reports)).toMatchObject({ added: 3 });
});

test('an invalid row stops its stream until --skip-invalid is given', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  t.network.rows.push(sale(1), sale(2, { saleAmount: { amount: 'x', currency: 'EUR' } }));
  const [first] = await t.pull();
  expect(first?.error).toContain('saleAmount.amount is "x", which is not a decimal number');
  expect((await t.stored()).size).toBe(0);
  t.nowMs += 60_000;
  expect(total(await t.pull({ skipInvalid: true }))).toMatchObject({ added: 1, invalid: 1 });
});

test('a decided sale that is pending again stays decided', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  t.network.rows.push(sale(1, { commissionStatus: 'approved' }));
  await t.pull();
  t.network.rows.splice(0, 1, sale(1));
  t.nowMs += 3_600_000;
  const reports = await t.pull({ sinceMs: START_MS - 5 * DAY_MS });
  expect(total(reports)).toEqual({ added: 0, changed: 0, unchanged: 1, invalid: 0 });
  expect([...(await t.stored()).values()].map((stored) => stored.status)).toEqual(['CONFIRMED']);
});

test('--dry-run changes neither the sales nor the state', async () => {
  await using t = await PullTest.open('cj', DATABASE);
  t.network.rows.push({ row: cjRecord(), times: { posting: soldAtMs } });
  expect(total(await t.pull({ dryRun: true }))).toMatchObject({ added: 1 });
  expect((await t.stored()).size).toBe(0);
  expect(await t.stores.pulls.list()).toEqual([]);
  expect(await t.stores.imports.list({ limit: 1 })).toEqual([]);
  expect(await t.stores.pulls.rowsOf('cj:77777', ['1700000077'])).toEqual([]);
});

test('--since never moves the state of a stream back, even if it fails', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  await t.pull();
  const positions = async () => (await t.stores.pulls.list()).map((state) => state.completeThroughMs);
  const before = await positions();
  t.network.planned.push(undefined, undefined, status(401));
  const [first] = await t.pull({ sinceMs: START_MS - 90 * DAY_MS });
  expect([first?.windows, first?.error]).toEqual([2, expect.stringContaining('status 401')]);
  expect(await positions()).toEqual(before);
});

test('forgetting a source changes nothing if a pull takes over its lease', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  await t.pull();
  const before = await t.stores.pulls.list();
  const { leases, imports } = t.stores;
  const begin: typeof imports.begin = async (origin) => {
    let isTaken = false;
    while (!isTaken) isTaken = await leases.acquire('awin:77777', 'other', await leases.find('awin:77777'));
    return await imports.begin(origin);
  };
  const stores = { ...t.stores, imports: { ...imports, begin } };
  const forgetting = forgetSource('awin:77777', { by: 'test@host', version: '0' }, stores, () => t.nowMs);
  await expect(forgetting).rejects.toThrow('another process has taken over the pull of awin:77777');
  expect(await t.stores.pulls.list()).toEqual(before);
});

test('warns if the network no longer has a part of the history', async () => {
  await using t = await PullTest.open('rakuten', DATABASE);
  await t.pull();
  t.nowMs += 40 * DAY_MS;
  await t.pull();
  expect(t.notes).toEqual([
    'rakuten:77777, process: the network may no longer list what changed in the 34 days after 2026-11-19T23:50:00; sales may be missing',
  ]);
});

test('a check sends one request and imports nothing', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  t.nowMs = Date.now();
  expect(Math.abs((await checkSource(t.pullable(), t.context)) ?? Number.NaN)).toBeLessThan(60_000);
  expect(t.network.requests.length).toBe(1);
  t.network.planned.push(status(401));
  await expect(checkSource(t.pullable(), t.context)).rejects.toThrow('status 401');
});
