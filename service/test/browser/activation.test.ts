// A visitor's whole journey in the sandbox: activate a deal, open the shop, buy, and see the transaction.

import { expect } from 'bun:test';
import { join } from 'node:path';
import { getCountry, roundMoney } from '@offerbook/sandbox/countries.ts';
import type { Retailer } from '@offerbook/sandbox/wire.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { temporaryFolder } from '../support/databases.ts';
import { id } from '../support/fixtures.ts';
import { Sandbox } from '../support/sandbox.ts';
import { axeViolations } from './axe-violations.ts';
import { RECORD_SHIFTS, testsWithBrowser, type WatchedPage } from './watched-page.ts';

const { afterAll, beforeAll, describe, test, openPage } = testsWithBrowser();

/** Compressed size of everything but logos that the explorer has loaded when it shows the first retailers. */
async function firstViewBytes({ requests }: WatchedPage): Promise<number> {
  const first = requests.filter((request) => !/cursor=|\/logos?\//.test(request.url()));
  const sizes = await Promise.all(first.map(async (request) => (await request.sizes()).responseBodySize));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('a purchase after an activation in the explorer appears as pending and is then confirmed, and nothing on the pages moves by itself', async () => {
  const folder = temporaryFolder();
  await using sandbox = await Sandbox.start(folder, '--speed', '20');
  await using watched = await openPage(sandbox.url, {}, RECORD_SHIFTS);
  const { page } = watched;
  await page.locator('.card:not(.skeleton)').first().waitFor();
  expect(await firstViewBytes(watched)).toBeLessThan(60_000);
  expect(await page.evaluate('shifts')).toEqual([]);
  await page.getByLabel('Country').selectOption('DE');
  const name = (await page.locator('.card h2').first().textContent()) ?? '';
  await page.getByLabel('Search').fill(name);
  await page.getByRole('link', { name, exact: true }).click();
  const activate = page.locator('.offers a.activate').first();
  const offerId = /cashback-offers\/([0-9a-f-]{36})\//.exec((await activate.getAttribute('href')) ?? '')?.[1];
  await activate.click();

  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(/^\/sandbox\/shop\/[0-9a-f-]{36}\/[0-9A-Za-z]{22}$/);
  expect(page.url()).not.toContain('visitor');
  expect(await axeViolations(page)).toEqual([]);
  const article = page.locator('.article').nth(1);
  const price = (await article.locator('.price').textContent()) ?? '';
  await article.getByRole('link', { name: /^Add to basket/ }).click();
  await page.locator('.basket', { hasText: price }).waitFor();
  await page.getByRole('button', { name: 'Place the order' }).click();
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor();
  expect(await page.locator('.timeline li').count()).toBe(4);
  expect(await axeViolations(page)).toEqual([]);

  const sales = async () =>
    (
      await sandbox.get<{ data: Transaction[] }>(
        '/v1/transactions/?passbackUid=visitor-of-the-explorer',
        'prv',
      )
    ).data;
  const [bought] = await sales();
  expect(bought).toMatchObject({
    cashbackOfferId: offerId ?? '',
    orderValue: Number(price.replaceAll(/[^\d.]/g, '')),
  });
  await page.getByRole('link', { name: 'See it arrive' }).click();
  await page.getByRole('heading', { name: 'Transactions as they change' }).waitFor();
  await page.locator('.feed .own .what', { hasText: name }).first().waitFor();
  expect(await page.evaluate('shifts')).toEqual([]);
  await page
    .locator('.deliveries li', { hasText: /^\d\d:\d\d:\d\d\d+ transactions?after (\d+ ms|[\d.]+ s)$/ })
    .first()
    .waitFor();
  await page.locator('.own-sale', { hasText: `Your purchase at ${name} is Confirmed` }).waitFor();
  while ((await sales())[0]?.status !== 'CONFIRMED') await page.waitForTimeout(50);
  expect(await sales()).toHaveLength(1);
  const stores = await openStores(`sqlite:${join(folder, 'offerbook-sandbox.db')}`);
  const versions = await stores.history.versions(bought?.id ?? id(0));
  await stores.close();
  expect(versions.map(({ status }) => status)).toEqual(['CONFIRMED', 'PENDING']);
  expect(watched.origins).toEqual(new Set([sandbox.url]));
});

describe('with a sandbox at the normal speed', () => {
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await Sandbox.start(temporaryFolder());
  });

  afterAll(() => sandbox?.[Symbol.asyncDispose]());

  test('a page is painted when its whole header has arrived, so that nothing in the header moves', async () => {
    const { promise: isPainted, resolve: sendRest } = Promise.withResolvers<void>();
    using slow = Bun.serve({
      port: 0,
      async fetch({ url, headers }) {
        const { pathname, search } = new URL(url);
        headers.set('Accept-Encoding', 'identity');
        const response = await fetch(new URL(pathname + search, sandbox.url), { headers });
        if (pathname !== '/') return response;
        const text = await response.text();
        const half = text.indexOf('</a>', text.indexOf('<nav'));
        async function* parts() {
          yield text.slice(0, half);
          await isPainted;
          yield text.slice(half);
        }
        return new Response(parts(), { headers: { 'Content-Type': 'text/html' } });
      },
    });
    await using watched = await openPage('about:blank', {}, RECORD_SHIFTS);
    const { page } = watched;
    await page.goto(slow.url.href, { waitUntil: 'commit' });
    await page.locator('header a').nth(1).waitFor({ state: 'attached' });
    // Without the rest of the header, there is no frame to wait for.
    await page.evaluate('new Promise((end) => { requestAnimationFrame(end); setTimeout(end, 500); })');
    sendRest();
    await page.locator('.card:not(.skeleton)').first().waitFor();
    expect(await page.evaluate('shifts')).toEqual([]);
  });

  test("the toy shop creates a sale with the activated offer's cashback and country, and only one sale if the order page is reloaded", async () => {
    const startPage = await (await fetch(sandbox.url)).text();
    const [, orgId = ''] = /name="offerbook-org" content="([0-9a-f-]{36})"/.exec(startPage) ?? [];
    const { data: retailers } = await sandbox.get<{ data: Retailer[] }>('/v1/retailers/?limit=200', 'pub');
    const found = retailers.find(({ cashbackOffers: [, ...others] }) =>
      [true, false].every((isFixed) =>
        others.some((offer) => (offer.maximumFixedCommissionFee !== null) === isFixed),
      ),
    );
    const offers = found?.cashbackOffers ?? [];
    const since = new Date(Date.now() - 1_000).toISOString().slice(0, 19);
    for (const { id: offerId } of offers) {
      const link = `/v1/cashback-offers/${offerId}/activate/?orgId=${orgId}&passbackUid=buyer`;
      const activated = await fetch(sandbox.url + link, {
        redirect: 'manual',
      });
      const bought = await fetch(activated.headers.get('Location') ?? '', {
        method: 'POST',
        redirect: 'manual',
      });
      expect(bought.status).toBe(303);
      const order = new URL(bought.headers.get('Location') ?? '', sandbox.url);
      for (const look of ['first', 'second'])
        expect([look, (await fetch(order)).status]).toEqual([look, 200]);
    }
    const { data } = await sandbox.get<{ data: Transaction[] }>(
      `/v1/transactions/?limit=1000&updatedAtGreaterThan=${since}`,
      'prv',
    );
    const sales = data.filter(({ passbackUid }) => passbackUid === 'buyer');
    expect(sales.map(({ cashbackOfferId }) => cashbackOfferId).toSorted()).toEqual(
      offers.map((offer) => offer.id as Transaction['cashbackOfferId']).toSorted(),
    );
    for (const sale of sales) {
      const offer = offers.find((one) => one.id === sale.cashbackOfferId);
      const country = getCountry(offer?.countries[0] ?? '');
      const fixed = offer?.maximumFixedCommissionFee;
      const earned =
        fixed == null ? sale.orderValue * (offer?.cashbackPercentage ?? 0) : fixed * country.unitsPerEuro;
      expect(sale).toMatchObject({
        country: country.code,
        currencyCode: country.currencyCode,
        cashback: roundMoney(earned, country.decimals),
      });
      const clickedMs = sale.clickedAt === null ? Number.NaN : timestampMs(sale.clickedAt);
      expect(timestampMs(sale.soldAt)).toBeGreaterThanOrEqual(clickedMs);
    }
  });

  test('the toy shop rejects forged clicks and unknown orders, and exists only in the sandbox', async () => {
    const { data } = await sandbox.get<{ data: { id: string }[] }>('/v1/retailers/?limit=1', 'pub');
    const shop = `${sandbox.url}/sandbox/shop/${data[0]?.id}/0000000000000000000000`;
    expect((await fetch(shop, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${sandbox.url}/sandbox/shop/nonsense/x`)).status).toBe(404);
    for (const order of [id(1), 'nonsense'])
      expect((await fetch(`${sandbox.url}/sandbox/shop/${data[0]?.id}/orders/${order}`)).status).toBe(404);
    const page = await fetch(shop);
    expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    expect(page.headers.get('Content-Security-Policy')).toContain("form-action 'self'");
  });
});
