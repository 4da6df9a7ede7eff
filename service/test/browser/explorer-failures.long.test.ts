// The explorer's behaviour on failures: a missing or invalid token, error responses, and no network.

import { expect } from 'bun:test';
import { newTokenText } from '../../src/domain/access-token.ts';
import { id, offer, retailer } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';
import { axeViolations } from './axe-violations.ts';
import { failedToLoad, startWithPageToken, testsWithBrowser, type WatchedPage } from './watched-page.ts';

const { afterAll, describe, test, openPage } = testsWithBrowser();

/** More retailers than the first page contains. */
const CATALOGUE = Array.from({ length: 150 }, (_, i) => retailer(i, { cashbackOffers: [offer(1_000 + i)] }));

const node = await TestNode.start();
await node.catalogue(CATALOGUE);

afterAll(() => node[Symbol.asyncDispose]());

const open = (path = '/', url = node.url) => openPage(url + path);
const apiRequests = ({ requests }: WatchedPage) =>
  requests.filter((request) => request.url().includes('/v1/'));

async function giveToken({ page }: WatchedPage, token: string): Promise<void> {
  await page.getByLabel('Public token').fill(token);
  await page.getByRole('button', { name: 'Show the catalogue' }).click();
}

/** Starts another node on the same database, with a token in its pages. */
function nodeWithToken(settings: { rateLimitPublic?: number } = {}): Promise<TestNode> {
  return startWithPageToken({ settings, databaseUrl: node.databaseUrl });
}

describe('the explorer without a token in the page', () => {
  test('asks for a token, keeps it only in this tab, and shows the view in the URL', async () => {
    await using watched = await open('/?q=Retailer+77');
    expect(apiRequests(watched)).toEqual([]);
    expect(await axeViolations(watched.page)).toEqual([]);
    await giveToken(watched, ` ${await node.token('public')} `);
    await watched.says('1 retailer for “Retailer 77”');
    await watched.page.reload();
    await watched.says('1 retailer for “Retailer 77”');
    const otherTab = await watched.page.context().newPage();
    await otherTab.goto(node.url);
    await otherTab.getByLabel('Public token').waitFor();
  });

  test('rejects a private token before sending a request and does not store it', async () => {
    await using watched = await open();
    await giveToken(watched, await node.token('private'));
    await watched.page.getByText('This is a private token, for servers only.').waitFor();
    expect(await watched.page.getByLabel('Public token').inputValue()).toBe('');
    expect(await watched.page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
    expect(apiRequests(watched)).toEqual([]);
    expect(new URL(watched.page.url()).search).toBe('');
  });

  test('reports a 401 and asks for another token', async () => {
    await using watched = await open();
    await giveToken(watched, newTokenText('public'));
    await watched.page.getByText('The service did not accept this token.').waitFor();
    expect(await watched.page.evaluate('sessionStorage.length')).toBe(0);
    expect(watched.takeComplaints()).toEqual([failedToLoad('401 (Unauthorized)')]);
    await giveToken(watched, await node.token('public'));
    await watched.says('150 retailers');
  });
});

test("on 401 for the server's own token, the page reports that it is out of date and offers a reload", async () => {
  await using restarted = await TestNode.start({ pageToken: newTokenText('public') });
  await using watched = await open('/', restarted.url);
  await watched.page.getByRole('heading', { name: 'This page is out of date' }).waitFor();
  await watched.page.getByRole('link', { name: 'Reload the page' }).waitFor();
  expect(watched.takeComplaints()).toEqual([failedToLoad('401 (Unauthorized)')]);
});

test('on 429 for a later page, the list shows the failure above the loaded retailers, no counts, and a countdown to the retry', async () => {
  await using limited = await nodeWithToken({ rateLimitPublic: 1 });
  await using watched = await open('/', limited.url);
  await watched.page.getByRole('heading', { name: 'Too many requests' }).waitFor();
  await watched.page.getByText(/^Trying again in ([1-5]\d|60) s$/).waitFor();
  await watched.says('Not all retailers could be loaded.');
  expect((await watched.names()).length).toBe(60);
  expect(watched.takeComplaints()).toEqual([failedToLoad('429 (Too Many Requests)')]);
  const [note, firstCard] = await Promise.all(
    ['.failure', '.card'].map((selector) => watched.page.locator(selector).first().boundingBox()),
  );
  expect((note?.y ?? 0) + (note?.height ?? 0)).toBeLessThan(firstCard?.y ?? 0);
  // Counts of an incomplete list would be wrong, so neither the options nor the end of the list show any.
  expect((await watched.page.locator('select').allTextContents()).join()).not.toContain('(');
  expect(await watched.page.getByText(/ of \d+ shown/).count()).toBe(0);
  expect(await watched.page.getByRole('link', { name: 'rate_limited' }).getAttribute('href')).toBe(
    '/errors/rate_limited',
  );
  expect(await axeViolations(watched.page)).toEqual([]);
});

test('on 503, the page waits for the time in Retry-After and then retries automatically', async () => {
  await using serving = await nodeWithToken();
  await using watched = await open('/docs', serving.url);
  const { page } = watched;
  let isAvailable = false;
  await page.route('**/v1/**', (route) =>
    isAvailable
      ? route.continue()
      : route.fulfill({
          status: 503,
          headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '1' },
          body: JSON.stringify({
            code: 'unavailable',
            status: 503,
            requestId: 'r-1',
            detail: '',
            title: '',
            type: '',
            instance: '',
          }),
        }),
  );
  await page.goto(serving.url);
  await page.getByRole('heading', { name: 'The service is temporarily unavailable' }).waitFor();
  await page.getByText('request r-1').waitFor();
  await page.getByText(/^Trying again in [01] s$/).waitFor();
  isAvailable = true;
  await watched.says('150 retailers');
  expect(watched.takeComplaints()).toContain(failedToLoad('503 (Service Unavailable)'));
});

test('a response that is not from Offerbook is reported as such, and the request can be retried', async () => {
  await using serving = await nodeWithToken();
  await using watched = await open('/docs', serving.url);
  const { page } = watched;
  let proxies = 1;
  await page.route('**/v1/**', (route) =>
    proxies-- > 0
      ? route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Welcome to our hotel</h1>' })
      : route.continue(),
  );
  await page.goto(serving.url);
  await page.getByRole('heading', { name: 'Unexpected response' }).waitFor();
  await page.getByRole('button', { name: 'Try now' }).click();
  await watched.says('150 retailers');
});

test('an offline page reports that it is offline and continues when the browser is online again', async () => {
  await using serving = await nodeWithToken();
  await using watched = await open(`/?retailer=${id(7)}`, serving.url);
  const { page } = watched;
  await page.getByRole('heading', { name: 'Retailer 7', level: 1 }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'All retailers' }).click();
  await page.getByRole('heading', { name: 'You are offline' }).waitFor();
  await page.context().setOffline(false);
  await watched.says('150 retailers');
  expect(watched.takeComplaints()).toContain('Failed to load resource: net::ERR_INTERNET_DISCONNECTED');
});
