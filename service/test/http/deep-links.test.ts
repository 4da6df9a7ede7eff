// Activation links with `to`: the page of the shop on which the user arrives.

import { describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import fc from 'fast-check';
import type { ClickId } from '../../src/domain/click.ts';
import { importLinks } from '../../src/importer/import-links.ts';
import { ActivationNode, BROWSER, clickIn, NETWORK, NOW_MS } from '../support/activation-node.ts';
import { documentedBody } from '../support/documented-answers.ts';
import { coupon, id, retailer } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

const PAGE = 'https://www.r1.example/spades?size=l&q=ü#reviews';
/** The same page, as the URL parser prints it. */
const PRINTED = 'https://www.r1.example/spades?size=l&q=%C3%BC#reviews';

function targetOf(click: string, page: string): string {
  return NETWORK.replace('{click}', click).replace('{url}', encodeURIComponent(page));
}

describe('links to a page of a shop', () => {
  test('GET redirects to the page through the network, even if the deal has ended, and to the home page if the page is empty', async () => {
    await using app = await ActivationNode.start();
    // The coupon 22 has ended, so the click is on the retailer.
    for (const [number, to, kind, dealId, page] of [
      [21, PAGE, 'coupons', id(21), PRINTED],
      [22, PAGE, 'retailers', id(1), PRINTED],
      [21, '', 'coupons', id(21), 'https://www.r1.example/'],
    ] as const) {
      const response = await app.get(`/v1/coupons/${id(number)}/activate/${app.query({ to })}`);
      const location = response.headers.get('Location');
      const click = clickIn(location);
      expect([response.status, location]).toEqual([302, targetOf(click, page)]);
      expect((await app.clicks()).find((one) => one.id === click)).toMatchObject({ kind, dealId });
    }
  });

  test('POST returns a link to the page, and following it redirects to the page through the network', async () => {
    await using app = await ActivationNode.start();
    const response = await app.send('POST', app.coupon({ to: PAGE }));
    const body = await documentedBody('/v1/coupons/{id}/activate/', response, 'POST');
    const { url } = JSON.parse(body) as { url: string };
    const [, click = ''] = /\/go\/([0-9A-Za-z]{22})\//.exec(url) ?? [];
    expect(url).toBe(`${app.node.url}/go/${click}/?to=${encodeURIComponent(PRINTED)}`);
    const path = url.slice(app.node.url.length);
    const followed = await app.get(path);
    expect([followed.status, followed.headers.get('Location')]).toEqual([302, targetOf(click, PRINTED)]);
    // Without the page, the link redirects to the shop's home page.
    const plain = await app.get(`/go/${click}/`);
    expect(plain.headers.get('Location')).toBe(targetOf(click, 'https://www.r1.example/'));
    const forged = await app.get(`/go/${click}/?to=https://evil.example/`);
    expect([forged.status, await forged.json()]).toMatchObject([
      400,
      {
        code: 'invalid_parameter',
        errors: [{ parameter: 'to', detail: 'must be a page on r1.example' }],
      },
    ]);
    expect(await app.clicks()).toMatchObject([{ id: click, kind: 'coupons', clickedAtMs: NOW_MS }]);
  });

  test("the page can be on any of the domains of the retailer's link, from the moment of their import until their withdrawal", async () => {
    await using app = await ActivationNode.start();
    const load = async (domains: readonly string[]) => {
      const row = { retailerId: id(1), template: NETWORK, domains };
      await importLinks(app.node.stores.links, sourceFrom(ndjson([row])), {});
      const { catalogue } = await app.node.stores.revisions();
      await app.node.logged((line) => line.revision === catalogue);
    };
    const statuses = async () => {
      const found: number[] = [];
      for (const host of [
        'other.example',
        'de.other.example',
        'other-brand.example',
        'r1.example',
        'notother.example',
      ]) {
        const search = app.query({ to: `https://${host}/`, passbackData: host });
        found.push((await app.get(`/v1/coupons/${id(21)}/activate/${search}`)).status);
      }
      return found;
    };
    expect(await statuses()).toEqual([400, 400, 400, 302, 400]);
    await load(['other.example', 'other-brand.example']);
    expect(await statuses()).toEqual([302, 302, 302, 302, 400]);
    await load([]);
    expect(await statuses()).toEqual([400, 400, 400, 302, 400]);
  });

  test('a tap on a link to a different page is a separate click', async () => {
    await using app = await ActivationNode.start();
    const tap = async (to: string) => {
      const response = await app.get(app.coupon({ to }));
      return [response.headers.get('Offerbook-Click'), clickIn(response.headers.get('Location'))] as const;
    };
    const [first, second] = [await tap(PAGE), await tap('https://www.r1.example/rakes')];
    expect([first[0], second[0], await tap(PAGE)]).toEqual(['recorded', 'recorded', ['repeated', first[1]]]);
    expect((await app.clicks()).map((click) => click.id).sort()).toEqual(
      [first[1], second[1]].sort() as ClickId[],
    );
  });
});

test('without an operator link, and for requests that are not clicks, the redirect goes directly to the page', async () => {
  await using app = await ActivationNode.start({ settings: { rateLimitActivation: 1 }, links: [] });
  const path = app.coupon({ to: PAGE });
  for (const [headers, outcome] of [
    [BROWSER, 'untracked'],
    [{ 'User-Agent': 'Googlebot/2.1' }, 'ignored; reason=crawler'],
    [{ ...BROWSER, 'Sec-Fetch-Dest': 'image' }, 'ignored; reason=embedded'],
    [BROWSER, 'ignored; reason=limit'],
  ] as const) {
    const response = await app.get(path, headers);
    expect([response.headers.get('Location'), response.headers.get('Offerbook-Click')]).toEqual([
      PRINTED,
      outcome,
    ]);
  }
});

test('no page is accepted for a retailer whose hostname is a public suffix or does not identify a site', async () => {
  await using app = await ActivationNode.start();
  for (const hostname of ['co.uk', 'myshopify.com', 'localhost', 'https://www.r1.example/']) {
    await app.node.catalogue([retailer(1, { hostname, coupons: [coupon(21)] })]);
    for (const to of [
      'https://co.uk/',
      'https://evil.co.uk/',
      'https://evil.myshopify.com/',
      'https://localhost/',
      'https://https/',
    ]) {
      const response = await app.get(app.coupon({ to }));
      expect([hostname, to, await response.json()]).toMatchObject([
        hostname,
        to,
        { status: 400, errors: [{ parameter: 'to', detail: 'is not supported for this retailer' }] },
      ]);
    }
  }
  expect(await app.clicks()).toEqual([]);
});

test("a URL that is outside the retailer's site or not plain https gets 400 on GET and POST, and no click is recorded", async () => {
  await using app = await ActivationNode.start();
  const elsewhere = 'must be a page on r1.example';
  const notHttps = 'must be a URL that starts with https://';
  const withUser = 'must not contain a user name or a password';
  const tooLong = 'must not be longer than 2048 characters';
  for (const [to, detail] of [
    ['https://www.r1.example./', elsewhere],
    ['https://evil.example/https://www.r1.example/', elsewhere],
    ['https://evil.example\\@www.r1.example/', elsewhere],
    ['https://evil.example?@www.r1.example/', elsewhere],
    ['https://evil.example#www.r1.example', elsewhere],
    ['https://127.0.0.1/', elsewhere],
    ['https://www.r1.example@evil.example/', withUser],
    ['https://user:secret@www.r1.example/', withUser],
    ['https://www.r1.example:8443/', 'must not contain a port'],
    ['http://www.r1.example/', notHttps],
    ['javascript:alert(1)', notHttps],
    ['javascript://www.r1.example/%0aalert(1)', notHttps],
    ['data:text/html,x', notHttps],
    ['//www.r1.example/', notHttps],
    ['/spades', notHttps],
    ['www.r1.example/spades', notHttps],
    ['https:www.r1.example', notHttps],
    ['https:/www.r1.example', notHttps],
    [' https://www.r1.example/', notHttps],
    ['https://', notHttps],
    ['https://www r1.example/', notHttps],
    [`https://www.r1.example/${'x'.repeat(2_048)}`, tooLong],
    [`https://www.r1.example/${'ü'.repeat(400)}`, tooLong],
  ] as const) {
    for (const method of ['GET', 'POST']) {
      const response = await app.send(method, app.coupon({ to }));
      const body = await documentedBody('/v1/coupons/{id}/activate/', response, method);
      expect([to, response.status, JSON.parse(body)]).toMatchObject([
        to,
        400,
        { code: 'invalid_parameter', detail: `to ${detail}.`, errors: [{ parameter: 'to', detail }] },
      ]);
    }
  }
  expect(await app.clicks()).toEqual([]);
});

test("a page is accepted if and only if its host is the retailer's domain or a subdomain of it", async () => {
  await using app = await ActivationNode.start();
  const SHOPS = [
    // The hostname is "www.r1.example".
    { offerId: id(11), labels: ['r1', 'example'] },
    // The hostname is "München.example".
    { offerId: id(12), labels: ['münchen', 'example'] },
  ];
  const shop = fc.constantFrom(...SHOPS);
  const label = fc.constantFrom('www', 'r1', 'example', 'münchen', 'evil', 'de', 'a-b', 'x1', 'xwww', 'com');
  const labels = fc.oneof(
    fc.array(label, { minLength: 1, maxLength: 5 }),
    // Hosts that start with, end with or contain the labels of a shop.
    fc
      .tuple(fc.array(label, { maxLength: 2 }), shop, fc.array(label, { maxLength: 1 }))
      .map(([before, { labels }, after]) => [...before, ...labels, ...after]),
    // Hosts that end with a shop's domain as a string, but not on a label boundary.
    fc.tuple(label, shop).map(([prefix, { labels }]) => `${prefix}${labels.join('.')}`.split('.')),
  );
  const page = fc.record({
    scheme: fc.constantFrom('https', 'HTTPS', 'http', 'ftp'),
    user: fc.constantFrom('', '', '', 'user@', 'www.r1.example@'),
    labels,
    isUpperCase: fc.boolean(),
    port: fc.constantFrom('', '', '', ':443', ':80', ':8443'),
    path: fc.webPath(),
  });
  const likely = { scheme: 'https', user: '', port: '' };
  await fc.assert(
    fc.asyncProperty(shop, page, fc.boolean(), async ({ offerId, labels }, generated, isLikely) => {
      const { scheme, user, port, path, ...made } = { ...generated, ...(isLikely ? likely : {}) };
      const host = made.labels.join('.');
      const given = `${scheme}://${user}${made.isUpperCase ? host.toUpperCase() : host}${port}${path}`;
      const isOwn = made.labels.slice(-labels.length).join('.') === labels.join('.');
      const isPlain = scheme.toLowerCase() === 'https' && user === '' && (port === '' || port === ':443');
      const before = (await app.clicks()).length;
      const search = app.query({ to: given, passbackData: given });
      const response = await app.send('POST', `/v1/cashback-offers/${offerId}/activate/${search}`);
      expect([given, response.status]).toEqual([given, isOwn && isPlain ? 200 : 400]);
      if (response.status === 400) expect(await app.clicks()).toHaveLength(before);
      else {
        const { url } = (await response.json()) as { url: string };
        expect(new URL(new URL(url).searchParams.get('to') ?? '').hostname).toBe(
          new URL(`https://${host}`).hostname,
        );
      }
    }),
    { numRuns: 100 },
  );
});
