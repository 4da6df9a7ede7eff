// The documentation at /docs and the error pages in a real browser.

import { expect } from 'bun:test';
import { newTokenText } from '../../src/domain/access-token.ts';
import { ERROR_CODES } from '../../src/domain/api-errors.ts';
import { id, offer, retailer } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';
import { axeViolations } from './axe-violations.ts';
import { failedToLoad, RECORD_SHIFTS, testsWithBrowser, type WatchedPage } from './watched-page.ts';

const { afterAll, beforeAll, describe, test, openPage } = testsWithBrowser();

const token = newTokenText('public');
const node = await TestNode.start({ pageToken: token });
await node.keep(token, 'public');
await node.catalogue([retailer(1, { cashbackOffers: [offer(11), offer(12, { countries: ['FR'] })] })]);

afterAll(() => node[Symbol.asyncDispose]());

const open = (path: string, options = {}, url = node.url) => openPage(url + path, options);

describe('/docs/reference', () => {
  /** One page for most of these tests, because it is large. No test needs the state that another one leaves. */
  let watched: WatchedPage;

  beforeAll(async () => {
    watched = await open('/docs/reference', { permissions: ['clipboard-read', 'clipboard-write'] });
  });

  afterAll(() => watched?.[Symbol.asyncDispose]());

  const formFor = (path: string) => watched.page.getByRole('form', { name: `Try ${path}`, exact: true });

  test("sends a request with the sandbox's token, shows the response, and contacts only this server", async () => {
    const form = formFor('/v1/cashback-offers/');
    await form.getByLabel('country').fill('fr');
    await form.getByRole('button', { name: 'Send' }).click();
    const shown = await form.locator('.answer > .sample pre').textContent();
    expect(JSON.parse(shown ?? '')).toEqual({
      data: [expect.objectContaining({ countries: ['FR'], name: 'Retailer 1' })],
    });
    expect(await form.locator('.answer > p').textContent()).toMatch(
      /^200 in \d+ ms · \/v1\/cashback-offers\/\?limit=2&country=fr$/,
    );
    expect(watched.origins).toEqual(new Set([node.url]));
  });

  test('requests the next page and highlights JSON', async () => {
    const form = formFor('/v1/cashback-offers/');
    await form.getByLabel('country').fill('');
    await form.getByLabel('limit').fill('1');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByRole('button', { name: 'Next page' }).click();
    await form.locator('.code-name', { hasText: '"countries"' }).waitFor();
    await form.locator('.code-text', { hasText: '"FR"' }).waitFor();
    expect(await form.getByLabel('cursor').inputValue()).toBe(id(12));
    // This was the last page.
    expect(await form.getByRole('button', { name: 'Next page' }).count()).toBe(0);
  });

  test('activates the first offer if no id is given, and shows its link', async () => {
    const form = formFor('/v1/cashback-offers/{id}/activate/');
    await form.getByLabel('orgId').fill((await node.organisation()).publicId);
    await form.getByRole('button', { name: 'Send' }).click();
    const shown = await form.locator('.answer > .sample pre').textContent();
    expect(JSON.parse(shown ?? '')).toEqual({ url: expect.stringMatching(/\/go\/\w{22}\/$/) });
    expect(await form.getByLabel('id', { exact: true }).inputValue()).toBe(id(11));
  });

  test('keeps the token and the page when Enter is pressed in the token field', async () => {
    const field = watched.page.getByLabel('Public token for this page');
    await field.fill(token);
    await field.press('Enter');
    expect([await field.inputValue(), watched.page.url()]).toEqual([token, `${node.url}/docs/reference`]);
  });

  test("shows samples for every operation in seven languages, with this server's URL and a copy button", async () => {
    const { page } = watched;
    expect(await page.locator('#listRetailers .samples > label').allTextContents()).toEqual([
      ...['curl', 'TypeScript', 'Node fetch', 'Python', 'PHP', 'Go', 'Java'],
    ]);
    await page.locator('#listRetailers').getByText('Python', { exact: true }).click();
    const shown = page.locator('.samples .sample:visible');
    // The samples for look-ups and activation have no Python tab and stay as they are.
    expect(await shown.count()).toBe(12);
    for (const sample of await shown.allTextContents()) expect(sample).toContain(`${node.url}/v1/`);
    await page.locator('#listCoupons').getByRole('button', { name: 'Copy the Python' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
      `url = '${node.url}/v1/coupons/?'`,
    );
  });

  test('every sample of a public operation contains the token of the page', async () => {
    const { page } = watched;
    const samples = await page.locator('.operation:has(form.try) .samples code').allTextContents();
    expect(samples.length).toBeGreaterThan(30);
    for (const sample of samples) expect(sample).toContain(token);
    await page.getByLabel('Public token for this page').fill('ob_pub_other');
    const [first] = await page.locator('#listCoupons .samples code').allTextContents();
    expect(first).toContain('Bearer ob_pub_other');
    await page.getByLabel('Public token for this page').fill(token);
  });

  test('an operation has its samples beside its text, and they stay visible while the text scrolls', async () => {
    const { page } = watched;
    await page.goto(`${node.url}/docs/reference#listCashbackOffers`);
    const left = page.locator('#listCashbackOffers .details');
    const right = page.locator('#listCashbackOffers .example');
    const edges = (part: typeof left) => part.evaluate((node) => node.getBoundingClientRect().toJSON());
    expect((await edges(right)).left).toBeGreaterThan((await edges(left)).right);
    await page.locator('#listCashbackOffers .details > h3').last().scrollIntoViewIfNeeded();
    await page.evaluate('scrollBy(0, 300)');
    expect(await edges(right)).toMatchObject({ top: 16 });
    expect(await page.locator('.contents [aria-current]:not([data-above])').allTextContents()).toEqual([
      'Cashback offers/v1/cashback-offers/',
    ]);
    await page.keyboard.press('/');
    await page.keyboard.type('cursor');
    await page.locator('.found mark').first().waitFor();
    expect((await page.locator('form.find').boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Escape');
  });

  test('looks up an item by the id in the form, and reports a missing id', async () => {
    const form = formFor('/v1/cashback-offers/{id}/');
    await form.getByLabel('id').fill(` ${id(12)} `);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText(`/v1/cashback-offers/${id(12)}/`).waitFor();
    const shown = await form.locator('.answer > .sample pre').textContent();
    expect(JSON.parse(shown ?? '')).toMatchObject({ id: id(12), countries: ['FR'] });
    await form.getByLabel('id').fill('');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('"id must be a UUID."').waitFor();
    expect(watched.takeComplaints()).toEqual([failedToLoad('400 (Bad Request)')]);
  });

  test('documents the response headers', async () => {
    const names = async (operation: string) => {
      const headers = watched.page.locator(`#${operation} details`, { hasText: 'Headers' }).first();
      await headers.locator('summary').click();
      return headers.locator('dt').allTextContents();
    };
    const shared = ['Request-Id', 'RateLimit', 'RateLimit-Policy', 'Link', 'Cache-Control', 'Vary'];
    expect(await names('listCoupons')).toEqual([...shared, 'ETag']);
    expect(await names('listTransactions')).toEqual([...shared, 'Complete-Through']);
    await watched.page.getByText('The page is complete through this time').waitFor();
  });

  test('describes the webhook: its headers, its body with all fields of a transaction, and the responses', async () => {
    await using watched = await open('/docs/reference');
    const { page } = watched;
    await page.getByRole('link', { name: 'Changed transactions' }).click();
    const section = page.locator('#transactionsChanged');
    const names = (list: string) =>
      page.locator(`dl[aria-label="${list}"] > div > dt > code`).allTextContents();
    expect(await names('Headers of transactionsChanged')).toEqual([
      ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    ]);
    expect(await names('Fields of transactions.changed')).toEqual(['type', 'timestamp', 'data']);
    for (const name of ['data', 'transactions']) await section.getByText(`Fields of ${name}`).click();
    expect(await names('Fields of transactions.changed, data')).toEqual([
      ...['transactions', 'after', 'completeThrough'],
    ]);
    const fields = await names('Fields of Transaction');
    expect(await names('Fields of transactions.changed, data, transactions')).toEqual(fields);
    expect(fields).toContain('updatedAt');
    expect(await names('Responses to transactionsChanged')).toEqual(['401', '410', '503', '2XX']);
  });

  test('on a phone, copy buttons do not cover code', async () => {
    const { page } = watched;
    await page.setViewportSize({ width: 390, height: 844 });
    const samples = (await page.evaluate(`[...document.querySelectorAll('.sample')]
      .filter((sample) => sample.checkVisibility())
      .map((sample) => ['pre', '.copy'].map((part) => sample.querySelector(part).getBoundingClientRect()))
      .map(([code, button]) => button.top - code.bottom)`)) as number[];
    expect(samples.length).toBeGreaterThan(20);
    for (const gap of samples) expect(gap).toBeGreaterThanOrEqual(0);
  });

  test('does not offer a form for the operation with a private token, and rejects a private token in its token field', async () => {
    const { page } = watched;
    expect(await page.getByRole('form', { name: /^Try/ }).count()).toBe(10);
    await page.getByLabel('Public token for this page').fill(await node.token('private'));
    await page.getByText('This is a private token, for servers only.').waitFor();
    expect(await page.getByLabel('Public token for this page').inputValue()).toBe('');
    expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
  });

  test('asks for a token outside the sandbox, and reports a missing token', async () => {
    await using serving = await TestNode.start({ databaseUrl: node.databaseUrl });
    await using other = await open('/docs/reference', {}, serving.url);
    const form = other.page.getByRole('form', { name: 'Try /v1/coupons/', exact: true });
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('Enter a public token first.').waitFor();
    await other.page.getByLabel('Public token for this page').fill(token);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('"data": []').waitFor();
    expect(await (await serving.get('/docs/reference')).text()).not.toContain('ob_pub_0');
  });
});

describe('/docs', () => {
  test.each([1280, 390])('no page moves by itself while it loads, at width %p', async (width) => {
    const viewport = { width, height: 844 };
    await using watched = await openPage(`${node.url}/docs`, { viewport }, RECORD_SHIFTS);
    for (const path of ['/docs', '/docs/reference', '/docs/getting-started']) {
      await watched.page.goto(node.url + path);
      await watched.page.locator('form.find:not([hidden])').waitFor();
      expect([path, await watched.page.evaluate('shifts')]).toEqual([path, []]);
    }
  });

  test('/docs links to a first page for each kind of reader, and shows the life cycle of a transaction', async () => {
    await using watched = await open('/docs');
    const { page } = watched;
    expect(await page.locator('.readers h3').allTextContents()).toEqual([
      'You show deals to users',
      'You credit users',
      'You run the service',
    ]);
    expect(await page.locator('.stage strong').allTextContents()).toEqual([
      ...['Click', 'Purchase', 'Report', 'PENDING', 'CONFIRMED', 'DECLINED'],
    ]);
  });
});

describe('the guides', () => {
  test('the guides can be found with a full-text search that contacts only this server', async () => {
    await using watched = await open('/docs');
    const { page } = watched;
    const search = page.getByRole('searchbox', { name: 'Search the documentation' });
    await search.fill('SMALLEST complete-through');
    await page
      .locator('.found')
      .getByRole('link', { name: 'The contract · Polling without missing a change' })
      .click();
    await page.waitForURL(`${node.url}/docs/polling#the-contract`);
    await search.fill('rate_limited');
    await page.locator('.found a[href^="/docs/errors"]').first().waitFor();
    await search.fill('zzz nothing');
    await page.getByText('Nothing found.').waitFor();
    await search.fill('');
    expect(await page.locator('.found').textContent()).toBe('');
    expect(watched.origins).toEqual(new Set([node.url]));
  });

  test('the search is operated with the keyboard and marks the words it found', async () => {
    await using watched = await open('/docs');
    const { page } = watched;
    await page.keyboard.press('/');
    await page.keyboard.type('stamp late (((');
    await page.getByText('Nothing found.').waitFor();
    for (let i = 0; i < 3; i++) await page.keyboard.press('Backspace');
    await page.locator('.found mark').first().waitFor();
    const marks = await page.locator('.found mark').allTextContents();
    expect(new Set(marks.map((mark) => mark.toLowerCase()))).toEqual(new Set(['stamp', 'late']));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    expect(await page.evaluate('document.querySelector(".found a") === document.activeElement')).toBe(true);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.locator('.found').textContent()).toBe('');
    await page.keyboard.type('polling');
    await page.locator('.found a').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/polling/);
  });

  test('the guides highlight the current guide and section in the navigation', async () => {
    await using watched = await open('/docs/polling#four-traps');
    const { page } = watched;
    const current = page.locator('.contents [aria-current]');
    await page.locator('.contents [aria-current="location"]').waitFor();
    expect(await current.allTextContents()).toEqual(['Polling transactions', 'Four traps']);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page
      .locator('.contents [aria-current="location"]', { hasText: 'What happens when something fails' })
      .waitFor();
    await page.evaluate('scrollTo(0, 0)');
    await page.locator('.contents [aria-current="location"]').waitFor({ state: 'detached' });
  });

  test('on a phone, the list of pages is folded, and opens without a script', async () => {
    const viewport = { width: 390, height: 844 };
    await using watched = await open('/docs/polling', { viewport, javaScriptEnabled: false });
    const link = watched.page.getByRole('link', { name: 'Sending webhooks' });
    expect(await link.isVisible()).toBe(false);
    await watched.page.getByText('All pages', { exact: true }).click();
    await link.click();
    await watched.page.waitForURL(`${node.url}/docs/operations/webhooks`);
  });

  test('the guides show a table row as a list with column headings on a phone', async () => {
    await using watched = await open('/docs/errors', { viewport: { width: 390, height: 844 } });
    const table = watched.page.getByRole('group', { name: /^mistake, service response/ });
    expect(await table.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true);
    const label = "getComputedStyle(document.querySelector('td[data-label]'), '::before').content";
    expect(await watched.page.evaluate(label)).toContain('code');
  });
});

test('an unknown path shows a page with links that does not contain any part of the path', async () => {
  await using watched = await open('/v1/nowhere%3Cb%3E/?x=<script>');
  const { page } = watched;
  await page.getByRole('heading', { name: 'No such path', level: 1 }).waitFor();
  expect(watched.takeComplaints()).toEqual([failedToLoad('404 (Not Found)')]);
  expect(await page.content()).not.toContain('nowhere');
  await page.getByRole('main').getByRole('link', { name: 'API reference' }).click();
  await page.getByRole('heading', { name: 'API reference', level: 1 }).waitFor();
});

test('/errors/ links to a page for every error, and each error page links back', async () => {
  await using watched = await open('/errors/');
  const links = await watched.page
    .locator('tbody a')
    .evaluateAll((found) => found.map((link) => link.textContent));
  expect(links).toEqual([...ERROR_CODES]);
  await watched.page.getByRole('link', { name: 'rate_limited' }).click();
  await watched.page.getByRole('heading', { name: 'Too many requests', level: 1 }).waitFor();
  await watched.page.getByRole('link', { name: 'All errors' }).click();
  await watched.page.getByRole('heading', { name: 'Errors', level: 1 }).waitFor();
  expect(watched.origins).toEqual(new Set([node.url]));
});
