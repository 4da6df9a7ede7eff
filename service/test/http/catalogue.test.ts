// The four lists of the catalogue over HTTP: contents, pages, caching and compression.

import { afterAll, describe, expect, test } from 'bun:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { zstdDecompressSync } from 'bun';
import { coupon, id, offer, retailer, timestamp } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

let nowMs = Date.parse('2026-11-15T12:00:00Z');

const GREEN = retailer(2, {
  name: 'Grünes Cáfé 100%_*',
  cashbackOffers: [
    offer(14, { countries: ['FR', 'DE'], category: 'Épicerie' }),
    offer(12, {
      countries: ['AT'],
      category: 'Garden',
      maximumFixedCommissionFee: 7.5,
      cashbackPercentage: 0,
    }),
  ],
  coupons: [coupon(22), coupon(21)],
});
const PLAIN = retailer(1, { name: 'Plain', cashbackOffers: [offer(13), offer(11, { featured: true })] });
/** A retailer whose only deal is a coupon that lasts one hour. */
const HOURLY = retailer(4, {
  coupons: [
    coupon(23, { startDate: timestamp('2026-11-15T13:00:00'), endDate: timestamp('2026-11-15T14:00:00') }),
  ],
});

const node = await TestNode.start({ clock: () => nowMs });
await node.catalogue([GREEN, PLAIN, HOURLY]);
const token = await node.token('public');
afterAll(() => node[Symbol.asyncDispose]());

async function ids(path: string): Promise<unknown[]> {
  const { data } = (await (await node.get(path, token)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

test('the cursor is the id of the next item, in the body and in a Link header with the full URL', async () => {
  const response = await node.get('/v1/cashback-offers/?country=de&limit=1&_x=1', token);
  expect(((await response.json()) as { cursor: string }).cursor).toBe(id(13));
  const [, next = ''] = /^<(.*)>; rel="next"$/.exec(response.headers.get('Link') ?? '') ?? [];
  expect(next).toBe(`${node.url}/v1/cashback-offers/?country=de&limit=1&_x=1&cursor=${id(13)}`);
  expect((await ids(next.slice(node.url.length)))[0]).toBe(id(13));
});

describe('filters', () => {
  const cases: [string, number[]][] = [
    ['name=plain', [11, 13]],
    ['name=GRUNES', [12, 14]],
    ['name=%25_', [12, 14]],
    ['name=%20%09plain%0A+', [11, 13]],
    ['name=+', [11, 12, 13, 14]],
    ['category=+garden+', [11, 12, 13]],
    ['country=de', [11, 13, 14]],
    ['name=gr&country=DE', [14]],
    [`cursor=${id(12)}&country=DE`, [13, 14]],
    ['cursor=FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', []],
    ['name=&category=&country=', [11, 12, 13, 14]],
  ];
  test.each(cases)('%s returns the matching offers', async (query, numbers) => {
    expect(await ids(`/v1/cashback-offers/?${query}`)).toEqual(numbers.map(id));
  });
});

describe('invalid parameters', () => {
  const uuid = 'must be a UUID: the cursor of the previous page';
  const country = 'must be a two-letter country code (ISO 3166-1 alpha-2)';
  const number = 'must be a whole number from 1 to 1000';
  const host = 'must be a hostname such as www.shop.example, without a scheme or a path';
  const cases: [string, Record<string, string>][] = [
    ['cursor=', { cursor: 'must not be empty' }],
    ['cursor=abc', { cursor: uuid }],
    ['cursor=%00', { cursor: uuid }],
    ['limit=', { limit: 'must not be empty' }],
    ['limit=0', { limit: number }],
    ['limit=1001', { limit: number }],
    ['limit=1.5', { limit: number }],
    ['limit=1e2', { limit: number }],
    ['country=DEU', { country }],
    ['country=UK', { country: 'must be GB, which is the code of the United Kingdom (ISO 3166-1 alpha-2)' }],
    ['country=uk', { country: 'must be GB, which is the code of the United Kingdom (ISO 3166-1 alpha-2)' }],
    ['country=EL', { country: 'must be GR, which is the code of Greece (ISO 3166-1 alpha-2)' }],
    ['retailerId=1', { retailerId: 'must be a UUID' }],
    ['retailerId=', { retailerId: 'must not be empty' }],
    ['hostname=', { hostname: 'must not be empty' }],
    ['hostname=https://shop.example', { hostname: host }],
    [`hostname=${'x.'.repeat(127)}`, { hostname: 'must not be longer than 253 characters' }],
    ['hostname=a.example&hostname=b.example', { hostname: 'must be given only once' }],
    ['name=&name=', { name: 'must be given only once' }],
    [`name=${'x'.repeat(201)}`, { name: 'must not be longer than 200 characters' }],
    ['cursor=x&limit=0&country=1', { cursor: uuid, limit: number, country }],
  ];
  test.each(cases)('%s is rejected with a problem that names each parameter', async (query, want) => {
    const response = await node.get(`/v1/cashback-offers/?${query}`, token, { 'Request-Id': 'r-1' });
    const errors = Object.entries(want).map(([parameter, detail]) => ({ parameter, detail }));
    expect(response.status).toBe(400);
    expect(response.headers.get('Content-Type')).toBe('application/problem+json');
    expect((await response.json()) as unknown).toEqual({
      type: `${node.url}/errors/invalid_parameter`,
      title: 'A parameter is not valid',
      status: 400,
      detail: `${errors.map(({ parameter, detail }) => `${parameter} ${detail}`).join('; ')}.`,
      instance: '/v1/cashback-offers/',
      code: 'invalid_parameter',
      requestId: 'r-1',
      errors,
    });
  });

  test('a value of 200 code points is accepted', async () => {
    // As in JSON Schema, UTF-16 code units do not count.
    expect(await ids(`/v1/cashback-offers/?name=${encodeURIComponent('😀'.repeat(200))}`)).toEqual([]);
  });

  test('parameters are validated only after the token', async () => {
    expect((await node.get('/v1/cashback-offers/?limit=0')).status).toBe(401);
  });
});

describe('max-age of catalogue pages', () => {
  /** Returns max-age in seconds at a time of the day on which the hourly coupon starts and ends. */
  const maxAge = async (time: string, path: string, headers: Record<string, string> = {}) => {
    nowMs = Date.parse(`2026-11-15T${time}Z`);
    const response = await node.get(path, token, headers);
    nowMs = Date.parse('2026-11-15T12:00:00Z');
    const [, seconds] = /^private, max-age=(\d+)$/.exec(response.headers.get('Cache-Control') ?? '') ?? [];
    return Number(seconds);
  };

  test.each([
    ['12:58:59', 60],
    ['12:59:00', 60],
    ['12:59:30', 30],
    ['12:59:59.5', 0],
    // The clock was set back.
    ['12:58:00', 60],
    ['13:00:00', 60],
    ['13:59:15', 45],
    ['14:00:00', 60],
  ])(
    'at %s, max-age is %p s, so the page expires when one of its deals starts or ends',
    async (time, seconds) => {
      for (const path of ['/v1/coupons/', '/v1/retailers/']) {
        expect([path, await maxAge(time, path)]).toEqual([path, seconds]);
        // Again, from the cache.
        expect([path, await maxAge(time, path)]).toEqual([path, seconds]);
      }
    },
  );

  test('max-age is a minute if only a deal on another page or list starts or ends, and shorter if the cursor changes', async () => {
    for (const [path, seconds] of [
      ['/v1/promotions/', 60],
      ['/v1/coupons/?limit=1', 60],
      ['/v1/retailers/?limit=1', 60],
      // The hourly coupon is the first item of the next page.
      ['/v1/coupons/?limit=2', 30],
    ] as const)
      expect([path, await maxAge('13:59:30', path)]).toEqual([path, seconds]);
  });

  test('a 304 also has a max-age', async () => {
    nowMs = Date.parse('2026-11-15T13:59:30Z');
    const tag = (await node.get('/v1/coupons/', token)).headers.get('ETag') ?? '';
    expect(await maxAge('13:59:50', '/v1/coupons/', { 'If-None-Match': tag })).toBe(10);
  });
});

describe('caching and compression', () => {
  const path = '/v1/retailers/';
  const decoders: Record<string, (bytes: Buffer<ArrayBuffer>) => Buffer> = {
    zstd: (bytes) => zstdDecompressSync(bytes),
    br: (bytes) => brotliDecompressSync(bytes),
    gzip: (bytes) => gunzipSync(bytes),
  };
  const raw = (accept: string, more: Record<string, string> = {}) =>
    fetch(node.url + path, {
      headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': accept, ...more },
      decompress: false,
    });

  test.each(Object.keys(decoders))(
    'a %s response decodes to the same bytes as the uncompressed one and has its own ETag',
    async (coding) => {
      const plain = await raw('identity');
      const packed = await raw(coding);
      for (const { headers } of [plain, packed])
        expect(headers.get('Vary')).toBe('Authorization, Accept-Encoding');
      expect(packed.headers.get('Content-Encoding')).toBe(coding);
      const bytes = Buffer.from(await packed.arrayBuffer());
      expect(decoders[coding]?.(bytes).toString()).toBe(await plain.text());
      expect(packed.headers.get('ETag')).not.toBe(plain.headers.get('ETag'));
    },
  );

  test.each([...Object.keys(decoders), 'identity'])(
    'a cached response and a new one have the same headers and bytes: %s',
    async (coding) => {
      // A cursor before all ids: the same page under another URL, so that it is not cached yet.
      const anew = `${path}?cursor=00000000-0000-0000-0000-00000000000${coding.length}`;
      const ask = async (target: string) => {
        const headers = { Authorization: `Bearer ${token}`, 'Accept-Encoding': coding };
        const response = await fetch(node.url + target, { headers, decompress: false });
        const differing = ['date', 'request-id', 'ratelimit'];
        return {
          headers: [...response.headers].filter(([name]) => !differing.includes(name)),
          body: Buffer.from(await response.arrayBuffer()),
        };
      };
      const built = await ask(anew);
      // The second request caches the page, and the third is served from the cache.
      const others = [await ask(anew), await ask(anew), await ask(path), await ask(path), await ask(path)];
      for (const answer of others) expect(answer).toEqual(built);
      expect(built.body.length).toBeGreaterThan(0);
    },
  );

  const choices: [string, string | null][] = [
    ['', null],
    ['identity', null],
    ['deflate', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, br', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['gzip;q=0', null],
    ['*', 'zstd'],
    ['*;q=0.5, zstd;q=0', 'br'],
    ['identity;q=1, gzip;q=0.5', null],
  ];
  test.each(choices)('Accept-Encoding "%s" selects the coding %p', async (accept, coding) => {
    expect((await raw(accept)).headers.get('Content-Encoding')).toBe(coding);
  });

  test('an Accept-Encoding header far longer than browsers send is ignored', async () => {
    const padded = (header: string, length: number) =>
      `${'x,'.repeat((length - header.length) / 2)}${header}`;
    const tag = (await raw('gzip')).headers.get('ETag') ?? '';
    const codings = [1_024, 12_000].map(async (length) =>
      (await raw(padded('gzip', length))).headers.get('Content-Encoding'),
    );
    const statuses = [4_000, 12_000].map(
      async (length) => (await raw('gzip', { 'If-None-Match': padded(tag, length) })).status,
    );
    expect(await Promise.all(codings)).toEqual(['gzip', null]);
    expect(await Promise.all(statuses)).toEqual([304, 200]);
  });

  test('an unchanged page gets 304 without a body', async () => {
    const tag = (await raw('gzip')).headers.get('ETag') ?? '';
    for (const sent of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const response = await raw('gzip', { 'If-None-Match': sent });
      expect({
        sent,
        status: response.status,
        body: await response.text(),
        headers: ['ETag', 'Cache-Control', 'Vary', 'Content-Type', 'Content-Encoding', 'Link'].map((name) =>
          response.headers.get(name),
        ),
      }).toEqual({
        sent,
        status: 304,
        body: '',
        headers: [tag, 'private, max-age=60', 'Authorization, Accept-Encoding', null, null, null],
      });
    }
    expect((await raw('gzip', { 'If-None-Match': '"other"' })).status).toBe(200);
    expect((await raw('identity', { 'If-None-Match': tag })).status).toBe(200);
  });

  test('concurrent requests for the same page each get their own headers', async () => {
    const tag = (await node.get('/v1/cashback-offers/?limit=1', token)).headers.get('ETag') ?? '';
    const asked = Array.from({ length: 40 }, (_, i) => i);
    const answers = await Promise.all(
      asked.map((i) =>
        node.get(`/v1/cashback-offers/?limit=1&_asked=${i}`, token, {
          'Request-Id': `asked-${i}`,
          ...(i % 4 === 3 && { 'If-None-Match': tag }),
        }),
      ),
    );
    const seen = answers.map(({ status, headers }) => [
      status,
      headers.get('Request-Id'),
      headers.get('Link')?.match(/asked=\d+/)?.[0],
      headers.get('Content-Type'),
    ]);
    expect(seen).toEqual(
      asked.map((i) =>
        i % 4 === 3
          ? [304, `asked-${i}`, undefined, null]
          : [200, `asked-${i}`, `asked=${i}`, 'application/json'],
      ),
    );
    const left = answers.map(({ headers }) => headers.get('RateLimit')?.match(/r=(\d+)/)?.[1]);
    expect(new Set(left).size).toBe(asked.length);
  });

  test('HEAD returns the same headers as GET without a body', async () => {
    const get = await raw('identity');
    const head = await node.request('HEAD', path, token, { 'Accept-Encoding': 'identity' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of ['ETag', 'Content-Type', 'Content-Length', 'Cache-Control']) {
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    }
  });
});
