// The client against the real service, as a process with its own database.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  coupon,
  id,
  offer,
  promotion,
  retailer,
  timestamp,
  transaction,
} from '../../service/test/support/fixtures.ts';
import { OfferbookClient } from '../src/index.ts';
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

beforeAll(async () => {
  service = await ServiceProcess.start();
  const [publicToken, privateToken] = [await service.token('public'), await service.token('private')];
  await service.importCatalogue(SHOPS);
  await service.importTransactions(SALES);
  catalogue = new OfferbookClient({ baseUrl: service.url, token: publicToken });
  sales = new OfferbookClient({ baseUrl: service.url, token: privateToken });
  // The service reloads an import within a second.
  while ((await catalogue.retailers()).data.length < SHOPS.length) await Bun.sleep(10);
});

afterAll(() => service[Symbol.asyncDispose]());

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

test("the client gets a single transaction and lists one user's transactions, with their retailers", async () => {
  expect(await sales.transactions.get(id(100))).toMatchObject(SALES[0] ?? {});
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
