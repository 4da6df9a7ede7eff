// The client in a real browser without the features that the oldest supported browsers lack, in a page from another origin than
// the service.

import { expect } from 'bun:test';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../service/test/support/browser.ts';
import { coupon, id, offer, retailer } from '../../service/test/support/fixtures.ts';
import { TestNode } from '../../service/test/support/test-node.ts';
import { testsWith } from '../../service/test/support/tests-with.ts';
import type * as library from '../src/index.ts';
import { MAKE_OLDER } from './support/older-browser.ts';
import { type PageServer, servePage } from './support/page-server.ts';

const { afterAll, beforeAll, describe, test } = testsWith('chromium');

let node: TestNode;
let site: PageServer;
let browser: Browser;
let page: Page;
let publicToken: string;
let privateToken: string;

beforeAll(async () => {
  [node, site, browser] = await Promise.all([
    TestNode.start(),
    servePage(join(import.meta.dir, '../src/index.ts')),
    launchBrowser(),
  ]);
  publicToken = await node.token('public');
  privateToken = await node.token('private');
  const shops = [1, 2, 3].map((number) =>
    retailer(number, { cashbackOffers: [offer(10 + number)], coupons: [coupon(20 + number)] }),
  );
  await node.catalogue(shops);
  page = await browser.newPage();
  await page.addInitScript(MAKE_OLDER);
  await page.goto(`${site.url}/empty`);
});

afterAll(async () => {
  await browser.close();
  await site[Symbol.asyncDispose]();
  await node[Symbol.asyncDispose]();
});

/** Runs a function in the page, with the library and the client's settings as arguments. */
function inPage<Result>(
  work: (client: typeof library, options: { baseUrl: string; token: string }) => Promise<Result>,
  token = publicToken,
): Promise<Result> {
  const code = `import('/index.js').then((client) => (${work})(client, ${JSON.stringify({ baseUrl: node.url, token })}))`;
  return page.evaluate(code) as Promise<Result>;
}

describe('the client in the oldest supported browsers', () => {
  test('revalidates an unchanged page with a 304', async () => {
    const pages = await inPage(async ({ OfferbookClient }, options) => {
      const client = new OfferbookClient(options);
      const [first, second] = [await client.coupons(), await client.coupons()];
      return [first.data, second.data, second.requestId !== undefined] as const;
    });
    expect(pages[0]).toHaveLength(3);
    expect(pages).toEqual([pages[0], pages[0], true]);
    const statuses = node.logLines
      .map((line) => JSON.parse(line) as { route?: string; method?: string; status?: number })
      .filter(({ route, method }) => route === '/v1/coupons/' && method === 'GET');
    expect(statuses.map(({ status }) => status)).toEqual([200, 304]);
  });

  test('rejects a private token in a page and in a worker before sending a request', async () => {
    const requests: string[] = [];
    page.on('request', (request) => void requests.push(request.url()));
    const attempt = `import('${site.url}/index.js')
      .then(({ OfferbookClient }) => new OfferbookClient({ baseUrl: '${node.url}', token: '${privateToken}' }))
      .then(() => 'was accepted', (error) => error.code ?? String(error))`;
    const inWorker = `new Promise((resolve) => {
      const source = ${JSON.stringify(`${attempt}.then(postMessage)`)};
      const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
      new Worker(url, { type: 'module' }).onmessage = ({ data }) => resolve(data);
    })`;
    for (const code of [attempt, inWorker])
      expect(await page.evaluate(code)).toBe('private_token_in_browser');
    expect(requests.filter((url) => url.startsWith(node.url))).toEqual([]);
  });

  test('throws a NetworkError if nothing listens at the address', async () => {
    const { name, message } = await inPage(async ({ OfferbookClient }, { token }) => {
      const client = new OfferbookClient({ baseUrl: 'http://127.0.0.1:9', token, retry: { attemptsMax: 1 } });
      return client.retailers().then(
        () => ({ name: 'no error', message: '' }),
        (error: unknown) => ({ name: (error as Error).name, message: (error as Error).message }),
      );
    });
    expect(name).toBe('NetworkError');
    expect(message).toEndWith(
      'Check the address and the network, and that CORS allows this page to call it.',
    );
  });

  test('sends filters and page sizes, throws API errors, and can abort a call', async () => {
    const found = await inPage(async ({ OfferbookClient }, options) => {
      const client = new OfferbookClient(options);
      const stop = new AbortController();
      stop.abort();
      return {
        filtered: (await client.cashbackOffers({ name: 'retailer 2' })).data.map((offer) => offer.id),
        nowhere: (await client.cashbackOffers({ country: 'ZZ' })).data,
        walked: (await client.coupons({ limit: 1 }).toArray({ max: 10 })).map((coupon) => coupon.id),
        failed: await client.cashbackOffers({ country: 'Germany' }).catch((error: unknown) => {
          const { name, code, errors } = error as library.ApiError;
          return [name, code, errors.length];
        }),
        aborted: await client
          .retailers({ signal: stop.signal })
          .catch((error: unknown) => (error as library.AbortedError).code),
      };
    });
    expect(found).toEqual({
      filtered: [id(12)],
      nowhere: [],
      walked: [21, 22, 23].map(id),
      failed: ['ApiError', 'invalid_parameter', 1],
      aborted: 'aborted',
    });
  });
});
