// The transactions of one user, and transactions with their retailers.

import { expect, test } from 'bun:test';
import { inspect } from 'node:util';
import { failure, html, id, PRIVATE, page, refuseConnection, scripted } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

const UID = 'usér & 1';
const ENCODED = 'us%C3%A9r%20%26%201';

test('ofUser() sends the user with every page', async () => {
  const script = scripted(
    () => page([1, 2], 3, { ETag: '"never cached"' }),
    () => page([3]),
  );
  const { client } = openClient(script, { token: PRIVATE });
  const seen = [];
  for await (const transaction of client.transactions.ofUser(UID, {
    limit: 2,
    updatedAtGreaterThan: '2026-11-14',
  }))
    seen.push(transaction.id);
  expect(seen).toEqual([1, 2, 3].map(id));
  const query = `?limit=2&updatedAtGreaterThan=2026-11-14&passbackUid=${ENCODED}`;
  expect(script.requests.map(({ url }) => url)).toEqual([
    `https://api.example/v1/transactions/${query}`,
    `https://api.example/v1/transactions/${query}&cursor=${id(3)}`,
  ]);
});

test('ofUser() throws if the user is missing, instead of listing the transactions of all users', () => {
  const script = scripted();
  const { client } = openClient(script, { token: PRIVATE });
  for (const missing of ['', undefined, null])
    expect(() => client.transactions.ofUser(missing as string)).toThrow(
      new TypeError('passbackUid must not be empty'),
    );
  expect(script.requests).toEqual([]);
});

test.each([
  ['the connection is refused', refuseConnection],
  ['a proxy answers', () => html(404)],
  ['a proxy repeats the URL', () => new Response(`Not found: ${ENCODED}`, { status: 404 })],
  ['the service is overloaded', () => html(503)],
])('no error contains the user when %s', async (_, answer) => {
  const { client } = openClient(scripted(answer), { token: PRIVATE, retry: { attemptsMax: 1 } });
  const error = await failure(client.transactions.ofUser(UID));
  expect(inspect(error, { depth: 9 })).toContain('https://api.example/v1/transactions/');
  expect(Bun.inspect(error) + inspect(error, { depth: 9 })).not.toMatch(/us%C3%A9r|usér/);
});
