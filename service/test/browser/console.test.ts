// The console in a real browser: plots, refresh, and use without scripts.

import { expect } from 'bun:test';
import type { BrowserContextOptions } from 'playwright-core';
import { ConsoleNode } from '../console/open-console.ts';
import { coupon, id, offer, retailer, transaction } from '../support/fixtures.ts';
import { failedToLoad, testsWithBrowser } from './watched-page.ts';

const { afterAll, test, openPage } = testsWithBrowser();

const console_ = await ConsoleNode.start();
const { node } = console_;
await console_.importCatalogue([retailer(1, { cashbackOffers: [offer(11)], coupons: [coupon(21)] })]);
await console_.importTransactions([
  transaction(101, { cashbackOfferId: id(11) }),
  transaction(102, { status: 'CONFIRMED' }),
]);
// The token expires soon, so the overview shows a warning and a command.
const token = await node.token('public', 'acme', Date.now() + 86_400_000);
await node.get('/v1/coupons/', token);
await node.get('/v1/coupons/?limit=none', token);

afterAll(() => console_[Symbol.asyncDispose]());

const open = (path: string, options: BrowserContextOptions = {}) => openPage(console_.url + path, options);

test('an unknown console path shows the navigation and returns 404', async () => {
  await using watched = await open('/');
  const answer = await watched.page.goto(`${console_.url}/nothing-here`);
  expect([answer?.status(), answer?.headers()['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await watched.page.locator('h1').textContent()).toBe('No such page');
  expect(await watched.page.getByRole('button').count()).toBe(0);
  await watched.page.getByRole('link', { name: 'Imports' }).click();
  expect(await watched.page.locator('h1').textContent()).toBe('Imports');
  expect(watched.takeComplaints()).toEqual([failedToLoad('404 (Not Found)')]);
});

test('plots are drawn from the tables below them, which can be collapsed and expanded', async () => {
  await using watched = await open('/totals?currency=EUR');
  const { page } = watched;
  const figure = page.locator('figure.plot');
  const { width, height } = (await figure.locator('canvas').boundingBox()) ?? { width: 0, height: 0 };
  expect(width).toBeGreaterThan(800);
  expect(height).toBeGreaterThan(100);
  // The canvas is not blank.
  const inked = await page.evaluate(`(() => {
    const canvas = document.querySelector('figure.plot canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value !== 0);
  })()`);
  expect(inked).toBe(true);
  expect(await figure.locator('.legend li').allTextContents()).toEqual(['Pending', 'Confirmed', 'Declined']);
  expect(await figure.locator('table').isVisible()).toBe(false);
  await page.keyboard.press('Tab');
  await figure.locator('summary').focus();
  await page.keyboard.press('Enter');
  expect(await figure.locator('tbody tr').allInnerTexts()).toEqual([
    expect.stringMatching(/^2026-11\s+3.99 EUR\s+3.99 EUR\s+0.00 EUR$/),
  ]);
});

test('without scripts, tables are expanded, and the search finds a user and a transaction', async () => {
  await using watched = await open('/transactions', { javaScriptEnabled: false });
  const { page } = watched;
  // The page opens on the latest transactions.
  expect(await page.getByRole('link', { name: id(101) }).count()).toBe(1);
  await page.getByRole('searchbox').fill('user-102');
  await page.getByRole('button', { name: 'Search' }).click();
  expect(page.url()).toBe(`${console_.url}/transactions`);
  expect(await page.getByRole('link', { name: id(101) }).count()).toBe(0);
  await page.getByRole('link', { name: id(102) }).click();
  expect(await page.title()).toBe(`Transaction ${id(102)} · Offerbook console`);
  expect(await page.getByText('user-102').count()).toBe(1);
  await page.getByRole('link', { name: 'Transactions' }).first().click();
  await page.getByRole('searchbox').fill(id(101));
  await page.getByRole('button', { name: 'Search' }).click();
  expect(page.url()).toBe(`${console_.url}/transactions/${id(101)}`);
  await page.goto(`${console_.url}/totals?currency=EUR`);
  expect(await page.getByRole('region', { name: 'Cashback in EUR by month of the sale' }).isVisible()).toBe(
    true,
  );
});

test('a page refreshes automatically without losing focus, scroll position or input, unless it is paused', async () => {
  await using watched = await open('/imports', { viewport: { width: 1280, height: 300 } });
  const { page } = watched;
  await page.clock.install();
  await page.goto(`${console_.url}/imports`);
  const rows = page.getByRole('region', { name: 'Imports, newest first' }).locator('tbody tr');
  const before = await rows.count();
  const newest = (await rows.first().locator('th a').getAttribute('href')) ?? '';
  await console_.importTransactions([transaction(103)]);
  await page.getByRole('button', { name: 'Pause refreshing' }).click();
  await page.clock.runFor(30_000);
  expect(await rows.count()).toBe(before);
  await page.getByRole('button', { name: 'Resume refreshing' }).click();
  await page.getByLabel('Kind').selectOption('transactions');
  await page.getByText('Commands', { exact: true }).click();
  await rows.first().locator('th a').focus();
  const scrolled = await page.evaluate('scrollY');
  await page.clock.runFor(10_000);
  await rows.nth(before).waitFor();
  // The focus stays on the same import, although another one is now above it.
  expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(newest);
  expect(await rows.nth(1).locator('th a').getAttribute('href')).toBe(newest);
  expect(scrolled).toBeGreaterThan(0);
  expect(Math.abs(Number(await page.evaluate('scrollY')) - Number(scrolled))).toBeLessThan(60);
  expect(await page.getByLabel('Kind').inputValue()).toBe('transactions');
  // The plots are drawn again, and collapsed tables stay collapsed.
  expect(await page.locator('figure.plot canvas').count()).toBe(1);
  expect(await page.locator('figure.plot details[open]').count()).toBe(0);
  expect(await page.getByText('Preview an import').isVisible()).toBe(true);
});

test('the overview links to the reason of a failed import', async () => {
  await console_
    .importTransactions([{ ...transaction(104), status: 'LOST' as never }], 'failing')
    .catch(() => undefined);
  await using watched = await open('/');
  const { page } = watched;
  await page.getByRole('link', { name: 'import of transactions' }).click();
  await page.getByRole('region', { name: 'Imports' }).locator('tbody a').first().click();
  const problem = page.getByRole('region', { name: 'Problems' }).locator('tbody tr');
  expect(await problem.innerText()).toContain('must be one of PENDING, CONFIRMED, DECLINED');
  // On a phone, the table has no headings, so a line number has its own label.
  await page.setViewportSize({ width: 390, height: 844 });
  const label =
    "getComputedStyle(document.querySelector('[aria-label=Problems] th[data-label]'), '::before').content";
  expect(await page.evaluate(label)).toContain('Line');
});

test('a shortened id is whole in its tooltip and when it is copied', async () => {
  await using watched = await open('/transactions');
  const shown = watched.page.locator('.id').first();
  expect((await shown.boundingBox())?.width).toBeLessThan(90);
  const whole = String(await shown.getAttribute('title'));
  expect(whole).toMatch(/^[0-9a-f-]{36}$/);
  const select = "getSelection().selectAllChildren(document.querySelector('.id')), String(getSelection())";
  expect(await watched.page.evaluate(select)).toBe(whole);
});

test('a command can be copied with the keyboard', async () => {
  await using watched = await open('/', { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = watched;
  await page.getByRole('button', { name: /^Copy: offerbook tokens rotate/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
    /^offerbook tokens rotate [0-9a-f-]{36}$/,
  );
});
