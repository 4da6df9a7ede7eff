// Activation links, and activations by POST.

import { describe, expect, test } from 'bun:test';
import { inspect } from 'node:util';
import type { CallOptions, ClientOptions, Fetch } from '../src/index.ts';
import { failure, problem } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

const DEAL = {
  deal: 'cashbackOffer',
  id: '0192d1a0-0000-7000-8000-000000000011',
  orgId: '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  passbackUid: 'usér & 1',
} as const;
const QUERY = '?orgId=01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a&passbackUid=us%C3%A9r%20%26%201';

const clientWith = (fetch: Fetch) => openClient({ fetch }, { retry: { attemptsMax: 1 } }).client;

test('activationUrl() builds a link without sending a request', () => {
  const client = clientWith(() => Promise.reject(new Error('nothing is to be sent')));
  const links = (['cashbackOffer', 'retailer', 'coupon', 'promotion'] as const).map((deal) =>
    client.activationUrl({ ...DEAL, deal }),
  );
  expect(links).toEqual(
    ['cashback-offers', 'retailers', 'coupons', 'promotions'].map(
      (list) => `https://api.example/v1/${list}/${DEAL.id}/activate/${QUERY}`,
    ),
  );
  expect(client.activationUrl({ ...DEAL, passbackData: 'a=1' })).toEndWith('&passbackData=a%3D1');
  expect(client.activationUrl({ ...DEAL, to: 'https://shop.example/?a=1&b' })).toEndWith(
    '&to=https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b',
  );
  expect(client.activationUrl({ ...DEAL, id: '../../x' })).toContain(
    '/v1/cashback-offers/..%2F..%2Fx/activate/',
  );
});

test.each([{ id: '' }, { orgId: '' }, { passbackUid: '' }])(
  'activationUrl() throws for %j instead of building a link',
  (bad) => {
    const client = clientWith(() => Promise.reject(new Error('nothing is to be sent')));
    const message = 'id, orgId and passbackUid must not be empty';
    expect(() => client.activationUrl({ ...DEAL, ...bad })).toThrow(new TypeError(message));
  },
);

test('activate() posts without a token and returns the URL to send the user to', async () => {
  const sent: [string, RequestInit][] = [];
  const client = clientWith(async (url, init) => {
    sent.push([url, init]);
    return Response.json({ url: 'https://api.example/go/x/' });
  });
  expect(await client.activate({ ...DEAL, headers: { 'X-App': '1' } })).toEqual({
    url: 'https://api.example/go/x/',
  });
  const [[url, init] = ['', {}]] = sent;
  expect(url).toBe(`https://api.example/v1/cashback-offers/${DEAL.id}/activate/${QUERY}`);
  expect(init.method).toBe('POST');
  expect(Object.fromEntries(new Headers(init.headers))).toEqual({ accept: 'application/json', 'x-app': '1' });
});

describe("an error never contains the user's id", () => {
  const whole = `https://api.example/v1/x/${QUERY}&passbackData=order%201`;
  const broken = `{"nothing at ${whole}`;
  const as = (type: string) => ({ 'Content-Type': type });

  test.each<[string, Fetch, string]>([
    [
      'when the runtime keeps the URL in its error, as Bun does',
      () => Promise.reject(Object.assign(new Error(`no way to ${whole}`), { code: 'Refused', path: whole })),
      'NetworkError: No complete response from URL: Refused. Check the address and the network.',
    ],
    [
      'when the runtime has the reason in a cause, as Node does',
      () =>
        Promise.reject(
          new TypeError(`failed: ${whole}`, { cause: Object.assign(new Error(whole), { code: 'E' }) }),
        ),
      'NetworkError: No complete response from URL: E. Check the address and the network.',
    ],
    [
      'when the runtime does not give a reason',
      () => Promise.reject(new TypeError(`failed: ${whole}`)),
      'NetworkError: No complete response from URL: TypeError. Check the address and the network.',
    ],
    [
      'when fetch throws something that is not an Error',
      () => Promise.reject(whole),
      'NetworkError: No complete response from URL: no reason. Check the address and the network.',
    ],
    [
      'when a response that repeats the URL is cut off',
      async () => new Response(broken, { headers: as('application/json') }),
      'NetworkError: No complete response from URL: SyntaxError. Check the address and the network.',
    ],
    [
      'when a proxy repeats the URL',
      async () => new Response(`Not found: ${whole}`, { status: 404, headers: as('text/html') }),
      'MalformedResponseError: URL did not respond like Offerbook: status 404, text/html. Check the address and any proxy in between.',
    ],
    ...[`https://www.example/v1/?${QUERY}`, `https://www.example/v1/${encodeURIComponent(whole)}`].map(
      (location): [string, Fetch, string] => [
        `when a proxy redirects to ${location}`,
        async () => new Response(whole, { status: 301, headers: { Location: location } }),
        `MalformedResponseError: URL redirects to https://www.example/v1/${location.includes('?') ? '' : 'https'}, and following it would lose the token. Set baseUrl to the service's final URL; check http or https.`,
      ],
    ),
    [
      'when the service refuses',
      async () => problem(404, 'deal_not_found'),
      'ApiError: It did not work. (404 deal_not_found, request req-1; see https://api.example/errors/deal_not_found)',
    ],
  ])('%s', async (_, fetch, text) => {
    const error = await failure(clientWith(fetch).activate({ ...DEAL, passbackData: 'order 1' }));
    expect(String(error).replace(/https:.*?\/activate\//, 'URL')).toBe(text);
    expect(Bun.inspect(error) + inspect(error, { depth: 9 })).not.toMatch(/us%C3%A9r|us\u00e9r|order/);
  });
});

describe('a retried activation', () => {
  const never = () => new Promise<never>(() => {});

  test.each<[string, Partial<ClientOptions>, Partial<CallOptions>, number[]]>([
    ['with default options', {}, {}, [4_000, 250, 4_000, 500, 1_250]],
    [
      'by a patient client',
      { timeoutMs: 40_000, retry: { attemptsMax: 9 } },
      {},
      [4_000, 250, 4_000, 500, 1_250],
    ],
    ['by a patient call', {}, { timeoutMs: 40_000, retry: { budgetMs: 90_000 } }, [10_000]],
    [
      'by a hasty client',
      { timeoutMs: 1_000, retry: { budgetMs: 3_000 } },
      {},
      [1_000, 250, 1_000, 500, 250],
    ],
  ])(
    '%s, retries end within the 10 s in which the service treats them as the same click',
    async (_, settings, options, slept) => {
      const { client, clock } = openClient({ fetch: never }, settings);
      expect(await failure(client.activate({ ...DEAL, ...options }))).toMatchObject({ code: 'timeout' });
      expect(clock.slept).toEqual(slept);
    },
  );
});
