// The explorer at `/` in a real browser.

import { expect } from 'bun:test';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { coupon, id, offer, promotion, retailer } from '../support/fixtures.ts';
import { axeViolations } from './axe-violations.ts';
import { failedToLoad, startWithPageToken, testsWithBrowser, type WatchedPage } from './watched-page.ts';

const { afterAll, describe, test, openPage } = testsWithBrowser();

/** Ordinary retailers besides the five that tests look at; enough for three batches of cards. */
const OTHER_NAMES = Array.from({ length: 150 }, (_, i) => `Shop ${String(i).padStart(4, '0')}`);

const inHours = (hours: number) => printTimestamp(Date.now() + hours * 3_600_000);
const onlyCoupons = { name: 'Zeta Vouchers', coupons: [coupon(2041, { endDate: inHours(0.5) })] };

const node = await startWithPageToken({ settings: { currency: 'EUR' } });
await node.catalogue([
  retailer(1, {
    name: 'Café Mélange',
    cashbackOffers: [
      offer(2001, { category: 'Food', countries: ['AT'], cashbackPercentage: 0.03 }),
      offer(2002, { category: 'Food', countries: ['DE', 'AT'], cashbackPercentage: 0.145 }),
    ],
    coupons: [coupon(2011, { code: 'MELANGE-10', description: '10 % off beans', endDate: inHours(24 * 90) })],
    promotions: [promotion(2021, { description: 'Free mugs', deepLink: 'https://melange.example/mugs?x=1' })],
  }),
  retailer(2, { name: 'Aster Garden', cashbackOffers: [offer(2003, { countries: ['DE'] })] }),
  retailer(3, {
    name: 'Zebra Books',
    cashbackOffers: [offer(2004, { featured: true, category: 'Books', countries: ['FR'] })],
  }),
  retailer(4, {
    name: 'Fixed Price',
    cashbackOffers: [
      offer(2005, {
        maximumFixedCommissionFee: 7.5,
        cashbackPercentage: 0,
        category: 'Books',
        countries: ['FR', 'DE'],
      }),
    ],
  }),
  retailer(5, onlyCoupons),
  ...OTHER_NAMES.map((name, i) =>
    retailer(10_000 + i, {
      name,
      cashbackOffers: [offer(20_000 + i, { category: 'Various', countries: ['SE'] })],
    }),
  ),
]);

afterAll(() => node[Symbol.asyncDispose]());

const open = (path = '/', options = {}) => openPage(node.url + path, options);

async function openList(path = '/', options = {}): Promise<WatchedPage> {
  const watched = await open(path, options);
  await watched.page.locator('[aria-busy="false"]').waitFor();
  return watched;
}

describe("the explorer's list", () => {
  test('shows featured retailers first, then the others by name, each with its best offer', async () => {
    await using watched = await openList();
    await watched.says('155 retailers');
    expect((await watched.names()).slice(0, 5)).toEqual([
      'Zebra Books',
      'Aster Garden',
      'Café Mélange',
      'Fixed Price',
      'Shop 0000',
    ]);
    expect(await watched.page.locator('.card .best').allTextContents()).toEqual([
      '5% cashback',
      '5% cashback',
      'Up to 14.5% cashback',
      '€7.50 cashback',
      ...Array(56).fill('5% cashback'),
    ]);
  });

  test('shows an amount as a bare number with a note if no currency is configured', async () => {
    await using bare = await startWithPageToken({ databaseUrl: node.databaseUrl });
    await using watched = await openPage(`${bare.url}/?q=fixed`);
    await watched.page.locator('.card .best').getByText('7.50 cashback, currency not stated').waitFor();
    await watched.page.getByRole('link', { name: 'Fixed Price' }).click();
    await watched.page.getByText('7.50currency not stated').waitFor();
  });

  test('searches while typing, ignores case and accents, and keeps the search in the URL', async () => {
    await using watched = await openList();
    await watched.page.getByLabel('Search').pressSequentially('MELANGE cafe');
    await watched.says('1 retailer for “MELANGE cafe”');
    expect(await watched.names()).toEqual(['Café Mélange']);
    expect(await watched.page.locator('.group h2').allTextContents()).toEqual(['Search results']);
    expect(new URL(watched.page.url()).search).toBe('?q=MELANGE+cafe');
  });

  test('shows retailers where one offer matches both category and country, with the best matching offer', async () => {
    await using watched = await openList();
    await watched.page.getByLabel('Country').selectOption({ label: 'Austria (1)' });
    await watched.says('1 retailer in Austria');
    await watched.page.getByLabel('Country').selectOption({ label: 'France (2)' });
    await watched.page.getByLabel('Category').selectOption({ label: 'Books (2)' });
    await watched.says('2 retailers in Books, France');
    expect(await watched.names()).toEqual(['Zebra Books', 'Fixed Price']);
    await watched.page.getByLabel('Country').selectOption({ label: 'Germany (3)' });
    await watched.says('1 retailer in Books, Germany');
    expect(new URL(watched.page.url()).search).toBe('?category=Books&country=DE');
  });

  test('the list can be paged through to the last retailer', async () => {
    await using watched = await open('/docs');
    const limits: string[] = [];
    // Several pages of the API instead of one large page.
    await watched.page.route('**/v1/retailers/?*', (route) => {
      const url = new URL(route.request().url());
      limits.push(url.searchParams.get('limit') ?? '');
      url.searchParams.set('limit', '60');
      return route.continue({ url: url.href });
    });
    await watched.page.goto(`${node.url}/?country=se`);
    await watched.says('150 retailers in Sweden');
    expect(limits).toEqual(['60', '1000', '1000']);
    const more = watched.page.getByRole('button', { name: /^Show \d+ more$/ });
    while (await more.isVisible()) await more.click();
    const names = await watched.names();
    expect(names).toEqual(OTHER_NAMES);
    // The focus moves to the first new card.
    expect(await watched.page.locator(':focus').textContent()).toBe(names[120] ?? null);
  });

  test('groups featured retailers, and marks them in lists without groups', async () => {
    await using watched = await openList();
    const { page } = watched;
    expect(await page.locator('.group h2').allTextContents()).toEqual([
      'Outstanding deals',
      'More retailers',
    ]);
    expect(await page.locator('.featured-mark:visible').count()).toBe(0);
    await page.getByLabel('Kind of deal').selectOption('Featured offers');
    await watched.says('1 retailer');
    expect(await page.locator('.featured-mark:visible').count()).toBe(1);
    expect(await watched.names()).toEqual(['Zebra Books']);
  });

  test('filters by kind of deal, sorts, and keeps both settings in the URL', async () => {
    await using watched = await openList();
    const { page } = watched;
    await page.getByLabel('Order').selectOption('Best rate');
    expect((await watched.names()).slice(0, 2)).toEqual(['Café Mélange', 'Aster Garden']);
    expect(await page.locator('.group').count()).toBe(0);
    await page.getByLabel('Order').selectOption('Ending soon');
    await page.getByLabel('Kind of deal').selectOption('Coupons');
    await watched.says('2 retailers');
    expect(await watched.names()).toEqual(['Zeta Vouchers', 'Café Mélange']);
    expect(new URL(page.url()).search).toBe('?deals=coupons&sort=ending');
    await page.reload();
    await watched.says('2 retailers');
    expect(await watched.names()).toEqual(['Zeta Vouchers', 'Café Mélange']);
  });

  test("shows the id, the request and the API's response for a card", async () => {
    await using watched = await openList('/?q=zebra');
    const { page } = watched;
    await page.getByRole('button', { name: 'What the API returns for Zebra Books' }).click();
    const dialog = page.getByRole('dialog', { name: 'What the API returns for Zebra Books' });
    const [shownId, curl, answer] = await Promise.all(
      [0, 1, 2].map(async (number) => (await dialog.locator('pre:visible').nth(number).textContent()) ?? ''),
    );
    expect(shownId).toBe(id(3));
    expect(curl).toContain(`'${node.url}/v1/retailers/${id(3)}/'`);
    expect(JSON.parse(answer ?? '')).toMatchObject({ id: id(3), name: 'Zebra Books' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe(
      'What the API returns for Zebra Books',
    );
  });

  test('opens a shared URL with its search and filters, and suggests other searches if nothing matches', async () => {
    await using watched = await openList('/?q=zebra&category=books&country=de');
    await watched.page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
    for (const [label, value] of [
      ['Search', 'zebra'],
      ['Category', 'Books'],
      ['Country', 'DE'],
    ] as const)
      expect(await watched.page.getByLabel(label).inputValue()).toBe(value);
    await watched.page.getByRole('button', { name: 'Search in all countries (1)' }).click();
    await watched.says('1 retailer for “zebra” in books');
    expect(await watched.names()).toEqual(['Zebra Books']);
  });

  test('back and forward restore filters, retailers and the scroll position', async () => {
    await using watched = await openList();
    const { page } = watched;
    await page.getByLabel('Country').selectOption('SE');
    await watched.says('150 retailers in Sweden');
    await page.getByRole('button', { name: 'Show 60 more' }).click();
    await page.getByRole('link', { name: 'Shop 0100', exact: true }).click();
    await page.getByRole('heading', { name: 'Shop 0100', level: 1 }).waitFor();
    expect(await page.title()).toBe('Shop 0100 · Offerbook');
    await page.goBack();
    await watched.says('150 retailers in Sweden');
    expect((await watched.names()).length).toBe(120);
    expect(await page.locator(':focus').textContent()).toBe('Shop 0100');
    expect(await page.evaluate('scrollY > 1000')).toBe(true);
    await page.goBack();
    await watched.says('155 retailers');
    await page.goForward();
    await page.goForward();
    await page.getByRole('heading', { name: 'Shop 0100', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Back to the results' }).click();
    await watched.says('150 retailers in Sweden');
  });
});

describe("a retailer's page", () => {
  test("a retailer's page is loaded with one small request and shows offers, coupons and promotions", async () => {
    await using watched = await open(`/?retailer=${id(1)}`);
    const { page } = watched;
    await page.getByRole('heading', { name: 'Café Mélange', level: 1 }).waitFor();
    expect(await page.locator('.amount').allTextContents()).toEqual(['14.5%', '3%']);
    expect(await page.locator('.facts').allTextContents()).toEqual([
      'Food · Austria, Germany',
      'Food · Austria',
    ]);
    const asked = watched.requests.map((request) => request.url()).filter((url) => url.includes('/v1/'));
    expect(asked).toEqual([`${node.url}/v1/retailers/${id(1)}/`]);
  });

  test("a retailer's page keeps the list's country filter, and shows all offers on request", async () => {
    await using watched = await openList('/?country=DE');
    const { page } = watched;
    await page.getByRole('link', { name: 'Café Mélange' }).click();
    await page.getByText('Offers in Germany.').waitFor();
    expect(new URL(page.url()).search).toBe(`?retailer=${id(1)}&country=DE`);
    expect(await page.locator('.amount').allTextContents()).toEqual(['14.5%']);
    await page.getByRole('link', { name: 'Show the offers for all countries (2)' }).click();
    await page.locator('.amount').nth(1).waitFor();
    await page.goBack();
    await page.getByText('Offers in Germany.').waitFor();
    await page.getByRole('link', { name: 'Back to the results' }).click();
    await watched.says('3 retailers in Germany');
  });

  test("a retailer's page opened by a shared URL with a country links back to that country's list", async () => {
    await using watched = await open(`/?retailer=${id(2)}&country=FR`);
    await watched.page.getByText('No cashback in France.').waitFor();
    await watched.page.getByRole('link', { name: 'Back to the results' }).click();
    await watched.says('2 retailers in France');
  });

  test("shows the API's response for each deal", async () => {
    await using watched = await open(`/?retailer=${id(1)}`);
    await watched.page
      .getByRole('button', { name: 'What the API returns for the coupon MELANGE-10' })
      .click();
    const answer = watched.page.getByRole('dialog').locator('.answer > .sample pre');
    await answer.waitFor();
    expect(JSON.parse((await answer.textContent()) ?? '')).toMatchObject({
      code: 'MELANGE-10',
      retailerId: id(1),
    });
  });

  test('a coupon has a button that copies its code, or selects it if the clipboard is unavailable', async () => {
    await using watched = await open(`/?retailer=${id(1)}`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await watched.page.getByRole('button', { name: 'Copy the code MELANGE-10' }).click();
    await watched.page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await watched.page.evaluate('navigator.clipboard.readText()')).toBe('MELANGE-10');
    await watched.page.reload();
    await watched.page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))');
    await watched.page.getByRole('button', { name: 'Copy the code MELANGE-10' }).click();
    await watched.page.getByRole('button', { name: 'Press Ctrl+C' }).waitFor();
    expect(await watched.page.evaluate('getSelection().toString()')).toBe('MELANGE-10');
  });

  test('links each promotion to its deep link without sending a referrer', async () => {
    await using watched = await open(`/?retailer=${id(1)}`);
    const link = watched.page.getByRole('link', { name: 'Go to the promotion' });
    expect(await link.getAttribute('href')).toBe('https://melange.example/mugs?x=1');
    expect([await link.getAttribute('target'), await link.getAttribute('rel')]).toEqual([
      '_blank',
      'noopener noreferrer',
    ]);
  });

  test("a retailer's page states when each deal ends", async () => {
    await using watched = await open(`/?retailer=${id(5)}`);
    expect(await watched.page.locator('.ends').textContent()).toMatch(/^ends in (2\d|30) minutes$/);
  });

  test.each([
    // The browser itself reports the response.
    [id(99), [failedToLoad('404 (Not Found)')]],
    ['no-uuid', []],
  ])(
    "a retailer's page with an unknown id (%s) shows a message and a link to the list",
    async (missing, complaints) => {
      await using watched = await open(`/?retailer=${missing}`);
      await watched.page.getByRole('heading', { name: 'No deals here' }).waitFor();
      await watched.page.getByRole('link', { name: 'See all retailers' }).click();
      await watched.says('155 retailers');
      expect(watched.takeComplaints()).toEqual(complaints);
    },
  );
});

describe('the explorer page', () => {
  test('loads the first view with four requests, all to this server', async () => {
    await using watched = await openList();
    const before = watched.requests.filter(
      (request) => !request.url().includes('cursor=') && !request.url().endsWith('/favicon.svg'),
    );
    expect(before.map((request) => new URL(request.url()).pathname).sort()).toEqual([
      '/',
      '/assets/catalogue.js',
      '/assets/site.css',
      '/v1/retailers/',
    ]);
    expect(watched.origins).toEqual(new Set([node.url]));
  });

  test('the explorer does not run third-party scripts or load third-party resources', async () => {
    await using watched = await openList();
    const { page } = watched;
    const visits: string[] = [];
    const elsewhere = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        visits.push(request.url);
        return new Response('', { headers: { 'Access-Control-Allow-Origin': '*' } });
      },
    });
    const attempt = (code: string) =>
      page.evaluate(`(async () => { try { ${code}; return 'done' } catch (error) { return error.name } })()`);
    expect(await attempt(`document.body.innerHTML = '<b>'`)).toBe('TypeError');
    expect(await attempt(`document.createElement('script').textContent = 'hacked = 1'`)).toBe('TypeError');
    expect(await attempt(`await fetch('${elsewhere.url}')`)).toBe('TypeError');
    const blocked = page.waitForEvent('console', (message) => message.text().includes('img-src'));
    await attempt(`document.body.append(Object.assign(new Image(), { src: '${elsewhere.url}logo.png' }))`);
    await blocked;
    expect(watched.takeComplaints()).not.toBeEmpty();
    expect(visits).toEqual([]);
    await elsewhere.stop(true);
    const response = await node.get('/');
    expect(response.headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    // The page contains a token, so pages of other origins must not read it.
    expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });

  test('the explorer can be operated with only the keyboard', async () => {
    await using watched = await openList('/?q=zebra');
    const { page } = watched;
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to content');
    await page.getByLabel('Search').focus();
    for (const expected of ['category', 'country', 'deals', 'sort']) {
      await page.keyboard.press('Tab');
      expect(await page.locator(':focus').getAttribute('id')).toBe(expected);
    }
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Zebra Books', level: 1 }).waitFor();
    expect(await page.locator(':focus').textContent()).toBe('Zebra Books');
  });

  test('the explorer passes axe-core and follows the colour scheme of the system', async () => {
    await using watched = await openList();
    const { page } = watched;
    const backgrounds = { light: 'rgb(247, 246, 242)', dark: 'rgb(18, 20, 17)' };
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe(
        backgrounds[colorScheme],
      );
    }
    expect(await axeViolations(page)).toEqual([]);
  });
});
