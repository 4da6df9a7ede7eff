// The examples of the OpenAPI document equal real responses, byte for byte, for the same data and the same errors.

import { afterAll, describe, expect, test } from 'bun:test';
import type { Retailer } from '@offerbook/wire/catalogue.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/domain/api-errors.ts';
import { exampleProblem } from '../../src/http/openapi/examples.ts';
import { openApiDocument } from '../../src/http/openapi/openapi-document.ts';
import { LISTS, OPERATIONS } from '../../src/http/operations/operations.ts';
import { retailer } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

const document = openApiDocument();
const PAGINATED = LISTS.filter(({ parameters }) => parameters.includes('cursor'));

function exampleOf<Body>(path: string): Body {
  return document.paths[path]?.get.responses[200]?.content?.['application/json']?.example as Body;
}

const examplePage = <Item>(path: string) => exampleOf<{ data: [Item]; cursor: Uuid }>(path);
const {
  data: [shop],
  cursor: nextShop,
} = examplePage<Retailer>('/v1/retailers/');
const {
  data: [sale],
  cursor: nextSale,
} = examplePage<Transaction>('/v1/transactions/');

/** A time at which the example coupon and promotion are active. */
const ACTIVE_MS = timestampMs('2026-04-01T00:00:00' as Timestamp);
let nowMs = ACTIVE_MS;
const node = await TestNode.start({ clock: () => nowMs, settings: { publicUrl: 'https://api.example' } });
const tokens = await node.tokens();
const other = (path: string) => examplePage<never>(path).cursor;
const second = retailer(0, {
  id: nextShop,
  cashbackOffers: shop.cashbackOffers.map((offer) => ({ ...offer, id: other('/v1/cashback-offers/') })),
  coupons: shop.coupons.map((coupon) => ({ ...coupon, id: other('/v1/coupons/') })),
  promotions: shop.promotions.map((promotion) => ({ ...promotion, id: other('/v1/promotions/') })),
});
await node.catalogue([shop, second]);
nowMs = timestampMs(sale.updatedAt);
const { updatedAt: _, ...row } = sale;
await node.transactions([row, { ...row, id: nextSale }]);
nowMs = ACTIVE_MS;

afterAll(() => node[Symbol.asyncDispose]());

describe('page examples', () => {
  test.each(PAGINATED)('the example page equals the response to GET $path', async ({ path, tokenKind }) => {
    const answer = await node.get(`${path}?limit=1`, tokens[tokenKind]);
    expect(await answer.text()).toBe(JSON.stringify(exampleOf(path)));
  });

  test('the example of the list of domains equals the first item of GET /v1/domains/', async () => {
    const answer = (await (await node.get('/v1/domains/', tokens.public)).json()) as { data: unknown[] };
    expect({ data: answer.data.slice(0, 1) }).toEqual(exampleOf('/v1/domains/'));
  });

  test.each(OPERATIONS.filter(({ returns }) => returns === 'item'))(
    'the example item equals the response to GET $path',
    async ({ path, tokenKind }) => {
      const example = exampleOf<{ id: string }>(path);
      const answer = await node.get(path.replace('{id}', example.id), tokens[tokenKind]);
      expect(await answer.text()).toBe(JSON.stringify(example));
    },
  );
});

function withoutIds(problem: Record<string, unknown>): unknown {
  const { requestId, instance, ...rest } = problem;
  return { ...rest, hasIds: typeof requestId === 'string' && typeof instance === 'string' };
}

const LIST = { tokenKind: 'public' } as const;
const ITEM = { tokenKind: 'public', returns: 'item' } as const;
const SALES = { tokenKind: 'private' } as const;
const SALE = { tokenKind: 'private', returns: 'item' } as const;
const RETAILERS = '/v1/retailers/';
const UNKNOWN = crypto.randomUUID();
const ACTIVATION = `/v1/coupons/${UNKNOWN}/activate/?passbackUid=x&orgId=${UNKNOWN}`;
const PAGE = { Origin: 'https://shop.example' };
const HOSTS = { Host: 'a.example, b.example' };

/** Errors, each with the operation that returns it and a request that causes it. */
const MISTAKES: readonly [ErrorCode, Partial<(typeof OPERATIONS)[number]>, () => Promise<Response>][] = [
  ['missing_token', LIST, () => node.get(RETAILERS)],
  ['invalid_token', LIST, () => node.get(RETAILERS, `ob_pub_${'0'.repeat(36)}`)],
  ['wrong_token_kind', LIST, () => node.get(RETAILERS, tokens.private)],
  ['wrong_token_kind', SALES, () => node.get('/v1/transactions/', tokens.public)],
  ['private_token_in_browser', SALES, () => node.get('/v1/transactions/', tokens.private, PAGE)],
  ['invalid_parameter', LIST, () => node.get(`${RETAILERS}?limit=0`, tokens.public)],
  ['invalid_parameter', ITEM, () => node.get('/v1/coupons/x/', tokens.public)],
  ['not_found', LIST, () => node.get(`${RETAILERS}x/y/`, tokens.public)],
  ['deal_not_found', LIST, () => node.get(`${RETAILERS}${UNKNOWN}/`, tokens.public)],
  ['deal_not_found', {}, () => node.request('POST', ACTIVATION)],
  ['transaction_not_found', SALE, () => node.get(`/v1/transactions/${UNKNOWN}/`, tokens.private)],
  ['method_not_allowed', LIST, () => node.request('DELETE', RETAILERS, tokens.public)],
  ['several_hosts', LIST, () => node.get(RETAILERS, tokens.public, HOSTS)],
  ['uri_too_long', LIST, () => node.get(`${RETAILERS}?name=${'x'.repeat(16 * 1024)}`, tokens.public)],
];

describe('error examples', () => {
  test.each(MISTAKES)(
    "the example of the error %s for the context %j equals the service's response",
    async (code, context, make) => {
      const answered = (await (await make()).json()) as Record<string, unknown>;
      const example = exampleProblem(code, { path: '', ...context });
      expect(withoutIds(answered)).toEqual(withoutIds(example));
      expect(Object.keys(answered)).toEqual(Object.keys(example));
    },
  );

  test("the example of rate_limited equals the service's response, except for the number of seconds", async () => {
    await using limited = await TestNode.start({
      settings: { publicUrl: 'https://api.example', rateLimitPublic: 1 },
    });
    const token = await limited.token('public');
    await limited.get('/v1/retailers/', token);
    const answer = (await (await limited.get('/v1/retailers/', token)).json()) as Record<string, unknown>;
    const example = exampleProblem('rate_limited', { path: '/v1/retailers/', tokenKind: 'public' });
    expect(withoutIds({ ...answer, detail: String(answer.detail).replace(/\d+/, '30') })).toEqual(
      withoutIds(example),
    );
  });

  test('the example of unavailable equals the error of a catalogue that is still loading', () => {
    const { detail } = exampleProblem('unavailable', { path: '/v1/retailers/', tokenKind: 'public' });
    expect(() => new Catalogue(Date.now).current.list('retailers')).toThrow(detail);
  });

  test('this file compares every error example except those whose text is declared only once', () => {
    const compared = ['rate_limited', 'unavailable', ...MISTAKES.map(([code]) => code)];
    expect(ERROR_CODES.filter((code) => !compared.includes(code))).toEqual(['deal_gone', 'internal']);
  });
});
