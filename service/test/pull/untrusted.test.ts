// Networks that hang, flood, redirect, or repeat our credentials: they cannot hurt this process, its data or other sources.

import { expect, jest, test } from 'bun:test';
import { openSalePull } from '@offerbook/feeds/networks.ts';
import { awinSale, sourceFor } from '../../../feeds/test/fixture.ts';
import { networkClient } from '../../src/pull/network-client.ts';
import { RESPONSE_LIMITS, watchResponse } from '../../src/pull/response-watch.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { PULL_SECRETS } from './fake-network.ts';
import { DATABASE, PullTest, START_MS } from './fixture.ts';
import { errorsOf } from './pull-rig.ts';

test('a network that does not respond ends the source for this run', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  t.limits = { ...RESPONSE_LIMITS, idleMs: 50 };
  for (let n = 0; n < 9; n++) t.network.planned.push(() => new Promise<Response>(() => {}));
  const error = 'the network is too slow: no response for 0.05 s';
  expect(errorsOf(await t.pull({ only: undefined }))).toEqual([
    ...[error, error, error],
    `programmes: ${error}`,
  ]);
  // One request and one repetition.
  expect(t.network.requests.length).toBe(2);
  expect((await t.stores.pulls.list()).map((state) => state.error !== null)).toEqual(Array(4).fill(true));
});

test('redirects are not followed', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  let reached = 0;
  using elsewhere = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: () => {
      reached++;
      return Response.json([]);
    },
  });
  for (let n = 0; n < 3; n++) t.network.planned.push(() => Response.redirect(String(elsewhere.url), 302));
  expect(errorsOf(await t.pull())).toEqual(Array(3).fill('the network answered with status 302'));
  expect(reached).toBe(0);
});

const bomb = () =>
  new Response(Bun.gzipSync(Buffer.alloc(1_000_000, ' ')), { headers: { 'Content-Encoding': 'gzip' } });

test.each(['transactions', 'catalogue'] as const)(
  'a small response that becomes large when it is decompressed is not read to its end: %s',
  async (only) => {
    await using t = await PullTest.open('impact', DATABASE);
    t.limits = { ...RESPONSE_LIMITS, bytes: 100_000 };
    for (let n = 0; n < 99; n++) t.network.planned.push(bomb);
    const [report] = await t.pull({ only });
    expect(report?.error).toEndWith('the network sends too much data at once');
  },
);

/** Reads a response that brings `chunk` bytes every `everyMs`. Returns why it was too slow. */
async function readSlowly(chunk: number, everyMs: number, chunks: number): Promise<string | undefined> {
  jest.useFakeTimers();
  try {
    using watch = watchResponse(RESPONSE_LIMITS);
    const body = async function* () {
      for (let n = 0; n < chunks && !watch.signal.aborted; n++) {
        jest.advanceTimersByTime(everyMs);
        yield new Uint8Array(chunk);
      }
    };
    for await (const _ of watch.read(body()));
    return watch.slowness;
  } finally {
    jest.useRealTimers();
  }
}

test.each([
  ['that is slow, but not too slow, is read', 16_384, 59_000, 10, undefined],
  ['of one byte per second fails', 1, 1_000, 100, 'fewer than 16384 bytes in 60 s'],
  ['that does not end fails', 16_384, 50_000, 100, 'the response was not complete after 15 min'],
])('a response %s', async (_what, chunk, everyMs, chunks, slowness) => {
  const found = await readSlowly(chunk, everyMs, chunks);
  expect(found?.replace('no response for', 'fewer than 16384 bytes in')).toBe(slowness);
});

const { token = '' } = PULL_SECRETS.awin ?? {};

test.each([
  ['in a row', 'awin', token],
  ['as the header', 'partnerize', btoa(Object.values(PULL_SECRETS.partnerize ?? {}).join(':'))],
  ['encoded for a URL', 'impact', encodeURIComponent('impact s3cret')],
] as const)(
  'a response that contains our credentials %s fails, and nothing is stored',
  async (_, name, secret) => {
    await using t = await PullTest.open(name, DATABASE);
    const text = JSON.stringify([awinSale({ id: 1, orderRef: `debug ${secret} end` })]);
    t.network.planned.push(() => new Response(text));
    const source = { ...t.pullable(), ...(name === 'impact' && { secrets: { token: 'impact s3cret' } }) };
    const reports = await t.pullFrom(source);
    expect(errorsOf(reports)).toEqual(
      reports.map(
        () =>
          'the response contains our credentials, so nothing of it was stored; report this to the network',
      ),
    );
    expect(t.network.requests.length).toBe(1);
    const opened = openDatabase(t.url, COMMAND_OPTIONS);
    const rows = await Promise.all(
      ['pull_streams', 'transactions', 'imports'].map((table) => opened.all(`SELECT * FROM ${table}`)),
    );
    await opened.close();
    expect(JSON.stringify(rows)).not.toContain(secret);
  },
);

test.each([1, 5, 9])('our credentials are found in chunks of %i bytes', async (size) => {
  using watch = watchResponse(RESPONSE_LIMITS);
  const body = async function* () {
    const bytes = Buffer.from(`a row with ${token} in it`);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const read = Array.fromAsync(watch.read(body(), ['another', token]));
  await expect(read).rejects.toThrow('the response contains our credentials');
});

test.each(['tök', 'a\u0001b', 'a b', ''])('Rakuten: the access token %j is not used', (token) => {
  const login = openSalePull(sourceFor('rakuten'))?.login;
  expect(login?.read(JSON.stringify({ access_token: token, expires_in: 300 }))).toBeUndefined();
});

test('an unexpected error fails the source with a message and a stack that contain no secret', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  const stores = {
    ...t.stores,
    transactions: {
      ...t.stores.transactions,
      write: () => {
        throw new TypeError(`a bug with ${token}`);
      },
    },
  };
  const message = 'unexpected error: TypeError: a bug with ***';
  await expect(t.pull({}, {}, stores)).rejects.toThrow(`awin:77777: ${message}`);
  expect((await t.stores.pulls.list()).map(({ error }) => error)).toEqual([message, message, message]);
  expect(t.notes.join('\n')).toContain('untrusted.test.ts');
  expect(t.notes.join('\n')).not.toContain(token);
});

test('after a 429 that specifies no wait, requests are sent one at a time at half the rate, even after a pause', async () => {
  await using t = await PullTest.open('awin', DATABASE);
  t.network.planned.push(() => new Response('', { status: 429 }));
  const client = networkClient(t.pullable(), t.context);
  const send = async () => {
    await client.fetch(
      { method: 'GET', url: 'https://x.example/publishers/77777/programmes' },
      async () => {},
    );
    return t.nowMs;
  };
  await send();
  t.nowMs += 600_000;
  const startMs = t.nowMs;
  expect([await send(), await send(), await send()]).toEqual([startMs, startMs + 7_500, startMs + 15_000]);
});

test.each([
  ['is replaced 30 seconds before it expires', 300, [0, 269, 271], [1, 1, 2]],
  ['that expires within seconds is used for 30 seconds', 10, [0, 29], [1, 1]],
])('Rakuten: an access token %s', async (_, expires_in, moments, expected) => {
  await using t = await PullTest.open('rakuten', DATABASE);
  const login = { access_token: 'a'.repeat(20), expires_in };
  const answer = ({ path }: { path: string }) => Response.json(path === '/token' ? login : {});
  t.network.planned.push(...Array(9).fill(answer));
  const client = networkClient(t.pullable(), t.context);
  const logins: number[] = [];
  for (const seconds of moments) {
    t.nowMs = START_MS + seconds * 1_000;
    await client.fetch({ method: 'GET', url: 'https://x.example/v1/offers' }, async () => {});
    logins.push(t.network.requests.filter(({ path }) => path === '/token').length);
  }
  expect(logins).toEqual(expected);
});
