// Look-ups over HTTP: single items, which are the same objects as in the lists, the retailer of a site, and the list of domains.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { importLinks } from '../../src/importer/import-links.ts';
import { DATABASES } from '../support/databases.ts';
import { coupon, id, offer, promotion, retailer, timestamp, transaction } from '../support/fixtures.ts';
import { ndjson, TestNode } from '../support/test-node.ts';

const CATALOGUE_PATHS = ['/v1/retailers/', '/v1/cashback-offers/', '/v1/coupons/', '/v1/promotions/'];
const NOT_FOUND = 'No active retailer or deal has this id.';

let nowMs = Date.parse('2026-11-15T12:00:00Z');

const node = await TestNode.start({ clock: () => nowMs });
await node.catalogue([
  retailer(1, { name: 'Grünes "Cáfé"', cashbackOffers: [offer(11), offer(12)], coupons: [coupon(21)] }),
  retailer(2, {
    cashbackOffers: [offer(13, { termsAndExclusions: 'x'.repeat(2_000) })],
    coupons: [
      coupon(22),
      coupon(23, {
        startDate: timestamp('2026-11-15T13:00:00'),
        endDate: timestamp('2026-11-15T14:00:00'),
      }),
    ],
    promotions: [promotion(31)],
  }),
  retailer(3),
  retailer(4, { promotions: [promotion(32, { endDate: timestamp('2026-11-01T00:00:00') })] }),
]);
const token = await node.token('public');
afterAll(() => node[Symbol.asyncDispose]());

describe.each(CATALOGUE_PATHS)('%s', (path) => {
  test('every item of the list is returned by its id, byte for byte, and again from the cache', async () => {
    const page = await (await node.get(path, token)).text();
    const { data } = JSON.parse(page) as { data: { id: string }[] };
    const items: string[] = [];
    for (const item of data) {
      for (const written of [item.id, item.id.toUpperCase(), item.id]) {
        const response = await node.get(`${path}${written}/`, token);
        expect(response.status).toBe(200);
        items.push(await response.text());
      }
    }
    expect(page).toBe(`{"data":[${items.filter((_, number) => number % 3 === 2).join(',')}]}`);
    expect(new Set(items).size).toBe(data.length);
  });

  test('an unknown id and the id of an item in another list get 404', async () => {
    for (const unknown of [id(999), id(path === '/v1/coupons/' ? 11 : 21)]) {
      const response = await node.get(`${path}${unknown}/`, token, { 'Request-Id': 'r-1' });
      expect(response.status).toBe(404);
      expect((await response.json()) as unknown).toEqual({
        type: `${node.url}/errors/deal_not_found`,
        title: 'Unknown retailer, deal, organisation or click',
        status: 404,
        detail: NOT_FOUND,
        instance: `${path}${unknown}/`,
        code: 'deal_not_found',
        requestId: 'r-1',
      });
    }
  });

  test.each(['x', '1', `${id(1)}0`, '%00', '{id}'])(
    'the id %s gets 400, because it is not a UUID',
    async (text) => {
      const response = await node.get(`${path}${text}/`, token);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'invalid_parameter',
        detail: 'id must be a UUID.',
        errors: [{ parameter: 'id', detail: 'must be a UUID' }],
      });
    },
  );
});

describe('caching of items', () => {
  test('a coupon exists from its start to its end, and may be cached until then', async () => {
    const seen: Record<string, unknown> = {};
    for (const time of ['12:59:59.999', '13:00:00', '13:59:30', '14:00:00']) {
      nowMs = Date.parse(`2026-11-15T${time}Z`);
      const { status, headers } = await node.get(`/v1/coupons/${id(23)}/`, token);
      seen[time] = [status, headers.get('Cache-Control')];
    }
    nowMs = Date.parse('2026-11-15T12:00:00Z');
    expect(seen).toEqual({
      '12:59:59.999': [404, 'no-store'],
      '13:00:00': [200, 'private, max-age=60'],
      '13:59:30': [200, 'private, max-age=30'],
      '14:00:00': [404, 'no-store'],
    });
  });

  test('look-ups are logged and counted under their route, without the id', async () => {
    await node.get(`/v1/coupons/${id(21)}/`, token, { 'Request-Id': 'logged' });
    const line = await node.logged((entry) => entry.requestId === 'logged');
    expect(line.route).toBe('/v1/coupons/{id}/');
  });
});

describe.each(DATABASES)('a transaction by id on $name', ({ create }) => {
  let own: TestNode;
  let acme: string;
  let other: string;

  beforeAll(async () => {
    own = await TestNode.start({ databaseUrl: await create() });
    acme = await own.token('private');
    other = await own.token('private', 'other');
    await own.transactions([transaction(101), transaction(102, { passbackData: 'é'.repeat(1_000) })]);
    await own.transactions([transaction(103)], 'other');
  });
  afterAll(() => own[Symbol.asyncDispose]());

  test('every transaction of the list is returned by its id, byte for byte', async () => {
    const page = await (await own.get('/v1/transactions/', acme)).text();
    const items = [101, 102].map(async (number) =>
      (await own.get(`/v1/transactions/${id(number).toUpperCase()}/`, acme)).text(),
    );
    expect(page).toBe(`{"data":[${(await Promise.all(items)).join(',')}]}`);
  });

  test("another organisation's transaction gets the same 404 as an unknown one", async () => {
    const ask = async (number: number, token: string) => {
      const path = `/v1/transactions/${id(number)}/`;
      const response = await own.get(path, token, { 'Request-Id': 'same' });
      return { status: response.status, body: (await response.text()).replace(path, '') };
    };
    expect((await ask(103, other)).status).toBe(200);
    const hidden = await ask(103, acme);
    expect(hidden).toEqual(await ask(999, acme));
    expect(hidden.status).toBe(404);
    expect(JSON.parse(hidden.body)).toMatchObject({
      code: 'transaction_not_found',
      title: 'Unknown transaction',
      detail: 'No transaction of your organisation has this id.',
    });
  });

  test('the response must not be stored by caches, and an unchanged transaction gets 304', async () => {
    const ask = (coding: string, tag?: string) =>
      fetch(`${own.url}/v1/transactions/${id(102)}/`, {
        headers: {
          Authorization: `Bearer ${acme}`,
          'Accept-Encoding': coding,
          ...(tag === undefined ? {} : { 'If-None-Match': tag }),
        },
        decompress: false,
      });
    const tags = new Set<string | null>();
    for (const coding of ['identity', 'gzip']) {
      const { headers } = await ask(coding);
      tags.add(headers.get('ETag'));
      expect(headers.get('Cache-Control')).toBe('private, no-store');
      expect(headers.get('Vary')).toBe('Authorization, Accept-Encoding');
      expect(headers.get('Content-Encoding')).toBe(coding === 'identity' ? null : coding);
      expect(headers.get('Complete-Through')).toBeNull();
      const again = await ask(coding, headers.get('ETag') ?? '');
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    expect(tags.size).toBe(2);
  });

  test('a changed transaction no longer matches its old ETag', async () => {
    const path = `/v1/transactions/${id(101)}/`;
    const before = await own.get(path, acme);
    await own.transactions([transaction(101, { status: 'CONFIRMED' })]);
    const after = await own.get(path, acme, { 'If-None-Match': before.headers.get('ETag') ?? '' });
    expect(after.status).toBe(200);
    expect(await after.json()).toMatchObject({ id: id(101), status: 'CONFIRMED' });
  });
});

const idsOn = async (path: string) => {
  const response = await node.get(path, token);
  expect([path, response.status]).toEqual([path, 200]);
  return ((await response.json()) as { data: { id: string }[] }).data.map((item) => item.id);
};

test('hostname restricts every list to the retailer of the site, and combines with other parameters', async () => {
  const expected: Record<string, string[]> = {
    'retailers/?hostname=www.r1.example': [id(1)],
    'retailers/?hostname=R1.Example.:443': [id(1)],
    'retailers/?hostname=de.shop.r2.example': [id(2)],
    'retailers/?hostname=xr1.example': [],
    'retailers/?hostname=example': [],
    'retailers/?hostname=r3.example': [],
    'cashback-offers/?hostname=r1.example': [id(11), id(12)],
    'cashback-offers/?hostname=r1.example&limit=1': [id(11)],
    [`cashback-offers/?hostname=r1.example&cursor=${id(12)}`]: [id(12)],
    'cashback-offers/?hostname=r1.example&country=AT': [],
    'cashback-offers/?hostname=r1.example&name=cafe&category=garden': [id(11), id(12)],
    'coupons/?hostname=r2.example': [id(22)],
    'promotions/?hostname=r2.example': [id(31)],
    'promotions/?hostname=r4.example': [],
    [`cashback-offers/?retailerId=${id(1).toUpperCase()}`]: [id(11), id(12)],
    [`coupons/?retailerId=${id(2)}`]: [id(22)],
    [`promotions/?retailerId=${id(2)}&hostname=r2.example`]: [id(31)],
    [`promotions/?retailerId=${id(2)}&hostname=r1.example`]: [],
    [`coupons/?retailerId=${id(999)}`]: [],
  };
  for (const [query, found] of Object.entries(expected)) {
    // The third response is from the cache.
    for (let times = 0; times < 3; times++)
      expect([query, await idsOn(`/v1/${query}`)]).toEqual([query, found]);
  }
});

test('the list of domains is compressed with every coding even if it is large, and an unchanged list gets 304', async () => {
  await using own = await TestNode.start();
  const many = Array.from({ length: 40 }, (_, number) =>
    retailer(number, { cashbackOffers: [offer(100 + number)] }),
  );
  // Random, so that compression has work to do.
  const label = (seed: string) =>
    Array.from({ length: 4 }, (_, part) => Bun.hash(`${seed} ${part}`).toString(36)).join('');
  const links = many.map(({ id: retailerId }) => ({
    retailerId,
    template: 'https://network.example/?sub={click}',
    domains: Array.from(
      { length: 900 },
      (_, number) => `${['a', 'b', 'c'].map((part) => label(retailerId + number + part)).join('.')}.example`,
    ),
  }));
  await importLinks(own.stores.links, sourceFrom(ndjson(links)), {});
  await own.catalogue(many);
  const text = await own.token('public');
  const ask = (coding: string, headers: Record<string, string> = {}) =>
    fetch(`${own.url}/v1/domains/`, {
      headers: { Authorization: `Bearer ${text}`, 'Accept-Encoding': coding, ...headers },
    });
  const plain = await (await ask('identity')).text();
  expect(plain.length).toBeGreaterThan(5 * 1024 * 1024);
  expect((JSON.parse(plain) as { data: unknown[] }).data).toHaveLength(many.length);
  const tags = new Set<string>();
  for (const coding of ['gzip', 'br', 'zstd']) {
    const answers = await Promise.all([ask(coding), ask(coding)]);
    for (const answer of answers) {
      expect(answer.headers.get('Content-Encoding')).toBe(coding);
      expect(answer.headers.get('Cache-Control')).toBe('private, max-age=60');
      expect(answer.headers.get('Link')).toBeNull();
      expect((await answer.text()) === plain).toBe(true);
      tags.add(answer.headers.get('ETag') ?? '');
    }
    const again = await ask(coding, { 'If-None-Match': answers[0].headers.get('ETag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  }
  expect(tags.size).toBe(3);
});
