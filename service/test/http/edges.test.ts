// Edge cases of HTTP: unknown paths, long URLs, request ids, health, error pages, limits.

import { afterAll, describe, expect, test } from 'bun:test';
import { newTokenText } from '../../src/domain/access-token.ts';
import { ERROR_CODES, ERRORS } from '../../src/domain/api-errors.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { rawRequest } from '../support/raw-request.ts';
import { TestNode } from '../support/test-node.ts';

const node = await TestNode.start();
await node.catalogue([retailer(1, { cashbackOffers: [offer(11)] })]);
const token = await node.token('public');
afterAll(() => node[Symbol.asyncDispose]());

describe('paths', () => {
  test.each(['/v1', '/v1/', '/v2/retailers/', '/v1/retailers//', '/errors/nothing', '/%zz'])(
    '%s gets 404, even with a valid token',
    async (path) => {
      const response = await node.get(path, token, { 'Request-Id': 'r-2' });
      expect(await response.json()).toEqual({
        type: `${node.url}/errors/not_found`,
        title: 'No such path',
        status: 404,
        detail: 'No such path. All paths are listed in the API reference at /docs/reference.',
        instance: path,
        code: 'not_found',
        requestId: 'r-2',
      });
    },
  );

  test('a path with /v1 twice gets an error that suggests removing /v1 from the base URL', async () => {
    const response = await node.get('/v1/v1/retailers/', token);
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining({
        code: 'not_found',
        detail: 'No such path: it contains /v1 twice. Remove /v1 from the base URL.',
      }),
    ]);
  });

  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
  test.each([
    [BROWSER, 'text/html; charset=utf-8'],
    ['text/html', 'text/html; charset=utf-8'],
    ['text/html, application/json;q=0.9', 'text/html; charset=utf-8'],
    ['application/json, text/html;q=0.9', 'application/problem+json'],
    ['application/json, text/plain, */*', 'application/problem+json'],
    ['*/*', 'application/problem+json'],
    ['text/html;q=0', 'application/problem+json'],
    ['text/html, */*', 'application/problem+json'],
    ['', 'application/problem+json'],
    [`text/html, ${'x'.repeat(1_100)}`, 'application/problem+json'],
  ])('an unknown path with Accept %p gets 404 as %s', async (accept, type) => {
    const response = await node.get('/nowhere', undefined, { Accept: accept });
    expect([response.status, response.headers.get('Content-Type')]).toEqual([404, type]);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.get('Request-Id')).not.toBeNull();
  });

  test('an operation returns JSON regardless of the Accept header', async () => {
    const response = await node.get('/v1/retailers/', undefined, { Accept: BROWSER });
    expect([response.status, response.headers.get('Content-Type')]).toEqual([
      401,
      'application/problem+json',
    ]);
  });

  test('a URL of 16 KiB is accepted, and a longer one gets 414', async () => {
    const path = '/v1/retailers/?_=';
    const longest = path + 'a'.repeat(16 * 1024 - path.length);
    expect((await node.get(longest, token)).status).toBe(200);
    const response = await node.get(`${longest}a`, token);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      414,
      'uri_too_long',
    ]);
  });

  test.each([
    ['/v1/retailers/', '*'],
    ['/v1/transactions/', null],
    ['/v1/transactions', null],
    ['/v1/nowhere/', '*'],
  ])(
    'web pages may read the 414 response of %s only if they may read its other responses',
    async (path, cors) => {
      const response = await node.get(`${path}?x=${'a'.repeat(17_000)}`, undefined, {
        Origin: 'https://shop.example',
      });
      expect([response.status, response.headers.get('Access-Control-Allow-Origin')]).toEqual([414, cors]);
    },
  );
});

const raw = (bytes: string) => rawRequest(node.url, bytes);

describe('malformed requests', () => {
  test('a request without a Host header gets a response with relative links', async () => {
    const answer = await raw(`GET /v1/nowhere HTTP/1.0\r\nConnection: close\r\n\r\n`);
    expect(answer).toStartWith('HTTP/1.1 404');
    expect(answer).toContain('"type":"/errors/not_found"');
    expect(answer).toContain('"instance":"/v1/nowhere"');
  });

  test.each(['[::1', 'a%00b', 'x:y', 'user@x', '"><script>', '%zz', 'x:99999', '1.2.3.999'])(
    'an invalid Host (%s) does not appear in links',
    async (host) => {
      const answer = await raw(`GET /v1/nowhere HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect(answer).toContain('"type":"/errors/not_found"');
    },
  );

  test.each([
    'Host: a.example\r\nHost: b.example',
    'Host: a.example\r\nHost: a.example',
    'Host: a.example,b.example',
  ])('a request with two hosts is rejected: %p', async (lines) => {
    const answer = await raw(`GET /livez HTTP/1.1\r\n${lines}\r\n\r\n`);
    expect(answer).toStartWith('HTTP/1.1 400');
    expect(answer).toContain('"code":"several_hosts"');
  });

  test('two equal Content-Length headers count as one, as RFC 9110 allows, and different ones are rejected', async () => {
    const post = (lengths: string) =>
      raw(`POST /livez HTTP/1.1\r\nHost: x\r\n${lengths}\r\n\r\nabc`).then((answer) => answer.slice(0, 12));
    expect([
      await post('Content-Length: 3'),
      await post('Content-Length: 3\r\nContent-Length: 3'),
      await post('Content-Length: 3\r\nContent-Length: 4'),
      await post('Content-Length: 3, 3'),
    ]).toEqual(['HTTP/1.1 405', 'HTTP/1.1 405', 'HTTP/1.1 400', 'HTTP/1.1 400']);
  });

  test('Bun reads a backslash in a path as a slash and resolves dot segments before the service sees them', async () => {
    for (const target of ['/x/../livez', '/x\\..\\livez'])
      expect(await raw(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).toStartWith('HTTP/1.1 200');
  });

  test('a request target that is not a path gets 404', async () => {
    const answer = await raw(`CONNECT somewhere:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toStartWith('HTTP/1.1 404');
    expect(answer).toContain('"instance":"somewhere:443"');
  });

  test.each(['PROPFIND', 'TRACE', 'PURGE'])('the method %s, which Bun supports, gets 405', async (method) => {
    const answer = await raw(`${method} /v1/retailers/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toStartWith('HTTP/1.1 405');
    expect(answer).toContain('"code":"method_not_allowed"');
  });
});

describe('request ids', () => {
  test('a valid request id is returned, even with errors', async () => {
    for (const path of ['/v1/retailers/', '/nowhere']) {
      const { headers } = await node.get(path, token, { 'Request-Id': 'abc-123' });
      expect([path, headers.get('Request-Id')]).toEqual([path, 'abc-123']);
    }
  });

  test.each([
    'a b',
    'x'.repeat(129),
    '<script>',
    '"',
    // Every token contains an underscore, and tokens must not get into the log.
    'a_b',
    newTokenText('private'),
  ])('a request id is replaced if it is %p', async (given) => {
    const made = (await node.get('/v1/retailers/', token, { 'Request-Id': given })).headers.get('Request-Id');
    expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(node.logLines.join('')).not.toContain(JSON.stringify(given));
  });
});

test.each(ERROR_CODES)('/errors/%s describes the error and what to do, and needs no token', async (code) => {
  const response = await node.get(`/errors/${code}`);
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('Content-Security-Policy')).toStartWith("default-src 'none'");
  const { title, meaning, remedy } = ERRORS[code];
  for (const words of [title, meaning, remedy]) expect(page).toContain(Bun.escapeHTML(words));
});

test('a node that is shutting down asks clients to close their connections', async () => {
  const leaving = await TestNode.start({ settings: { drainDelay: 1 } });
  expect((await leaving.get('/livez')).headers.get('Connection')).toBeNull();
  const stopped = leaving.stopNode();
  expect((await leaving.get('/livez')).headers.get('Connection')).toBe('close');
  await stopped;
  await leaving[Symbol.asyncDispose]();
});

/** The status of a response and its limits, without the time. */
const limitsOf = ({ status, headers }: Response) => [
  status,
  headers.get('RateLimit')?.replace(/t=\d+/, 't=T') ?? null,
  headers.get('RateLimit-Policy'),
];

describe('rate limits', () => {
  test('every response has RateLimit headers, and requests above the limit get 429, per token and address', async () => {
    await using limited = await TestNode.start({
      settings: {
        rateLimitPublic: 2,
        rateLimitPrivate: 1,
        rateLimitFailedAuth: 2,
        trustedProxies: ['127.0.0.0/8'],
      },
    });
    const publicToken = await limited.token('public');
    const from = (address: string, as?: string) =>
      limited.get('/v1/coupons/', as, { 'X-Forwarded-For': `203.0.113.66, ${address}` });
    const seen = [];
    for (const address of ['198.51.100.1', '198.51.100.1', '198.51.100.1', '198.51.100.2'])
      seen.push(limitsOf(await from(address, publicToken)));
    const policy = '"public";q=2;w=60';
    expect(seen).toEqual([
      [200, '"public";r=1;t=T', policy],
      [200, '"public";r=0;t=T', policy],
      [429, '"public";r=0;t=T', policy],
      [200, '"public";r=1;t=T', policy],
    ]);
    const refused = await from('198.51.100.1', publicToken);
    expect(((await refused.json()) as { code: string }).code).toBe('rate_limited');
    expect(Number(refused.headers.get('Retry-After'))).toBeWithin(1, 61);

    const failed = [];
    for (let i = 0; i < 3; i++) failed.push((await from('198.51.100.3')).status);
    expect(failed).toEqual([401, 401, 429]);
    // A client with a valid token at the same address is not rejected.
    expect((await from('198.51.100.3', publicToken)).status).toBe(200);

    // The addresses of a /64 are one browser.
    const ofNetwork = [];
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:1::1'])
      ofNetwork.push((await from(address, publicToken)).status);
    expect(ofNetwork).toEqual([200, 200, 429, 200]);
  });

  test('responses that do not count against a limit have no RateLimit headers', async () => {
    await using limited = await TestNode.start({ settings: { rateLimitFailedAuth: 5 } });
    const seen = [];
    for (const [method, path] of [
      ['GET', '/v1/coupons/'],
      ['GET', '/v1/nowhere/'],
      ['DELETE', '/v1/coupons/'],
      ['GET', `/v1/coupons/?x=${'a'.repeat(17_000)}`],
      ['GET', '/v1/coupons/x/activate/'],
      ['POST', '/v1/coupons/x/activate/'],
      ['GET', '/v1/coupons/'],
    ] as const)
      seen.push(limitsOf(await limited.request(method, path)));
    const policy = '"failed-auth";q=5;w=60';
    expect(seen).toEqual([
      [401, '"failed-auth";r=4;t=T', policy],
      [404, null, null],
      [405, null, null],
      [414, null, null],
      [400, null, null],
      [400, null, null],
      [401, '"failed-auth";r=3;t=T', policy],
    ]);
  });

  test('a valid token sent to an operation that it cannot access counts as a failed authentication', async () => {
    await using limited = await TestNode.start({ settings: { rateLimitFailedAuth: 3 } });
    const tokens = await limited.tokens();
    const seen = [];
    for (const [path, as, headers] of [
      ['/v1/coupons/', tokens.private, {}],
      ['/v1/transactions/', tokens.public, {}],
      ['/v1/transactions/', tokens.private, { Origin: 'https://shop.example' }],
      ['/v1/coupons/', tokens.private, {}],
    ] as const)
      seen.push(limitsOf(await limited.get(path, as, headers)).slice(0, 2));
    expect(seen).toEqual([
      [403, '"failed-auth";r=2;t=T'],
      [403, '"failed-auth";r=1;t=T'],
      [403, '"failed-auth";r=0;t=T'],
      [429, '"failed-auth";r=0;t=T'],
    ]);
  });

  test('a limit of 0 turns off the limit and its headers', async () => {
    await using free = await TestNode.start({ settings: { rateLimitPublic: 0 } });
    expect(limitsOf(await free.get('/v1/coupons/', await free.token('public')))).toEqual([200, null, null]);
  });
});
