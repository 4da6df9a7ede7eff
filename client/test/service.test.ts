// The client against the real service, as a process with its own database.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  coupon,
  id,
  offer,
  promotion,
  retailer,
  timestamp,
  transaction,
} from '../../service/test/support/fixtures.ts';
import { ApiError, type Fetch, OfferbookClient } from '../src/index.ts';
import { failure } from './support/answers.ts';
import { ServiceProcess } from './support/service-process.ts';

const SHOP = retailer(1, {
  name: 'Grüner Daumen',
  cashbackOffers: [offer(11), offer(12, { category: 'Tools', countries: ['AT'] })],
  coupons: [coupon(21)],
  promotions: [promotion(31)],
});
const SHOPS = [SHOP, ...[2, 3, 4, 5].map((number) => retailer(number, { coupons: [coupon(20 + number)] }))];
const SALES = Array.from({ length: 25 }, (_, index) => transaction(100 + index));

let service: ServiceProcess;
let catalogue: OfferbookClient;
let sales: OfferbookClient;
const statuses: number[] = [];

beforeAll(async () => {
  service = await ServiceProcess.start();
  const [publicToken, privateToken] = [await service.token('public'), await service.token('private')];
  await service.importCatalogue(SHOPS);
  await service.importTransactions(SALES);
  const noting: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    statuses.push(response.status);
    return response;
  };
  catalogue = new OfferbookClient({ baseUrl: service.url, token: publicToken, fetch: noting });
  sales = new OfferbookClient({ baseUrl: service.url, token: privateToken, fetch: noting });
  await untilTakenUp();
});

afterAll(() => service[Symbol.asyncDispose]());

/** Polls until the service has reloaded an import, which takes up to a second. */
async function untilTakenUp(): Promise<void> {
  while ((await catalogue.retailers()).data.length < SHOPS.length) await Bun.sleep(10);
}

describe('the catalogue', () => {
  test('the client lists retailers with their deals', async () => {
    const [first] = await catalogue.retailers().toArray({ max: 1 });
    expect<unknown>(first).toEqual(SHOP);
  });

  test('the client returns every item exactly once for any page size', async () => {
    const seen: string[] = [];
    for await (const { id } of catalogue.retailers({ limit: 2 })) seen.push(id);
    expect<string[]>(seen).toEqual(SHOPS.map(({ id }) => id));
  });

  test('the client gets single items, the retailer of a site, and the domains of all retailers', async () => {
    expect<unknown>(await catalogue.retailers.get(SHOP.id)).toEqual(SHOP);
    expect(await catalogue.coupons.get(id(21))).toMatchObject({ code: 'CODE21', retailerId: SHOP.id });
    expect<unknown>(await catalogue.retailers.forSite('https://de.r1.example/shoes')).toEqual(SHOP);
    expect(await catalogue.retailers.forSite('https://other.example/')).toBeUndefined();
    expect((await catalogue.coupons({ hostname: 'r2.example' })).data.map(({ id }) => id)).toEqual([id(22)]);
    expect((await catalogue.coupons({ retailerId: id(3) })).data.map(({ id }) => id)).toEqual([id(23)]);
    const domains: string[] = [];
    for await (const retailer of catalogue.domains()) domains.push(...retailer.domains);
    expect(domains).toEqual([1, 2, 3, 4, 5].map((number) => `r${number}.example`));
  });

  test('an unchanged catalogue page is revalidated with a 304', async () => {
    const first = await catalogue.coupons({ limit: 3 });
    statuses.length = 0;
    expect((await catalogue.coupons({ limit: 3 })).data).toEqual(first.data);
    expect(statuses).toEqual([304]);
  });
});

describe('transactions', () => {
  test('pages of transactions have a Complete-Through stamp', async () => {
    const { data, cursor, completeThrough } = await sales.transactions({ limit: 10 });
    expect(data.map(({ updatedAt: _, ...rest }) => rest)).toEqual(SALES.slice(0, 10));
    expect<unknown>([cursor, completeThrough]).toEqual([SALES[10]?.id, data[0]?.updatedAt]);
  });

  test('the client gets a single transaction', async () => {
    expect(await sales.transactions.get(id(100))).toMatchObject(SALES[0] ?? {});
    expect(await failure(sales.transactions.get(id(99)))).toMatchObject({
      code: 'transaction_not_found',
      status: 404,
    });
  });

  test("the client lists one user's transactions, with their retailers", async () => {
    await service.importTransactions([{ ...transaction(103), retailerId: SHOP.id }]);
    const [found, ...others] = await sales.transactions
      .ofUser('user-103', { expand: 'retailer' })
      .toArray({ max: 10 });
    const { name, hostname, logo } = SHOP;
    expect<unknown>([found?.id, found?.retailer, others]).toEqual([
      id(103),
      { id: SHOP.id, name, hostname, logo },
      [],
    ]);
  });

  test('a follower yields all transactions first and then the changes', async () => {
    const checkpoints: string[] = [];
    const seen: string[] = [];
    const settings = { limit: 10, once: true, onCheckpoint: (c: string) => void checkpoints.push(c) };
    for await (const { id } of sales.followTransactions(settings)) seen.push(id);
    expect<unknown>(seen).toEqual(SALES.map(({ id }) => id));

    const changed = {
      ...transaction(107),
      status: 'CONFIRMED' as const,
      clickedAt: timestamp('2026-11-14T11:00:00'),
    };
    await service.importTransactions([changed]);
    const checkpoint = checkpoints.at(-1);
    const changes = [];
    for await (const change of sales.followTransactions({ once: true, checkpoint })) changes.push(change);
    expect(changes.map(({ updatedAt: _, ...rest }) => rest)).toEqual([changed]);
  });
});

describe('error responses', () => {
  test('an error response lists every invalid parameter', async () => {
    const error = await failure(catalogue.cashbackOffers({ limit: 0, country: 'Germany' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'invalid_parameter',
      status: 400,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      errors: [
        { parameter: 'limit', detail: expect.any(String) },
        { parameter: 'country', detail: expect.any(String) },
      ],
    });
  });
});
