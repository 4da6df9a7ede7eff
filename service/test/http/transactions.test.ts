// Transactions over HTTP, on every database: windows, Complete-Through, walks, and isolation of organisations.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { id, transaction } from '../support/fixtures.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { TestNode } from '../support/test-node.ts';

interface Answer {
  readonly data: Transaction[];
  readonly cursor?: string;
}

describe.each(DATABASES)('transactions on $name', ({ create }) => {
  let node: TestNode;
  let token: string;
  let nowMs = Date.parse('2026-11-14T12:00:00.000Z');

  beforeAll(async () => {
    node = await TestNode.start({ databaseUrl: await create(), clock: () => nowMs });
    token = await node.token('private');
  });
  afterAll(() => node[Symbol.asyncDispose]());

  async function get(query: string, as = token): Promise<Answer & { completeThrough: string | null }> {
    const response = await node.get(`/v1/transactions/${query}`, as);
    expect(response.status).toBe(200);
    return {
      ...((await response.json()) as Answer),
      completeThrough: response.headers.get('Complete-Through'),
    };
  }
  const numbers = (answer: Answer) => answer.data.map((it) => Number.parseInt(it.id.slice(-4), 16));

  test('a new organisation has no transactions, and its Complete-Through is its creation time', async () => {
    const lonely = await node.token('private', 'lonely');
    expect(await get('', lonely)).toEqual({ data: [], completeThrough: '2026-11-14T12:00:00' });
  });

  test('every field is returned, amounts are exact, and the stamp is the import time', async () => {
    nowMs = Date.parse('2026-11-14T12:00:00.123Z');
    await node.transactions([transaction(1, { orderValue: 19.99, cashback: 0.1 })]);
    const response = await node.get('/v1/transactions/', token);
    expect(await response.text()).toBe(
      `{"data":[{"id":"${id(1)}","country":"DE","clickedAt":null,"soldAt":"2026-11-14T12:00:00","updatedAt":"2026-11-14T12:00:00.123","currencyCode":"EUR","orderValue":19.99,"cashback":0.1,"activatedAt":null,"passbackUid":"user-1","passbackData":null,"status":"PENDING","cashbackOfferId":null,"couponId":null,"promotionId":null}]}`,
    );
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(response.headers.get('Cache-Control')).toBe('private, no-store');
    expect(response.headers.get('Complete-Through')).toBe('2026-11-14T12:00:00.123');
  });

  test('both bounds of a window are exclusive, to the last digit, in several formats', async () => {
    nowMs = Date.parse('2026-11-14T12:00:01Z');
    await node.transactions([transaction(2)]);
    const cases: [string, number[]][] = [
      ['updatedAtGreaterThan=2026-11-14T12:00:00.122', [1, 2]],
      ['updatedAtGreaterThan=2026-11-14T12:00:00.123', [2]],
      ['updatedAtGreaterThan=2026-11-14T12:00:00.1229999', [1, 2]],
      ['updatedAtGreaterThan=2026-11-14T12:00:00.1230001', [2]],
      ['updatedAtLessThan=2026-11-14T12:00:00.123', []],
      ['updatedAtLessThan=2026-11-14T12:00:00.1230001', [1]],
      ['updatedAtLessThan=2026-11-14T12:00:01Z', [1]],
      ['updatedAtLessThan=2026-11-14T14:00:01%2B02:00', [1]],
      ['updatedAtLessThan=2026-11-14T14:00:01+02:00', [1]],
      ['updatedAtLessThan=20261114 140001+0200', [1]],
      ['updatedAtLessThan=2026-W46-6T12:00:01', [1]],
      ['updatedAtGreaterThan=2026-11-14', [1, 2]],
      ['updatedAtGreaterThan=2026-11-14T12:00:00&updatedAtLessThan=2026-11-14T12:00:01', [1]],
      ['updatedAtGreaterThan=2026-11-15&updatedAtLessThan=2026-11-13', []],
      ['updatedAtGreaterThan=9999-12-31', []],
    ];
    for (const [query, want] of cases)
      expect([query, numbers(await get(`?${query}`))]).toEqual([query, want]);
  });

  test('an organisation gets only its own transactions, regardless of the cursor', async () => {
    const other = await node.token('private', 'other');
    await node.transactions([transaction(0x50)], 'other');
    expect(numbers(await get('', other))).toEqual([0x50]);
    expect(numbers(await get(`?cursor=${id(1)}`, other))).toEqual([0x50]);
    expect(numbers(await get(`?cursor=${id(0x50)}`))).toEqual([]);
    expect(numbers(await get(`?cursor=${id(0x49)}`))).toEqual(numbers(await get(`?cursor=${id(0x51)}`)));
  });

  test('an import is completely visible to the next read, which returns a Complete-Through that includes it', async () => {
    nowMs = Date.parse('2026-11-14T13:00:00Z');
    const { completeThrough } = await get('');
    await node.transactions([transaction(3)]);
    const next = await get(`?updatedAtGreaterThan=${completeThrough}`);
    expect({ rows: numbers(next), through: next.completeThrough }).toEqual({
      rows: [3],
      through: '2026-11-14T13:00:00',
    });
  });

  test('a page with a cursor but without a walk shows the current state, and its Complete-Through is the change clock', async () => {
    nowMs = Date.parse('2026-11-14T14:00:00Z');
    await node.transactions([4, 5, 6, 7].map((number) => transaction(number)));
    nowMs = Date.parse('2026-11-14T15:00:00Z');
    await node.transactions([4, 6].map((number) => transaction(number, { status: 'CONFIRMED' })));
    const answer = await get(`?cursor=${id(5)}&updatedAtGreaterThan=2026-11-14T13:30:00`);
    expect([numbers(answer), answer.completeThrough]).toEqual([[5, 6, 7], '2026-11-14T15:00:00']);
  });
});

test.if(DATABASES.some(({ name }) => name === 'PostgreSQL'))(
  'on PostgreSQL, a page whose window starts after the change clock does not check all organisations',
  async () => {
    await using node = await TestNode.start({ databaseUrl: await newPostgresSchema() });
    const token = await node.token('private');
    // The first request with a token checks all organisations.
    expect((await node.get('/v1/transactions/', token)).status).toBe(200);
    const database = openDatabase(node.databaseUrl, COMMAND_OPTIONS);
    // The check reads timeline_clocks; a page does not.
    const { status } = await database.write(async (connection) => {
      await connection.all('LOCK TABLE timeline_clocks IN ACCESS EXCLUSIVE MODE');
      return node.get('/v1/transactions/?updatedAtGreaterThan=9999-12-31', token);
    });
    await database.close();
    expect(status).toBe(200);
  },
);
