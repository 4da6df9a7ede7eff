// The pages without the features that the oldest supported browsers lack, removed from a current browser.

import { expect } from 'bun:test';
import { MAKE_OLDER } from '../../../client/test/support/older-browser.ts';
import { coupon, id, offer, retailer } from '../support/fixtures.ts';
import { startWithPageToken, testsWithBrowser } from './watched-page.ts';

const { afterAll, test, openPage } = testsWithBrowser();

const node = await startWithPageToken();
await node.catalogue([
  retailer(1, {
    name: 'Aster',
    cashbackOffers: [offer(11), offer(12, { countries: ['AT'], cashbackPercentage: 0.1 })],
    coupons: [coupon(21)],
  }),
  retailer(2, { name: 'Birch', cashbackOffers: [offer(13)] }),
]);

afterAll(() => node[Symbol.asyncDispose]());

const open = (path: string) => openPage(node.url + path, {}, MAKE_OLDER);

test('the explorer filters, keeps the filter in its URL and shows a retailer', async () => {
  await using watched = await open('/');
  const { page } = watched;
  await page.getByLabel('Country').selectOption('AT');
  await watched.says('1 retailer in Austria');
  expect(new URL(page.url()).search).toBe('?country=AT');
  await page.getByRole('link', { name: 'Aster', exact: true }).click();
  await page.getByRole('heading', { name: 'Aster', level: 1 }).waitFor();
  expect(await page.locator('.amount').allTextContents()).toEqual(['10%']);
  await page.getByRole('link', { name: 'Show the offers for all countries (2)' }).click();
  await page.locator('.amount', { hasText: /^5%$/ }).waitFor();
});

test('the API reference sends the parameters in its form', async () => {
  await using watched = await open('/docs/reference');
  const form = watched.page.locator('form.try[data-path="/v1/cashback-offers/"]');
  await form.locator('input[name=country]').fill('AT');
  await form.getByRole('button', { name: 'Send' }).click();
  await form.locator('.answer').getByText(id(12)).waitFor();
  expect(await form.locator('.answer').textContent()).toContain('/v1/cashback-offers/?limit=2&country=AT');
  expect(await form.locator('.answer').textContent()).not.toContain(id(11));
});
