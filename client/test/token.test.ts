import { describe, expect, test } from 'bun:test';
import { inspect } from 'node:util';
import { OfferbookClient, TokenError } from '../src/index.ts';
import { BASE_URL, failure, PRIVATE, PUBLIC, page, problem, scripted } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

describe('the token', () => {
  test.each([
    ['transactions', PUBLIC],
    ['followTransactions', PUBLIC],
    ['retailers', PRIVATE],
    ['cashbackOffers', PRIVATE],
    ['coupons', PRIVATE],
    ['promotions', PRIVATE],
  ] as const)('of the wrong kind for %s throws before any request', (operation, token) => {
    const script = scripted();
    const { client } = openClient(script, { token });
    expect(() => client[operation]()).toThrow(TokenError);
    expect(script.requests).toEqual([]);
  });

  test.each(['', 'secret', 'ob_pub_', `${PUBLIC}\n`, `Bearer ${PUBLIC}`])(
    'that cannot be one is refused at once, and not repeated: %j',
    (token) => {
      const construct = () => new OfferbookClient({ baseUrl: BASE_URL, token });
      expect(construct).toThrow(expect.objectContaining({ code: 'invalid_token' }));
      expect(construct).not.toThrow('secret');
    },
  );

  test('does not show when the client or an error is inspected', async () => {
    const { client } = openClient(scripted(() => problem(401, 'invalid_token')));
    const error = await failure(client.retailers());
    expect(inspect(client, { depth: 9, showHidden: true }) + inspect(error, { depth: 9 })).not.toContain(
      PUBLIC,
    );
  });

  test('is sent as a bearer token, and nowhere else', async () => {
    const script = scripted(() => page([]));
    await openClient(script).client.retailers();
    expect(script.requests).toEqual([
      {
        url: `${BASE_URL}/v1/retailers/`,
        headers: { Accept: 'application/json', Authorization: `Bearer ${PUBLIC}` },
      },
    ]);
  });
});

test.each(['', 'api.example', 'ftp://api.example', 'https://api.example/?x=1'])(
  'a baseUrl that cannot be one is refused: %j',
  (baseUrl) => {
    expect(() => new OfferbookClient({ baseUrl, token: PUBLIC })).toThrow(TypeError);
  },
);

test('a baseUrl may have a path and slashes at its end', async () => {
  const script = scripted(() => page([]));
  await openClient(script, { baseUrl: 'https://example.com/offers//' }).client.retailers();
  expect(script.requests[0]?.url).toBe('https://example.com/offers/v1/retailers/');
});
