// The sandbox's transactions in the explorer, as they change.

import { expect } from 'bun:test';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Delivery } from '../../src/cli/commands/sandbox/toy-receiver.ts';
import { transactionFeed } from '../../src/cli/commands/sandbox/transaction-feed.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { DATABASES } from '../support/databases.ts';
import { id, retailer, transaction } from '../support/fixtures.ts';
import { axeViolations } from './axe-violations.ts';
import { RECORD_SHIFTS, startWithPageToken, testsWithBrowser, type WatchedPage } from './watched-page.ts';

const { afterAll, test, openPage } = testsWithBrowser();

/** The user of the explorer's activation links. */
const VISITOR = 'visitor-of-the-explorer';

/** Webhooks that the toy receiver has stored, newest first. */
const deliveries: Delivery[] = [];

const databaseUrl = (await DATABASES[0]?.create()) ?? '';
/** Opened before the node, because the feed's route is created first. */
const stores = await openStores(databaseUrl, CREATE_OPTIONS);
const org = (await stores.organisations.create('acme')) as Organisation;
const findRetailer = (retailerId: string) => (retailerId === id(7) ? retailer(7) : undefined);
const feed = transactionFeed({
  stores,
  org,
  findRetailer,
  clock: systemClock,
  deliveries: () => deliveries.slice(0, 5),
});
const node = await startWithPageToken({ databaseUrl, feed });

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await stores.close();
});

const statuses = ({ page }: WatchedPage) => page.locator('.feed .tag').allTextContents();

test('the transaction feed is linked from the list, shows each change once, newest first, and is paused while a transaction is open', async () => {
  await using watched = await openPage(node.url);
  const { page } = watched;
  await page.getByRole('link', { name: 'Watch transactions change' }).click();
  await page.getByText('No changes in the last few minutes.').waitFor();
  await node.transactions([transaction(101)]);
  await page.locator('.feed .tag', { hasText: 'Pending' }).waitFor();
  await node.transactions([transaction(101, { status: 'CONFIRMED' })]);
  await page.getByText('was pending').waitFor();
  expect(await statuses(watched)).toEqual(['Confirmed', 'Pending']);
  expect(await page.locator('.feed .amount').first().textContent()).toBe('€3.99');
  await page.locator('.feed summary').first().click();
  expect(JSON.parse((await page.locator('.feed pre').textContent()) ?? '')).toMatchObject({
    passbackUid: 'user-101',
    status: 'CONFIRMED',
  });
  expect(await axeViolations(page)).toEqual([]);

  // The page waits while the reader looks at a transaction.
  await page.getByText(/, paused$/).waitFor();
  const asked = watched.requests.length;
  const sold = { ...transaction(102, { currencyCode: 'AUD' }), retailerId: id(7) };
  await node.transactions([sold]);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.locator('.feed li').nth(2).waitFor();
  expect(await statuses(watched)).toEqual(['Pending', 'Confirmed', 'Pending']);
  expect(await page.locator('.feed .what').allTextContents()).toEqual([
    'Retailer 7',
    'Unknown retailer',
    'Unknown retailer',
  ]);
  expect(await page.locator('.feed .amount').first().textContent()).toBe('A$3.99');
  expect(watched.requests.length).toBeGreaterThan(asked);
  // No private token is in the page or in its requests.
  expect(await page.content()).not.toContain('ob_prv_');
  for (const request of watched.requests)
    expect(JSON.stringify(await request.allHeaders())).not.toContain('ob_prv_');
});

test.each([1280, 390])(
  'nothing in the transaction feed jumps when data arrives, at width %p',
  async (width) => {
    const viewport = { width, height: 844 };
    await using watched = await openPage(`${node.url}/docs`, { viewport }, RECORD_SHIFTS);
    const { page } = watched;
    await page.clock.install();
    await page.goto(`${node.url}/?view=transactions`);
    await page.getByText(/^Complete through/).waitFor();
    for (const number of [1, 2, 3]) {
      const passbackUid = number === 2 ? VISITOR : `user-${width}`;
      await node.transactions([transaction(10 * width + number, { passbackUid })]);
      const receivedAt = printTimestamp(Date.now());
      deliveries.unshift({ number: deliveries.length + 1, receivedAt, transactions: 1, delayMs: 40 });
      const rows = await page.locator('.feed li').count();
      await page.clock.runFor(2_000);
      await page.locator('.feed li').nth(rows).waitFor();
      await page.evaluate('Promise.all(document.getAnimations().map((slide) => slide.finished))');
    }
    await page.locator('.own-sale', { hasText: 'Your purchase at' }).waitFor();
    expect(await page.evaluate('shifts')).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  },
);

test('the transaction feed reports a missing response and retries automatically', async () => {
  await using watched = await openPage(`${node.url}/docs`);
  const { page } = watched;
  await page.route('**/sandbox/transactions*', (route) => route.abort(), { times: 1 });
  await page.goto(`${node.url}/?view=transactions`);
  await page.getByText('No response from the sandbox.').waitFor();
  expect(watched.takeComplaints()).toEqual(['Failed to load resource: net::ERR_FAILED']);
  await page.getByText(/^Complete through/).waitFor();
});

test('the transaction feed sends one request at a time, even if it is paused and resumed during a request', async () => {
  await using watched = await openPage(`${node.url}/docs`);
  const { page } = watched;
  const held = Promise.withResolvers<void>();
  let requests = 0;
  await page.route('**/sandbox/transactions*', async (route) => {
    requests += 1;
    await held.promise;
    await route.continue();
  });
  await page.goto(`${node.url}/?view=transactions`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  expect(requests).toBe(1);
  held.resolve();
  // Updates continue with the response that was held back.
  const next = page.waitForRequest('**/sandbox/transactions*');
  await page.getByText(/^Complete through/).waitFor();
  await next;
});

test('the transaction feed resumes from an earlier response, rejects an invalid position, and serves only this page', async () => {
  const first = await node.get('/sandbox/transactions');
  const { data, completeThrough } = (await first.json()) as { data: unknown[]; completeThrough: string };
  expect(data.length).toBeGreaterThan(0);
  expect(await (await node.get(`/sandbox/transactions?since=${completeThrough}`)).json()).toEqual({
    data: [],
    completeThrough,
    deliveries: deliveries.slice(0, 5),
  });
  const refused = await node.get('/sandbox/transactions?since=yesterday');
  expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
    400,
    'since must be the completeThrough of an earlier response.',
  ]);
  expect(first.headers.get('Access-Control-Allow-Origin')).toBeNull();
  expect(first.headers.get('Cache-Control')).toBe('no-store');
});

test("without a transaction feed, the feed's URL shows the list", async () => {
  await using plain = await startWithPageToken();
  await using watched = await openPage(`${plain.url}/?view=transactions`);
  await watched.page.getByRole('heading', { name: 'The catalogue is empty' }).waitFor();
  expect(await watched.page.getByRole('link', { name: 'Watch transactions change' }).count()).toBe(0);
  expect((await plain.get('/sandbox/transactions')).status).toBe(404);
});
