// What a page of another origin can read, enforced by a real browser.

import { expect } from 'bun:test';
import { offer, retailer, transaction } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';
import { testsWithBrowser, type WatchedPage } from './watched-page.ts';

const { afterAll, test, openPage } = testsWithBrowser();

const node = await TestNode.start();
await node.catalogue([retailer(1, { cashbackOffers: [offer(11)] })]);
await node.transactions([transaction(1)]);
// Another port is another origin.
const shop = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response('<title>Shop</title>', { headers: { 'Content-Type': 'text/html' } }),
});
const openShop = () => openPage(`http://127.0.0.1:${shop.port}/`);

afterAll(async () => {
  await shop.stop(true);
  await node[Symbol.asyncDispose]();
});

/** Fetches from inside the page; returns "blocked" if the browser does not let the page read the response. */
function fetchInPage({ page }: WatchedPage, path: string, token: string) {
  return page.evaluate(
    async ([url, authorization]) => {
      try {
        const response = await fetch(url, { headers: { Authorization: authorization } });
        return {
          status: response.status,
          body: await response.json(),
          readable: ['etag', 'link', 'request-id', 'ratelimit'].filter((name) => response.headers.has(name)),
        };
      } catch {
        return 'blocked';
      }
    },
    [node.url + path, `Bearer ${token}`] as const,
  );
}

test('a page from any origin can read the catalogue and the response headers with a public token', async () => {
  await using shop = await openShop();
  const answer = await fetchInPage(shop, '/v1/cashback-offers/?limit=1', await node.token('public'));
  expect(answer).toEqual({
    status: 200,
    body: { data: [expect.objectContaining({ name: 'Retailer 1' })] },
    readable: ['etag', 'request-id', 'ratelimit'],
  });
});

test('a page from any origin can import the served client module and list items with it', async () => {
  const program = `import { OfferbookClient } from '${node.url}/client/offerbook-client.js';
    const client = new OfferbookClient({ baseUrl: '${node.url}', token: '${await node.token('public')}' });
    document.title = (await client.retailers()).data.map(({ name }) => name).join();`;
  await using shop = await openShop();
  await shop.page.addScriptTag({ type: 'module', content: program });
  await shop.page.waitForFunction("document.title === 'Retailer 1'");
});

test('a web page cannot read transactions with any token', async () => {
  await using shop = await openShop();
  for (const token of Object.values(await node.tokens()))
    expect(await fetchInPage(shop, '/v1/transactions/', token)).toBe('blocked');
  expect(shop.takeComplaints()).not.toBeEmpty();
});
