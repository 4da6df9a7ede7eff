// Lists from the caller's point of view.

import { describe, expect, test } from 'bun:test';
import type { ApiError } from '../src/index.ts';
import { BASE_URL, failure, id, page, problem, scripted } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

describe('lists', () => {
  test('a list does not send a request until it is awaited or iterated, and fetches each page only when needed', async () => {
    const script = scripted(() => page([1, 2], 3));
    const { client } = openClient(script);
    const list = client.retailers();
    expect(script.requests).toEqual([]);
    for await (const _ of list) break;
    expect(script.requests.map(({ url }) => url)).toEqual([`${BASE_URL}/v1/retailers/`]);
  });

  test('an awaited list resolves to its first page', async () => {
    const { client } = openClient(
      scripted(() => page([1, 2], 3, { 'Complete-Through': '2026-01-01T00:00:00' })),
    );
    expect<unknown>(await client.retailers()).toEqual({
      data: [{ id: id(1) }, { id: id(2) }],
      cursor: id(3),
      completeThrough: '2026-01-01T00:00:00',
      requestId: 'req-1',
    });
  });

  test('an iterated list yields all its items', async () => {
    const script = scripted(
      () => page([1, 2], 3),
      () => page([3, 4], 5),
      () => page([5]),
    );
    const list = openClient(script).client.coupons({ limit: 2 });
    const seen: string[] = [];
    for await (const coupon of list) seen.push(coupon.id);
    expect(seen).toEqual([1, 2, 3, 4, 5].map(id));
    expect(script.requests.map(({ url }) => url.slice(BASE_URL.length))).toEqual([
      '/v1/coupons/?limit=2',
      `/v1/coupons/?limit=2&cursor=${id(3)}`,
      `/v1/coupons/?limit=2&cursor=${id(5)}`,
    ]);
  });

  test('a list starts from the beginning each time it is awaited or iterated, even after a failure', async () => {
    const script = scripted(
      () => problem(404, 'not_found'),
      () => page([1], 2),
      () => page([1, 2]),
      () => page([3]),
    );
    const list = openClient(script).client.retailers();
    expect(await failure(list)).toMatchObject({ code: 'not_found' });
    const first = await list;
    expect([first.data.length, first.cursor]).toEqual([1, id(2)]);
    expect((await list.toArray({ max: 9 })).map((item) => item.id)).toEqual([id(1), id(2)]);
    expect((await list.toArray({ max: 9 })).map((item) => item.id)).toEqual([id(3)]);
  });

  test('a list has then, catch and finally like a promise', async () => {
    const script = scripted(
      () => page([1]),
      () => problem(404, 'not_found'),
      () => page([2]),
    );
    const { client } = openClient(script);
    const promise: Promise<{ data: { id: string }[] }> = client.retailers();
    expect((await promise).data.map((item) => item.id)).toEqual([id(1)]);
    expect(await client.retailers().catch((error: unknown) => (error as ApiError).code)).toBe('not_found');
    let done = 0;
    expect((await client.retailers().finally(() => void done++)).data).toHaveLength(1);
    expect(done).toBe(1);
  });

  test('toArray() returns at most max items and does not request pages beyond them', async () => {
    const script = scripted(
      () => page([1, 2], 3),
      () => page([3, 4], 5),
    );
    const items = await openClient(script).client.promotions().toArray({ max: 3 });
    expect(items.map((item) => item.id)).toEqual([1, 2, 3].map(id));
  });

  test('toArray() without max is rejected', async () => {
    const { client } = openClient(scripted());
    // @ts-expect-error: the bound is required.
    expect(await failure(client.retailers().toArray({}))).toBeInstanceOf(RangeError);
    // @ts-expect-error: the bound is required.
    expect(await failure(client.retailers().toArray())).toBeInstanceOf(RangeError);
  });

  test('a list sends filters and the cursor unchanged and omits undefined filters', async () => {
    const script = scripted(() => page([]));
    const filters = { name: 'a&b=c +%', category: undefined, country: 'DE', cursor: id(7) };
    await openClient(script).client.cashbackOffers(filters);
    expect(script.requests[0]?.url).toBe(
      `${BASE_URL}/v1/cashback-offers/?name=a%26b%3Dc%20%2B%25&country=DE&cursor=${id(7)}`,
    );
  });
});
