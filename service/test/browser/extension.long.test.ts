// The example extension in a real browser: the icon on a shop's site, the popup, activation, the sale, and stand-down.

import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Page } from 'playwright-core';
import { temporaryFolder } from '../support/databases.ts';
import { ExtensionBrowser } from '../support/extension-browser.ts';
import { id, offer, retailer } from '../support/fixtures.ts';
import { newCertificate } from '../support/new-certificate.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestNode } from '../support/test-node.ts';
import { testsWith } from '../support/tests-with.ts';
import { axeViolations } from './axe-violations.ts';

const README = join(import.meta.dir, '../../../examples/extension/README.md');

const { afterAll, beforeAll, describe, test } = testsWith('chrome', 'openssl');

function textOf(popup: Page): Promise<string[]> {
  return popup.locator('h1, p, button:visible').allTextContents();
}

/** Closes the popup, because every popup of a headless browser is a tab. */
async function popupText(browser: ExtensionBrowser): Promise<string[]> {
  const popup = await browser.popup();
  const text = await textOf(popup);
  await popup.close();
  return text;
}

test('on the site of a sandbox shop, the extension shows the cashback and activates it, and a purchase is attributed to its user', async () => {
  const [, rules = ''] = /--host-resolver-rules='([^']*)'/.exec(readFileSync(README, 'utf8')) ?? [];
  await using sandbox = await Sandbox.start(temporaryFolder());
  const { data: shops } = await sandbox.get<{ data: { name: string; hostname: string }[] }>(
    '/v1/retailers/?limit=1',
    'pub',
  );
  const [{ hostname, name } = { hostname: '', name: '' }] = shops;
  const config = { baseUrl: sandbox.url, token: sandbox.token('pub'), orgId: sandbox.orgId };
  await using browser = await ExtensionBrowser.start(config, [`--host-resolver-rules=${rules}`]);
  const { page } = browser;
  await page.goto(`http://${hostname}:${sandbox.port}/`);
  expect(await browser.badge()).toMatch(/^(\d+(\.\d)?%|€\d+(\.\d)?)$/);
  const [, rate = ''] = /^(\d+(?:\.\d)?%|€\d+\.\d\d) cashback here$/.exec(await browser.title()) ?? [];

  const popup = await browser.popup();
  expect(await textOf(popup)).toEqual([
    `${rate} cashback here`,
    `Activate it before you buy something at ${name}.`,
    'Activate',
  ]);
  expect(await axeViolations(popup)).toEqual([]);
  const since = new Date(Date.now() - 1_000).toISOString().slice(0, 19);
  await popup.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page
    .getByRole('link', { name: /^Add to basket/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Place the order' }).click();
  await page.getByRole('heading', { name: 'Thank you for your order' }).waitFor();
  const userId = await browser.userId();
  const { data } = await sandbox.get<{ data: Transaction[] }>(
    `/v1/transactions/?limit=1000&updatedAtGreaterThan=${since}`,
    'prv',
  );
  expect(data.filter(({ passbackUid }) => passbackUid === userId)).toMatchObject([{ status: 'PENDING' }]);

  await page.goto(`http://${hostname}:${sandbox.port}/docs`);
  expect(await browser.badge()).toBe('✓');
  expect(await popupText(browser)).toEqual([
    'Your cashback is active',
    `You get ${rate} for what you buy at ${name} now.`,
  ]);
});

/** A server for all hosts of the web: shops, a blog, and a network whose click server redirects to shops. */
async function startWeb() {
  const { certificate, key } = await newCertificate(temporaryFolder(), 'web');
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: Bun.file(certificate), key: Bun.file(key) },
    fetch(request) {
      const url = new URL(request.url);
      const to = url.searchParams.get('ued') ?? '';
      if (url.pathname === '/redirect') return Response.redirect(to, 302);
      if (url.pathname === '/cread.php') {
        const target = new URL(to);
        target.searchParams.set('awc', '1_2_3');
        return Response.redirect(target.href, 302);
      }
      const script =
        url.pathname === '/script' ? `<script>location.replace(${JSON.stringify(to)})</script>` : '';
      return new Response(`<!doctype html><title>${url.host}</title>${script}`, {
        headers: { 'Content-Type': 'text/html' },
      });
    },
  });
  const flags = [
    '--ignore-certificate-errors',
    `--host-resolver-rules=MAP * 127.0.0.1:${server.port}, EXCLUDE 127.0.0.1`,
  ];
  return { flags, [Symbol.asyncDispose]: () => server.stop(true) };
}

async function startNode() {
  const node = await TestNode.start({ settings: { countTestClients: 'on' } });
  const token = await node.token('public');
  await node.catalogue([
    ...[1, 2, 3, 4, 5, 9, 10].map((number) => retailer(number, { cashbackOffers: [offer(10 + number)] })),
    retailer(6, { cashbackOffers: [offer(16, { maximumFixedCommissionFee: 7.5 })] }),
    retailer(7, { cashbackOffers: [offer(17, { cashbackPercentage: 0.129 })] }),
    retailer(8),
  ]);
  const template = 'https://www.awin1.com/cread.php?clickref={click}&ued={url}';
  await node.links([1, 2, 3, 4, 5, 9].map((number) => ({ id: id(number), kind: 'retailer', template })));
  const { publicId: orgId } = await node.organisation();
  const config = { baseUrl: node.url, token, orgId };
  return { node, config, [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() };
}

describe('on the sites of other shops', () => {
  /** One browser for these tests, because a browser with an extension takes seconds to start. They use different shops. */
  let web: Awaited<ReturnType<typeof startWeb>>;
  let service: Awaited<ReturnType<typeof startNode>>;
  let browser: ExtensionBrowser;

  beforeAll(async () => {
    web = await startWeb();
    service = await startNode();
    browser = await ExtensionBrowser.start(service.config, web.flags);
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    await web?.[Symbol.asyncDispose]();
  });

  test("after another affiliate's link, the extension stands down at that shop until the user follows one of our own links", async () => {
    const { page } = browser;
    const shop = (number: number) => `https://www.r${number}.example/`;
    const network = (path: string, number: number) =>
      `https://www.awin1.com/${path}?ued=${encodeURIComponent(shop(number))}`;
    for (const [number, link] of [
      [1, `${shop(1)}?afsrc=1`],
      // The landing page has no parameter, but the first address belongs to the network.
      [2, network('redirect', 2)],
      // The network is in the middle of the chain and adds its click id.
      [3, `https://blog.example/redirect?ued=${encodeURIComponent(network('cread.php', 3))}`],
      // The network redirects with a script.
      [4, network('script', 4)],
    ] as const) {
      await page.goto('https://blog.example/');
      await page.evaluate(`location.assign(${JSON.stringify(link)})`);
      await page.waitForURL(new RegExp(`^${shop(number)}`));
      // The stand-down also applies to further pages and other tabs.
      for (const url of [page.url(), `${shop(number)}basket`, `https://de.r${number}.example/`]) {
        if (url !== page.url()) await page.goto(url);
        expect([url, await browser.badge()]).toEqual([url, '']);
        expect(await popupText(browser)).toEqual([
          'No cashback right now',
          `Another website has brought you to Retailer ${number} and may be paid for your purchase.`,
        ]);
      }
    }
    await page.goto(shop(5));
    expect(await browser.badge()).toBe('5%');
    const { baseUrl, orgId } = service.config;
    await page.goto(`${baseUrl}/v1/retailers/${id(1)}/activate/?orgId=${orgId}&passbackUid=portal`);
    await page.waitForURL(`${shop(1)}?awc=1_2_3`);
    expect(await browser.badge()).toBe('✓');
  });

  test('the server sees only the hourly download and the activation, the user returns to the same page, and rates are shown without the server', async () => {
    const { page } = browser;
    const earlier = service.node.logLines.length;
    for (const [url, badge, rate] of [
      ['https://www.r6.example/', '€7.5', '€7.50'],
      ['https://www.r7.example/', '12%', '12.9%'],
      ['https://de.r9.example/spades?size=l', '5%', '5%'],
    ] as const) {
      await page.goto('https://blog.example/');
      await page.goto(url);
      expect([url, await browser.badge(), await browser.title()]).toEqual([
        url,
        badge,
        `${rate} cashback here`,
      ]);
    }
    await (await browser.popup()).getByRole('button', { name: 'Activate' }).click();
    await page.waitForURL('https://de.r9.example/spades?size=l&awc=1_2_3');
    expect(await browser.badge()).toBe('✓');
    const clicks = await service.node.stores.clicks.list(10);
    expect(clicks.filter(({ passbackUid }) => passbackUid !== 'portal')).toMatchObject([
      { kind: 'retailers', dealId: id(9), passbackUid: await browser.userId(), isTracked: true },
    ]);
    // No shop: another site, a hostname that only ends like a shop's, and a retailer without cashback.
    for (const url of ['https://blog.example/', 'https://notr1.example/', 'https://www.r8.example/']) {
      await page.goto(url);
      expect([url, await popupText(browser)]).toEqual([url, ['No cashback on this site', '']]);
    }
    const routes = (lines: readonly string[]) =>
      lines.flatMap((line) => (JSON.parse(line) as { route?: string }).route ?? []);
    // The first request is the preflight of the second.
    expect(routes(service.node.logLines).filter((route) => !route.includes('activate'))).toEqual([
      '/v1/domains/',
      '/v1/domains/',
    ]);
    expect(routes(service.node.logLines.slice(earlier))).toEqual(['/v1/retailers/{id}/activate/']);
    expect(await browser.refreshMinutes()).toBe(60);
    await service.node.stopNode();
    await page.goto('https://www.r10.example/');
    expect(await browser.badge()).toBe('5%');
  });
});
