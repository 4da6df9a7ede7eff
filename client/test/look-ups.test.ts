// Single items, the retailer of a site, and the list of domains, from the caller's point of view.

import { describe, expect, test } from 'bun:test';
import type { OfferbookClient } from '../src/index.ts';
import { BASE_URL, failure, id, json, PRIVATE, page, problem, scripted } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

describe('get', () => {
  const calls: [string, (client: OfferbookClient) => Promise<{ id: string }>][] = [
    ['/v1/retailers/', (client) => client.retailers.get(id(1))],
    ['/v1/cashback-offers/', (client) => client.cashbackOffers.get(id(1))],
    ['/v1/coupons/', (client) => client.coupons.get(id(1))],
    ['/v1/promotions/', (client) => client.promotions.get(id(1))],
    ['/v1/transactions/', (client) => client.transactions.get(id(1))],
  ];
  test.each(calls)('returns one item of %s', async (path, get) => {
    const script = scripted(() => json({ id: id(1), name: 'One' }));
    const options = path === '/v1/transactions/' ? { token: PRIVATE } : {};
    expect<unknown>(await get(openClient(script, options).client)).toEqual({ id: id(1), name: 'One' });
    expect(script.requests.map(({ url }) => url)).toEqual([`${BASE_URL}${path}${id(1)}/`]);
  });

  test('a look-up of an unknown item rejects with deal_not_found and is not retried', async () => {
    const script = scripted(() => problem(404, 'deal_not_found'));
    expect(await failure(openClient(script).client.coupons.get(id(9)))).toMatchObject({
      code: 'deal_not_found',
      status: 404,
      attempts: 1,
    });
  });

  test('encodes the id, and rejects an empty id before it sends anything', async () => {
    const script = scripted(() => problem(400, 'invalid_parameter'));
    const { client } = openClient(script);
    await failure(client.coupons.get('a/b?c'));
    expect(script.requests[0]?.url).toBe(`${BASE_URL}/v1/coupons/a%2Fb%3Fc/`);
    expect(await failure(client.coupons.get(''))).toEqual(new TypeError('id must not be empty'));
    expect(script.requests).toHaveLength(1);
  });

  test('retries, revalidates catalogue items, and does not cache transactions', async () => {
    const tagged = () => json({ id: id(1) }, { ETag: '"one"' });
    const script = scripted(
      () => problem(503, 'unavailable', { 'Retry-After': '1' }),
      tagged,
      () => new Response(null, { status: 304, headers: { ETag: '"one"' } }),
    );
    const { client } = openClient(script);
    expect<unknown>([await client.coupons.get(id(1)), await client.coupons.get(id(1))]).toEqual([
      { id: id(1) },
      { id: id(1) },
    ]);
    expect(script.requests.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      undefined,
      '"one"',
    ]);
    const sales = scripted(tagged, tagged);
    const { client: server } = openClient(sales, { token: PRIVATE });
    for (let times = 0; times < 2; times++) await server.transactions.get(id(1));
    expect(sales.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  test('rejects a response that is not an item', async () => {
    const { client } = openClient(scripted(() => page([1])));
    expect(await failure(client.coupons.get(id(1)))).toMatchObject({
      code: 'bad_shape',
      message: 'The response is not an item: it has no "id".',
    });
  });
});

describe('forSite', () => {
  test.each([
    ['https://www.shop.example/shoes?size=9#top', 'www.shop.example'],
    ['HTTP://Shop.example', 'Shop.example'],
    ['https://shop.example:8443/', 'shop.example'],
    ['https://user:pw@shop.example/', 'shop.example'],
    ['https://bücher.example/', encodeURIComponent('bücher.example')],
    [new URL('https://bücher.example/'), 'xn--bcher-kva.example'],
  ])('sends only the hostname of %s', async (url, hostname) => {
    const script = scripted(() => page([1, 2]));
    expect<unknown>(await openClient(script).client.retailers.forSite(url)).toEqual({ id: id(1) });
    expect(script.requests.map((request) => request.url)).toEqual([
      `${BASE_URL}/v1/retailers/?hostname=${hostname}&limit=1`,
    ]);
  });

  test.each(['about:blank', 'chrome://newtab/', 'file:///home/me', 'shop.example', '', 'https://[::1]/'])(
    'returns undefined for %j without a request',
    async (url) => {
      const script = scripted();
      expect(await openClient(script).client.retailers.forSite(url)).toBeUndefined();
      expect(script.requests).toEqual([]);
    },
  );
});

test('domains returns every retailer with its domains, and revalidates the list', async () => {
  const item = {
    id: id(1),
    name: 'One',
    domains: ['one.example'],
    cashbackPercentage: 0.05,
    maximumFixedCommissionFee: null,
  };
  const script = scripted(
    () => json({ data: [item] }, { ETag: '"one"' }),
    () => new Response(null, { status: 304, headers: { ETag: '"one"' } }),
  );
  const { client } = openClient(script);
  for (let times = 0; times < 2; times++) expect<unknown>((await client.domains()).data).toEqual([item]);
  expect(script.requests.map(({ url, headers }) => [url, headers['if-none-match']])).toEqual([
    [`${BASE_URL}/v1/domains/`, undefined],
    [`${BASE_URL}/v1/domains/`, '"one"'],
  ]);
});
