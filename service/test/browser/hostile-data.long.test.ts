// Imported text is shown as text: markup, scripts, bidirectional characters and very long words must not run or break the
// layout.

import { expect } from 'bun:test';
import { coupon, id, offer, promotion, retailer } from '../support/fixtures.ts';
import { startWithPageToken, testsWithBrowser } from './watched-page.ts';

const { afterAll, test, openPage } = testsWithBrowser();

const MARKUP = `<img src=x onerror="hacked=1"><script>hacked=1</script></title></script><svg onload=hacked=1>&lt;b&gt;`;
const ENDLESS = 'W'.repeat(10_000);
const RIGHT_TO_LEFT = 'abc\u202edef\u2067ghi';
const STACKED = `Z${'\u0335\u0321\u0301'.repeat(300)}algo`;
const TEXTS = { markup: MARKUP, endless: ENDLESS, 'right to left': RIGHT_TO_LEFT, stacked: STACKED };
const WIDTHS = [390, 1280];

const node = await startWithPageToken();
await node.catalogue(
  Object.values(TEXTS).map((text, i) =>
    retailer(i + 1, {
      name: text,
      hostname: text,
      cashbackOffers: [
        offer(i + 11, { description: text, category: text, termsAndExclusions: text, featured: true }),
      ],
      coupons: [coupon(i + 21, { code: text, description: text })],
      promotions: [
        promotion(i + 31, {
          description: text,
          deepLink: `https://x.example/${encodeURIComponent(text.slice(0, 500))}`,
        }),
      ],
    }),
  ),
);

afterAll(() => node[Symbol.asyncDispose]());

test.each(WIDTHS)('the list shows hostile text as text, %d pixels wide', async (width) => {
  await using watched = await openPage(node.url, { viewport: { width, height: 800 } });
  const { page } = watched;
  await watched.says('4 retailers');
  expect((await watched.names()).toSorted()).toEqual(Object.values(TEXTS).toSorted());
  expect(await page.evaluate('typeof hacked')).toBe('undefined');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  // No card is much taller than one with an ordinary name.
  expect(
    await page.evaluate(
      `Math.max(...[...document.querySelectorAll('.card')].map((card) => card.offsetHeight))`,
    ),
  ).toBeLessThan(400);
  await page.getByLabel('Search').fill(MARKUP.slice(0, 12));
  await watched.says(`1 retailer for “${MARKUP.slice(0, 12)}”`);
});

test.each(Object.entries(TEXTS).map(([kind, text], i) => ({ kind, text, id: id(i + 1) })))(
  'a retailer full of $kind does not break the page on a phone or a wide screen',
  async ({ text, id }) => {
    await using watched = await openPage(`${node.url}/?retailer=${id}`);
    const { page } = watched;
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.locator('h1').textContent()).toBe(text);
    expect(await page.locator('.code code').textContent()).toBe(text);
    expect(await page.title()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    for (const details of await page.locator('details > summary').all()) await details.click();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    expect(await page.evaluate('typeof hacked')).toBe('undefined');
  },
);

test.each([
  ['an override', '\u202e'],
  ['an override behind the end of an isolate', '\u2069\u202e'],
  ['an isolate', '\u2067'],
])('text after a category with %s still runs from left to right', async (_, marks) => {
  const category = `Garden${marks}`;
  await node.catalogue([retailer(1, { cashbackOffers: [offer(11, { category, countries: ['DE'] })] })]);
  await using watched = await openPage(`${node.url}/?retailer=${id(1)}`);
  const { page } = watched;
  await page.locator('.facts').waitFor();
  expect(await page.locator('.facts').textContent()).toBe(`${category} · Germany`);
  expect(await page.evaluate(LETTERS_FROM_LEFT)).toBe('Germany');
});

/** The letters of the country, in display order from left to right. */
const LETTERS_FROM_LEFT = `(() => {
  const text = document.querySelector('.facts').lastChild;
  const x = (index) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + 1);
    return range.getBoundingClientRect().left;
  };
  return [...Array(text.data.length).keys()].sort((a, b) => x(a) - x(b)).map((i) => text.data[i]).join('');
})()`;

test('the link to a shop is labelled with the host in its URL', async () => {
  await node.catalogue([
    retailer(1, {
      hostname: 'bank.example',
      url: 'https://phish.example:8443/login',
      cashbackOffers: [offer(11)],
    }),
  ]);
  await using watched = await openPage(`${node.url}/?retailer=${id(1)}`);
  const link = watched.page.locator('a.out').first();
  expect(await link.textContent()).toBe('phish.example:8443');
  expect(await link.getAttribute('href')).toBe('https://phish.example:8443/login');
});

test("logos under this server's /v1/ and /go/ paths are not loaded", async () => {
  const logos = ['/v1/coupons/', '/go/x/', '/v1', '/logos/../go/x/', '/favicon.svg'];
  await node.catalogue(
    logos.map((path, i) => retailer(i + 1, { logo: node.url + path, cashbackOffers: [offer(i + 11)] })),
  );
  await using watched = await openPage(node.url);
  await watched.says('5 retailers');
  await watched.page.locator('.logo img').first().waitFor();
  expect(
    await watched.page
      .locator('.logo img')
      .evaluateAll((images) => images.map((image) => image.getAttribute('src'))),
  ).toEqual([`${node.url}/favicon.svg`]);
});

test('a URL that is not http or https is not rendered as a link, even if the API returns it', async () => {
  await using watched = await openPage(`${node.url}/docs`);
  const { page } = watched;
  const script = 'javascript:hacked=1';
  const sent = retailer(1, { url: script, logo: script, promotions: [promotion(2, { deepLink: script })] });
  await page.route('**/v1/retailers/**', (route) =>
    route.fulfill({ contentType: 'application/json', body: JSON.stringify(sent) }),
  );
  await page.goto(`${node.url}/?retailer=${id(1)}`);
  await page.getByText('Go to the promotion').click();
  await page.getByText('www.r1.example').click();
  expect(await page.evaluate('[typeof hacked, document.querySelectorAll("main a").length]')).toEqual([
    'undefined',
    1,
  ]);
});
