// Every page in three widths, empty, full and with problems: it fits the window, violates no Content-Security-Policy and passes
// axe-core, with the contrast of its colours in both colour schemes. Dialogs and search results are pages here.

import { expect } from 'bun:test';
import { GUIDE_PATHS } from '@offerbook/site/docs/guides/guides.ts';
import type { Page } from 'playwright-core';
import { newTokenText } from '../../src/domain/access-token.ts';
import { ConsoleNode } from '../console/open-console.ts';
import { coupon, id, offer, promotion, retailer, transaction } from '../support/fixtures.ts';
import { axeViolations } from './axe-violations.ts';
import { RECORD_SHIFTS, testsWithBrowser } from './watched-page.ts';

const { afterAll, describe, test, openPage } = testsWithBrowser();

/** The contrast of colours takes long to check and does not depend on the width. */
const VIEWS = [
  { width: 390, colorScheme: 'light', rules: 'all' },
  { width: 768, colorScheme: 'light', rules: 'all but contrast' },
  { width: 1280, colorScheme: 'dark', rules: 'all' },
] as const;
const CONSOLE_PATHS = [
  ...['/', '/catalogue', '/imports', '/pulls', '/organisations', '/webhooks', '/transactions', '/totals'],
  ...['/totals?currency=EUR&by=day', '/clicks', '/errors', '/transactions?org=nobody', '/nothing-here'],
];

const pageToken = newTokenText('public');
const full = await ConsoleNode.start({ pageToken, settings: { explorer: 'on', currency: 'EUR' } });
const empty = await ConsoleNode.start({ settings: { explorer: 'on' } });
await full.node.keep(pageToken, 'public');
await addData();
await addProblems();

afterAll(async () => {
  await full[Symbol.asyncDispose]();
  await empty[Symbol.asyncDispose]();
});

async function addData(): Promise<void> {
  await full.importCatalogue([
    retailer(1, {
      name: 'Café Mélange',
      cashbackOffers: [offer(11, { featured: true }), offer(12, { cashbackPercentage: 0.145 })],
      coupons: [coupon(21)],
      promotions: [promotion(31)],
    }),
    ...[2, 3, 4].map((number) => retailer(number, { cashbackOffers: [offer(100 + number)] })),
  ]);
  await full.importTransactions([
    transaction(101, { cashbackOfferId: id(11) }),
    transaction(102, { status: 'CONFIRMED', currencyCode: 'JPY', cashback: 250, orderValue: 12_345 }),
  ]);
}

/** Adds a rejected import, an expiring token, a failing pull and a paused webhook, with long names. */
async function addProblems(): Promise<void> {
  const { node } = full;
  await full
    .importTransactions([{ ...transaction(103), status: 'LOST' as never }], 'failing')
    .catch(() => undefined);
  const org = await node.organisation('United Bonus Programmes of the Northern Savings Banks');
  const url = 'https://hooks.receiver-of-transactions.partner-bank.example:8443/';
  await node.stores.webhooks.pause((await node.stores.webhooks.create(org.id, url, 0)).id);
  const stream = { source: 'partnerize:1100l123456789', orgId: org.id, stream: 'transactions' };
  await node.stores.pulls.noteFailure(stream, 'the network answered with status 401; check the credentials');
  const token = await node.token('public', 'acme', Date.now() + 86_400_000);
  await node.get('/v1/coupons/?limit=none', token);
}

/** Checks the current page in every view. */
async function expectGood(page: Page, what: string): Promise<void> {
  for (const { width, colorScheme, rules } of VIEWS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const shown = await page.evaluate('document.documentElement.scrollWidth');
    expect([what, width, shown, await axeViolations(page, rules)]).toEqual([what, width, width, []]);
  }
}

async function withPage(use: (page: Page) => Promise<void>): Promise<void> {
  await using watched = await openPage('about:blank', { reducedMotion: 'reduce' }, RECORD_SHIFTS);
  await use(watched.page);
  // The browser itself reports every response with such a status.
  expect(watched.takeComplaints().filter((complaint) => !/status of 40[04]/.test(complaint))).toEqual([]);
}

describe.each([
  ['full', () => full],
  ['empty', () => empty],
] as const)('%s', (_, console_) => {
  test.each(CONSOLE_PATHS)('the console page %s fits every width and is accessible', (path) =>
    withPage(async (page) => {
      await page.goto(console_().url + path);
      await expectGood(page, path);
    }),
  );

  test('the list of retailers, search results and an empty result fit every width and are accessible', () =>
    withPage(async (page) => {
      for (const query of ['', '?q=cafe', '?q=nothing+like+it', '?deals=coupons&sort=ending']) {
        await page.goto(`${console_().node.url}/${query}`);
        await page.locator('[aria-busy="false"], form.token').first().waitFor();
        await expectGood(page, query);
      }
    }));
});

test('no console page moves while it loads, and no table of one scrolls sideways on a phone or a wide screen', () =>
  withPage(async (page) => {
    const wideTables = () =>
      page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth).length",
      );
    const paths = [...CONSOLE_PATHS, '/imports/2', `/transactions/${id(101)}`];
    // Load all pages in one size before the next size, because a page moves if it loads while the window is resized.
    await page.setViewportSize({ width: 1400, height: 1000 });
    for (const path of paths) {
      await page.goto(full.url + path);
      expect([path, await page.evaluate('shifts'), await wideTables()]).toEqual([path, [], 0]);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of paths) {
      await page.goto(full.url + path);
      expect([path, await wideTables()]).toEqual([path, 0]);
    }
  }));

test('the pages of an import, a transaction and a search for a user fit every width and are accessible', () =>
  withPage(async (page) => {
    for (const path of ['/imports/1', '/imports/3', `/transactions/${id(101)}`]) {
      await page.goto(full.url + path);
      await expectGood(page, path);
    }
    await page.goto(`${full.url}/transactions`);
    await page.getByRole('searchbox').fill('user-101');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Transactions of this user' }).waitFor();
    await expectGood(page, 'search for a user');
  }));

test("a retailer's page and its dialog fit every width and are accessible", () =>
  withPage(async (page) => {
    await page.goto(`${full.node.url}/?retailer=${id(1)}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expectGood(page, 'retailer');
    await page
      .getByRole('button', { name: /^What the API returns/ })
      .first()
      .click();
    await page.getByRole('dialog').locator('.answer > .sample pre').waitFor();
    await expectGood(page, 'dialog');
    await page.goto(`${full.node.url}/?retailer=${id(99)}`);
    await page.getByRole('heading', { name: 'No deals here' }).waitFor();
    await expectGood(page, 'unknown retailer');
  }));

test('the reference with a response, all details and search results fits every width and is accessible', () =>
  withPage(async (page) => {
    await page.goto(`${full.node.url}/docs/reference`);
    const form = page.getByRole('form', { name: 'Try /v1/coupons/', exact: true });
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('.answer > .sample pre').waitFor();
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    await page.getByRole('searchbox').fill('cursor');
    await page.locator('.found mark').first().waitFor();
    await expectGood(page, 'reference');
  }));

test.each(['/docs', ...GUIDE_PATHS, '/errors/', '/errors/private_token_in_browser', '/nowhere'])(
  'the page %s fits every width and is accessible',
  (path) =>
    withPage(async (page) => {
      await page.goto(full.node.url + path);
      await expectGood(page, path);
    }),
);

test('the page for a person whose link fails explains it without technical terms, fits every width and is accessible', () =>
  withPage(async (page) => {
    await page.setExtraHTTPHeaders({ 'Request-Id': 'r-1' });
    await page.goto(`${full.node.url}/v1/coupons/activate/?passbackUid=secret-user`);
    expect((await page.innerText('body')).split(/\n+/)).toEqual([
      'This link is incomplete',
      'Part of the link is missing or was changed, perhaps when it was copied. Go back to where you found it, and open it again.',
      'Your cashback is not active. You would not earn any if you bought something at the shop now.',
      'If the problem remains, contact the website or app that showed you the link, and quote this number: r-1',
    ]);
    expect(await page.locator('a').count()).toBe(0);
    await expectGood(page, 'failed link');
  }));
