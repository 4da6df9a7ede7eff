// Query parameters that an operation does not know.

import { afterAll, describe, expect, test } from 'bun:test';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { ActivationNode } from '../support/activation-node.ts';
import { id, offer, retailer, transaction } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

const node = await TestNode.start();
const tokens = await node.tokens();
await node.catalogue([retailer(1, { cashbackOffers: [offer(11)] })]);
await node.transactions([transaction(1), transaction(2)]);
afterAll(() => node[Symbol.asyncDispose]());

const TRANSACTIONS = 'cursor, limit, updatedAtGreaterThan, updatedAtLessThan, passbackUid, expand';
const HEADER = 'must not be in the query string; send the token as "Authorization: Bearer <token>"';

async function problemOf(path: string, token?: string) {
  const response = await node.get(path, token);
  const { detail, errors } = (await response.json()) as { detail?: string; errors?: unknown };
  return { status: response.status, detail, errors };
}

describe.each(OPERATIONS.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  const path = operation.path.replace('{id}', id(1));

  test('rejects every unknown parameter with its name and the names of the known parameters', async () => {
    const names = operation.parameters.join(', ');
    const known =
      names === '' ? 'This operation has no parameters.' : `This operation's parameters are ${names}.`;
    // Names of other APIs, of response fields, of cache busters without an underscore and of object members.
    for (const name of [
      ...['userId', 'customerId', 'status', 'page', 'startDate', 'utm_source', 'v', '1700000000'],
      ...['toString', 'constructor', 'passback_uid', 'PassbackUID', 'limit[]', 'updatedAfter'],
    ]) {
      expect(await problemOf(`${path}?${name}=x`, tokens[operation.tokenKind])).toEqual({
        status: 400,
        detail: `${name} is not a parameter. ${known}`,
        errors: [{ parameter: name, detail: 'is not a parameter' }],
      });
    }
  });

  test('ignores parameters that begin with an underscore', async () => {
    const token = tokens[operation.tokenKind];
    const plain = await node.get(path, token);
    const busted = await node.get(`${path}?_=1&__x=2&_userId=alice`, token);
    const { requestId: _, ...body } = (await busted.json()) as Record<string, unknown>;
    const { requestId: __, ...same } = (await plain.json()) as Record<string, unknown>;
    expect([busted.status, body]).toEqual([plain.status, same]);
  });
});

test('one response lists the invalid and the unknown parameters', async () => {
  expect(await problemOf('/v1/transactions/?limit=0&nam=a&nam=b&limits=2', tokens.private)).toEqual({
    status: 400,
    detail: `limit must be a whole number from 1 to 1000; nam is not a parameter; limits is not a parameter. This operation's parameters are ${TRANSACTIONS}.`,
    errors: [
      { parameter: 'limit', detail: 'must be a whole number from 1 to 1000' },
      { parameter: 'nam', detail: 'is not a parameter' },
      { parameter: 'limits', detail: 'is not a parameter' },
    ],
  });
});

test('hostile names are shortened and escaped, and at most ten are listed', async () => {
  const long = 'x'.repeat(5_000);
  const many = Array.from({ length: 500 }, (_, n) => `n${n}=1`).join('&');
  const hostile = encodeURIComponent('a\r\nb\u202Ec\u0000');
  const { status, errors } = await problemOf(`/v1/coupons/?${long}=1&${hostile}=1&${many}`, tokens.public);
  expect([status, errors]).toEqual([
    400,
    [`${'x'.repeat(40)}…`, 'a??b?c?', ...Array.from({ length: 8 }, (_, n) => `n${n}`)].map((parameter) => ({
      parameter,
      detail: 'is not a parameter',
    })),
  ]);
});

test.each(['token', 'access_token', 'apiKey', 'key', 'x', 'Authorization'])(
  'a token in the query string, named %s, gets a hint that does not repeat it',
  async (name) => {
    const path = `/v1/transactions/?${name}=${tokens.private}`;
    expect(await problemOf(path)).toEqual({
      status: 401,
      detail:
        'Send the header "Authorization: Bearer <token>". Tokens in the query string are not accepted, and may have been logged on the way: ask for a new one.',
      errors: undefined,
    });
    expect(await problemOf(path, tokens.private)).toMatchObject({
      status: 400,
      errors: [{ parameter: name, detail: HEADER }],
    });
  },
);

test('a token in place of a name is not repeated', async () => {
  expect(await problemOf(`/v1/transactions/?${tokens.private}`, tokens.private)).toMatchObject({
    status: 400,
    errors: [{ parameter: 'ob_prv_…', detail: HEADER }],
  });
});

test('links that people follow ignore unknown parameters, but POST rejects them', async () => {
  await using app = await ActivationNode.start();
  const path = `/v1/coupons/${id(21)}/activate/`;
  for (const more of [{ utm_source: 'mail' }, { fbclid: '1' }, { passbackuid: 'x' }, { To: 'x' }]) {
    const [name = ''] = Object.keys(more);
    expect([name, (await app.get(path + app.query(more))).status]).toEqual([name, 302]);
    const posted = await app.send('POST', path + app.query(more));
    expect([posted.status, await posted.json()]).toMatchObject([400, { errors: [{ parameter: name }] }]);
  }
  const posted = await app.send('POST', path + app.query({ _: '1' }));
  const { url } = (await posted.json()) as { url: string };
  expect((await app.get(`${new URL(url).pathname}?utm_source=mail&tos=1`)).status).toBe(302);
});
