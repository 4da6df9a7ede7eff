// The service behind real proxies, configured as in docs/operations/proxies.md: what they reject and what they cache.

import { afterAll, describe, expect, test } from 'bun:test';
import { coupon, id, retailer } from '../support/fixtures.ts';
import { lacks } from '../support/programs.ts';
import { rawRequest } from '../support/raw-request.ts';
import { PROXIES, type ReverseProxy, startProxy } from '../support/reverse-proxy.ts';
import { TestNode } from '../support/test-node.ts';
import { testsWith } from '../support/tests-with.ts';
import { until } from '../support/until.ts';

const node = await TestNode.start({ settings: { pageSize: 1, trustedProxies: ['127.0.0.0/8'] } });
await node.catalogue([retailer(1, { coupons: [coupon(21), coupon(22)] })]);
const token = await node.token('public');
const { publicId: orgId } = await node.organisation();
const template = `https://network.example/${'x'.repeat(1_024)}/{click}?to={url}`;
await node.links([{ id: id(1), kind: 'retailer', template }]);
afterAll(() => node[Symbol.asyncDispose]());

async function statusOf(url: string, target: string): Promise<number> {
  const answer = await rawRequest(url, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}

describe.each(PROXIES)('%s', (name) => {
  const { afterAll, beforeAll, test } = testsWith(name);
  let proxy: ReverseProxy;

  beforeAll(async () => {
    proxy = await startProxy(name, [node.url]);
  });
  afterAll(() => proxy[Symbol.asyncDispose]());

  test.each([
    '/x/../livez',
    '/x/%2e%2E/livez',
    '/x/.%2e/livez',
    '/./livez',
    '/%2e/livez',
    '/x\\..\\livez',
    '/x\\livez',
    '/v1\\transactions/',
    '\\livez',
    '/livez/.',
    '/livez/x/..?y',
  ])('rejects a path with dot segments or backslashes: %s', async (target) => {
    expect(await statusOf(proxy.url, target)).toBe(400);
  });

  test("forwards the longest URL that the service accepts, and returns the service's error for a longer URL", async () => {
    const longest = '/livez?x='.padEnd(16 * 1024, 'a');
    expect([await statusOf(proxy.url, longest), await statusOf(proxy.url, `${longest}a`)]).toEqual([
      200, 414,
    ]);
  });

  test('forwards the longest page of a shop, and the redirect to it', async () => {
    // Percent signs are encoded once more in the request and in the redirect.
    const page = 'https://www.r1.example/'.padEnd(2_048, '%FC');
    const path = `/v1/coupons/${id(21)}/activate/`;
    const longest = { passbackUid: '\u00fc'.repeat(127), passbackData: '\u00fc'.repeat(512), to: page };
    const response = await fetch(`${proxy.url}${path}?${new URLSearchParams({ orgId, ...longest })}`, {
      redirect: 'manual',
    });
    const location = response.headers.get('Location') ?? '';
    expect([response.status, new URL(location).searchParams.get('to')]).toEqual([302, page]);
    expect(location.length).toBeGreaterThan(4_096);
  });

  test.each(['/livez', '/livez?x=/../', '/livez?x=..', '/livez?x=\\'])(
    'forwards a valid path: %s',
    async (target) => {
      expect(await statusOf(proxy.url, target)).toBe(200);
    },
  );
});

test.skipIf(lacks('nginx'))(
  'an nginx cache does not leak responses to other hosts or revoked tokens',
  async () => {
    await using proxy = await startProxy('nginx', [node.url], { keepsAnswers: true });
    const assets = /"(\/assets\/[^"]+)"/.exec(await (await fetch(`${proxy.url}/`)).text())?.[1] ?? '';
    expect(assets).not.toBe('');
    const paths = ['/v1/coupons/', '/v1/nowhere/', '/openapi.json', '/docs', '/errors/not_found', assets];
    const ask = async (path: string, host: string) => {
      const response = await fetch(proxy.url + path, {
        headers: { Authorization: `Bearer ${token}`, Host: host, 'Request-Id': `of-${host}` },
      });
      const headers = Object.entries(response.headers.toJSON()).map(([field, value]) => `${field}: ${value}`);
      return `${headers.join('\n')}\n\n${await response.text()}`;
    };
    for (const path of paths) await ask(path, 'evil.example');
    for (const path of paths) expect(await ask(path, 'api.example')).not.toContain('evil.example');
    await node.revoke(token);
    await until(async () => !(await node.get('/v1/coupons/', token)).ok);
    expect(await ask('/v1/coupons/', 'api.example')).toContain('"code":"invalid_token"');
  },
);
