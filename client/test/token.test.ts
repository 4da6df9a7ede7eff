import { describe, expect, test } from 'bun:test';
import { inspect } from 'node:util';
import { OfferbookClient, TokenError } from '../src/index.ts';
import { BASE_URL, failure, PRIVATE, PUBLIC, page, problem, scripted } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

describe('tokens', () => {
  test.each([
    ['transactions', PUBLIC],
    ['followTransactions', PUBLIC],
    ['retailers', PRIVATE],
    ['cashbackOffers', PRIVATE],
    ['coupons', PRIVATE],
    ['promotions', PRIVATE],
  ] as const)('a token of the wrong kind for %s throws before any request', (operation, token) => {
    const script = scripted();
    const { client } = openClient(script, { token });
    expect(() => client[operation]()).toThrow(TokenError);
    expect(script.requests).toEqual([]);
  });

  test.each(['secret', 'ob_pub_', `${PUBLIC}\n`, `Bearer ${PUBLIC}`])(
    'a malformed token is rejected immediately, and the error does not repeat it: %j',
    (token) => {
      const construct = () => new OfferbookClient({ baseUrl: BASE_URL, token });
      expect(construct).toThrow(expect.objectContaining({ code: 'invalid_token' }));
      expect(construct).not.toThrow('secret');
    },
  );

  test.each(['', undefined, null])('the token %j throws missing_token', (token) => {
    expect(() => new OfferbookClient({ baseUrl: BASE_URL, token: token as string })).toThrow(
      expect.objectContaining({
        code: 'missing_token',
        message: expect.stringContaining('No token was given'),
      }),
    );
  });

  test('the token is not visible when the client or an error is inspected', async () => {
    const { client } = openClient(scripted(() => problem(401, 'invalid_token')));
    const error = await failure(client.retailers());
    expect(inspect(client, { depth: 9, showHidden: true }) + inspect(error, { depth: 9 })).not.toContain(
      PUBLIC,
    );
  });

  test('the token is sent only as a bearer token', async () => {
    const script = scripted(() => page([]));
    await openClient(script).client.retailers();
    expect(script.requests).toEqual([
      {
        url: `${BASE_URL}/v1/retailers/`,
        headers: { accept: 'application/json', authorization: `Bearer ${PUBLIC}` },
      },
    ]);
  });
});

describe('token functions', () => {
  const other = `ob_pub_${'b'.repeat(36)}`;

  test('a token function is called before each attempt, so a new token takes effect immediately', async () => {
    const tokens = [PUBLIC, other, other];
    const script = scripted(
      () => problem(503, 'unavailable'),
      () => page([1], 2),
      () => page([2]),
    );
    const { client } = openClient(script, { token: async () => tokens.shift() ?? '' });
    expect(await client.retailers().toArray({ max: 9 })).toHaveLength(2);
    expect(script.requests.map(({ headers }) => headers.authorization)).toEqual(
      [PUBLIC, other, other].map((token) => `Bearer ${token}`),
    );
  });

  test('a token function is not called until a token is needed', () => {
    const { client } = openClient(scripted(), {
      token: () => {
        throw new Error('asked');
      },
    });
    client.retailers();
    client.transactions();
  });

  test.each([
    ['nothing', '', 'missing_token'],
    ['what is no token', 'secret', 'invalid_token'],
    ['a token of the wrong kind', PRIVATE, 'wrong_token_kind'],
  ])('a token function that returns %s ends the call before anything is sent', async (_, token, code) => {
    const script = scripted();
    const error = await failure(openClient(script, { token: () => token }).client.retailers());
    expect(error).toBeInstanceOf(TokenError);
    expect(error).toMatchObject({ code, attempts: 0 });
    expect(script.requests).toEqual([]);
  });

  test('a token function that throws ends the call with its own error', async () => {
    const sealed = new Error('the vault is sealed');
    const { client } = openClient(scripted(), { token: () => Promise.reject(sealed) });
    expect(await failure(client.retailers())).toBe(sealed);
  });
});

test.each(['https://api.example/v1', 'https://api.example/offers/v1/'])(
  'a baseUrl that ends with /v1 is rejected: %j',
  (baseUrl) => {
    expect(() => new OfferbookClient({ baseUrl, token: PUBLIC })).toThrow(
      'baseUrl must not end with /v1: the client adds it',
    );
  },
);

test('a private token in an app is rejected, because every user could read it', () => {
  const { navigator } = globalThis;
  const become = (value: unknown) =>
    Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
  become({ product: 'ReactNative' });
  try {
    expect(() => new OfferbookClient({ baseUrl: BASE_URL, token: PRIVATE })).toThrow(
      expect.objectContaining({ code: 'private_token_in_browser' }),
    );
  } finally {
    become(navigator);
  }
});

test.each<string[]>([
  ['is not absolute', '', 'api.example'],
  ['has another scheme', 'ftp://api.example', 'api://user:SECRET@api.example', `SECRET${PRIVATE}`],
  ['has a query', 'https://api.example/?x=1'],
  ['has white space', 'http:// x y', 'https://api.example\n', 'https://api.example/a b'],
  ['has no valid host', 'https:///offers', 'https://api.example:99999', 'http://user:SECRET@ x'],
  ['has a user', 'https://user:SECRET@api.example', 'https://SECRET@api.example/offers'],
])('a baseUrl that %s is rejected, and the error does not repeat it', (_what, ...baseUrls) => {
  const message =
    'baseUrl must be a URL such as https://api.example, without user name, password, query or fragment';
  for (const baseUrl of baseUrls)
    expect(() => new OfferbookClient({ baseUrl, token: PUBLIC })).toThrow(new TypeError(message));
});

test('a baseUrl may have a path and trailing slashes', async () => {
  const script = scripted(() => page([]));
  await openClient(script, { baseUrl: 'https://example.com/offers//' }).client.retailers();
  expect(script.requests[0]?.url).toBe('https://example.com/offers/v1/retailers/');
});

test.each(['http://[::1]:8080', 'HTTPS://bücher.example', 'https://api.example/@me'])(
  'a baseUrl may be %j',
  (baseUrl) => {
    expect(() => new OfferbookClient({ baseUrl, token: PUBLIC })).not.toThrow();
  },
);
