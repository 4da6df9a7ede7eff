import { describe, expect, test } from 'bun:test';
import { type CachedResponse, MalformedResponseError, MemoryCache } from '../src/index.ts';
import { BASE_URL, failure, id, page, scripted } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

describe('the ETag cache', () => {
  const unchanged = () =>
    new Response(null, { status: 304, headers: { ETag: '"v1"', 'Request-Id': 'req-2' } });
  const tagged = () => page([1], undefined, { ETag: '"v1"' });

  test('revalidates a cached page and returns it again on a 304', async () => {
    const script = scripted(tagged, unchanged);
    const { client } = openClient(script);
    const first = await client.retailers();
    const second = await client.retailers();
    expect(second).toEqual({ ...first, requestId: 'req-2' });
    expect(second.data).not.toBe(first.data);
    expect(script.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"v1"']);
  });

  test('the ETag cache can be turned off', async () => {
    const script = scripted(tagged, tagged);
    const { client } = openClient(script, { cache: false });
    await client.retailers();
    await client.retailers();
    expect(script.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  test('the ETag cache can be replaced with a custom cache', async () => {
    const kept = new Map<string, CachedResponse>();
    const cache = {
      get: async (url: string) => kept.get(url),
      set: async (url: string, answer: CachedResponse) => void kept.set(url, answer),
    };
    await openClient(scripted(tagged), { cache }).client.retailers();
    expect([...kept]).toEqual([
      [`${BASE_URL}/v1/retailers/`, { etag: '"v1"', body: `{"data":[{"id":"${id(1)}"}]}` }],
    ]);
    expect((await openClient(scripted(unchanged), { cache }).client.retailers()).data).toHaveLength(1);
  });

  test('evicts the least recently used page', async () => {
    const limits = [1, 2, 1, 3, 1, 2];
    const script = scripted(tagged, tagged, unchanged, tagged, unchanged, tagged);
    const { client } = openClient(script, { cache: new MemoryCache(2) });
    for (const limit of limits) await client.retailers({ limit });
    const cached = limits.filter((_, index) => script.requests[index]?.headers['if-none-match']);
    expect([script.requests.length, cached]).toEqual([6, [1, 1]]);
  });

  test('rejects a 304 for a page that is not cached', async () => {
    expect(await failure(openClient(scripted(unchanged)).client.retailers())).toBeInstanceOf(
      MalformedResponseError,
    );
  });
});
