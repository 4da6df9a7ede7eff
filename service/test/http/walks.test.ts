// Walks over several nodes: every page has the snapshot of the first page, whichever node serves it and whatever is imported
// meanwhile.

import { describe, expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { POSTGRES_DIALECT } from '../../src/storage/postgres/postgres-dialect.ts';
import { DATABASES } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

async function page(node: TestNode, token: string, cursor?: string, filters = '') {
  const response = await node.get(
    `/v1/transactions/?limit=2${filters}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
    token,
  );
  expect(response.status).toBe(200);
  const { data, cursor: next } = (await response.json()) as { data: Transaction[]; cursor?: string };
  return {
    rows: data.map(({ id, status }) => `${Number.parseInt(id.slice(-2), 16)} ${status}`),
    cursor: next,
    completeThrough: response.headers.get('Complete-Through') ?? '',
  };
}

const LAST_OF_FIRST_STATE = {
  rows: ['3 PENDING', '4 PENDING'],
  cursor: undefined,
  completeThrough: '2026-11-14T12:00:00.001',
};

describe.each(DATABASES.map((it) => [it.name, it] as const))('two nodes on one %s', (_, database) => {
  async function start() {
    let nowMs = Date.parse('2026-11-14T12:00:00Z');
    const clock = () => nowMs;
    const first = await TestNode.start({ databaseUrl: await database.create(), clock });
    const second = await TestNode.start({ databaseUrl: first.databaseUrl, clock });
    const token = await first.token('private');
    await first.transactions([1, 2, 3, 4].map((number) => transaction(number)));
    return {
      first,
      second,
      token,
      /** A minute later, confirms these transactions, or adds them if they are new. */
      change: (...numbers: number[]) => {
        nowMs += 60_000;
        return first.transactions(numbers.map((number) => transaction(number, { status: 'CONFIRMED' })));
      },
      [Symbol.asyncDispose]: async () =>
        void (await Promise.all([first, second].map((node) => node[Symbol.asyncDispose]()))),
    };
  }

  test('later pages of a walk contain the old versions of changed rows and no added rows, on any node', async () => {
    await using nodes = await start();
    const { first, second, token, change } = nodes;
    const begun = await page(first, token);
    await change(1, 3, 5);
    expect(await page(second, token, begun.cursor)).toEqual(LAST_OF_FIRST_STATE);
    expect(
      (await page(second, token, undefined, '&updatedAtGreaterThan=2026-11-14T12:00:00.001')).rows,
    ).toEqual(['1 CONFIRMED', '3 CONFIRMED']);
  });

  test('a walk can begin while an import is in progress', async () => {
    await using nodes = await start();
    const { first, token, change } = nodes;
    await page(first, token);
    await change(1);
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
    // On SQLite, a running import blocks all other writes to its file.
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { id } = await first.organisation('other');
    const importing = first.stores.transactions.write(id, async () => {
      begin();
      await finished;
    });
    await begun;
    const answer = await page(first, token);
    finish();
    await importing;
    const { rows } = await page(first, token, answer.cursor);
    expect({ first: answer.rows, rows }).toEqual({
      first: ['1 CONFIRMED', '2 PENDING'],
      rows: ['3 PENDING', '4 PENDING'],
    });
    expect(answer.completeThrough).toBe('2026-11-14T12:01:00');
  });

  test('the first page of a walk is not sent if the walk cannot be stored in time', async () => {
    await using nodes = await start();
    const { first, token } = nodes;
    await page(first, token);
    const url = first.databaseUrl;
    const walks = openDatabase(url.startsWith('sqlite:') ? `${url}-walks` : url, COMMAND_OPTIONS);
    const response = await walks.write(async (connection) => {
      // On SQLite, a writer locks the whole file.
      if (walks.sql === POSTGRES_DIALECT) await connection.all('LOCK TABLE walks IN EXCLUSIVE MODE');
      return first.get('/v1/transactions/?limit=2', token);
    });
    await walks.close();
    expect(response.status).toBe(503);
    expect(response.headers.get('Retry-After')).not.toBeNull();
    expect((await page(first, token)).rows).toEqual(['1 PENDING', '2 PENDING']);
  });

  // Which walk a page continues does not depend on the database.
  if (database !== DATABASES[0]) return;

  test('a walk continued with a different token shows the current state and returns a newer Complete-Through', async () => {
    await using nodes = await start();
    const { first, token, change } = nodes;
    const begun = await page(first, token);
    await change(3);
    expect(await page(first, await first.token('private'), begun.cursor)).toEqual({
      rows: ['3 CONFIRMED', '4 PENDING'],
      cursor: undefined,
      completeThrough: '2026-11-14T12:01:00',
    });
  });
});

test('if walks cannot be stored, later pages show the current state and return a newer Complete-Through', async () => {
  await using node = await TestNode.start();
  const token = await node.token('private');
  await node.transactions([1, 2, 3].map((number) => transaction(number)));
  mkdirSync(`${node.databaseUrl.slice('sqlite:'.length)}-walks`);
  const begun = await page(node, token);
  expect(begun.rows).toEqual(['1 PENDING', '2 PENDING']);
  await node.transactions([transaction(3, { status: 'CONFIRMED' })]);
  const later = await page(node, token, begun.cursor);
  expect(later.rows).toEqual(['3 CONFIRMED']);
  expect(later.completeThrough > begun.completeThrough).toBe(true);
});
