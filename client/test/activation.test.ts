// Links that activate deals, and activations that are posted.

import { expect, test } from 'bun:test';
import { OfferbookClient } from '../src/index.ts';
import type { Fetch } from '../src/request.ts';

const TOKEN = `ob_pub_${'0'.repeat(36)}`;
const DEAL = {
  deal: 'cashbackOffer',
  id: '0192d1a0-0000-7000-8000-000000000011',
  orgId: '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  passbackUid: 'usér & 1',
} as const;
const QUERY = '?orgId=01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a&passbackUid=us%C3%A9r%20%26%201';

function clientWith(fetch: Fetch) {
  return new OfferbookClient({
    baseUrl: 'https://api.example/',
    token: () => TOKEN,
    fetch,
    retry: { attemptsMax: 1 },
  });
}

test('a link is made without a request', () => {
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
  expect(client.activationUrl({ ...DEAL, id: '../../x' })).toContain(
    '/v1/cashback-offers/..%2F..%2Fx/activate/',
  );
});

test.each([{ id: '' }, { orgId: '' }, { passbackUid: '' }])(
  '%j is refused before anybody follows it',
  (bad) => {
    const client = clientWith(() => Promise.reject(new Error('nothing is to be sent')));
    const message = 'id, orgId and passbackUid must not be empty';
    expect(() => client.activationUrl({ ...DEAL, ...bad })).toThrow(new TypeError(message));
  },
);

test('an activation is posted without a token, and tells where to send the user', async () => {
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

const problem = { code: 'deal_not_found', status: 404, title: 'x', detail: 'x' };
const headers = { 'Content-Type': 'application/problem+json' };

test.each<[string, Fetch]>([
  ['a network that is down', () => Promise.reject(new Error('refused'))],
  ['a proxy that knows nothing', async () => new Response('Not found', { status: 404 })],
  ['a problem', async () => Response.json(problem, { status: 404, headers })],
])('the error of %s tells nothing of the user', async (_, fetch) => {
  const error = await clientWith(fetch)
    .activate(DEAL)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(Bun.inspect(error)).not.toMatch(/us%C3%A9r|us\u00e9r/);
});
