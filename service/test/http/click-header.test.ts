// The Offerbook-Click header: every activation response reports what happened to the click.

import { expect, test } from 'bun:test';
import type { ClickId } from '../../src/domain/click.ts';
import { ActivationNode, BROWSER, clickIn, NOW_MS } from '../support/activation-node.ts';
import { DATABASES } from '../support/databases.ts';
import { freePort } from '../support/postgres-server.ts';

const HEADER = 'Offerbook-Click';
const HEADLESS =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36';

test.each(DATABASES)(
  'GET, POST and the link that POST returns report recorded and repeated clicks on $name',
  async (database) => {
    await using app = await ActivationNode.start({ databaseUrl: await database.create() });
    const path = app.coupon();
    const seen = async (method: string, of: string) => (await app.send(method, of)).headers.get(HEADER);
    expect([await seen('GET', path), await seen('GET', path)]).toEqual(['recorded', 'repeated']);
    const first = await app.send('POST', path, { Origin: 'https://page.example' });
    expect(first.headers.get('Access-Control-Expose-Headers')?.split(', ')).toContain(HEADER);
    expect([first.headers.get(HEADER), await seen('POST', path)]).toEqual(['recorded', 'repeated']);
    const { url } = (await first.json()) as { url: string };
    const go = new URL(url).pathname;
    expect([await seen('GET', go), await seen('GET', go)]).toEqual(['recorded', 'repeated']);
    expect(await app.clicks()).toHaveLength(2);
  },
);

test('requests that are not clicks are redirected to the plain URL, and reported and counted with the reason', async () => {
  const adminPort = await freePort();
  await using app = await ActivationNode.start({ settings: { adminPort } });
  const path = app.coupon();
  const go = await app.prepare(path, { ...BROWSER, 'Sec-Fetch-Dest': 'empty' });
  for (const [method, headers, reason] of [
    ['GET', { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' }, 'crawler'],
    ['GET', { 'User-Agent': 'AhrefsBot/7.0' }, 'crawler'],
    ['GET', { 'User-Agent': HEADLESS }, 'crawler'],
    ['GET', { 'User-Agent': 'python-requests/2.32.3' }, 'crawler'],
    ['GET', { 'User-Agent': 'WhatsApp/2.23.20.0' }, 'preview'],
    ['GET', { 'User-Agent': 'facebookexternalhit/1.1' }, 'preview'],
    ['GET', { 'User-Agent': 'Slackbot-LinkExpanding 1.0' }, 'preview'],
    ['GET', { 'User-Agent': 'TelegramBot (like TwitterBot)' }, 'preview'],
    ['HEAD', BROWSER, 'preview'],
    ['GET', { ...BROWSER, 'Sec-Purpose': 'prefetch;prerender' }, 'prefetch'],
    ['GET', { ...BROWSER, Purpose: 'prefetch' }, 'prefetch'],
    ['GET', { ...BROWSER, 'X-Moz': 'prefetch' }, 'prefetch'],
    ...['image', 'iframe', 'script', 'empty', 'frame', 'object'].map(
      (destination) => ['GET', { ...BROWSER, 'Sec-Fetch-Dest': destination }, 'embedded'] as const,
    ),
  ] as const) {
    for (const of of [path, go]) {
      const { status, headers: got } = await app.send(method, of, headers);
      expect([headers, status, got.get(HEADER), got.get('Location'), got.get('Cache-Control')]).toEqual([
        headers,
        reason === 'prefetch' ? 204 : 302,
        `ignored; reason=${reason}`,
        reason === 'prefetch' ? null : 'https://www.r1.example/',
        'no-store',
      ]);
    }
  }
  expect(await app.clicks()).toMatchObject([{ clickedAtMs: null }]);
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  expect(metrics.split('\n').filter((line) => /^offerbook_clicks_total.* [1-9]/.test(line))).toEqual([
    'offerbook_clicks_total{outcome="tracked"} 1',
    'offerbook_clicks_total{outcome="crawler"} 8',
    'offerbook_clicks_total{outcome="preview"} 10',
    'offerbook_clicks_total{outcome="prefetch"} 6',
    'offerbook_clicks_total{outcome="embedded"} 12',
  ]);
});

test('top-level navigations, requests without Sec-Fetch-Dest and developer tools are clicks', async () => {
  await using app = await ActivationNode.start();
  for (const headers of [
    BROWSER,
    { ...BROWSER, 'Sec-Fetch-Dest': 'document' },
    ...['curl/8.5.0', 'Bun/1.4.4', ''].map((name) => ({ 'User-Agent': name })),
  ]) {
    for (const link of [app.coupon(), await app.prepare()]) {
      const { headers: got } = await app.get(link, headers);
      expect([headers, clickIn(got.get('Location'))]).not.toEqual([headers, '' as ClickId]);
    }
  }
  expect(await app.clicks()).toMatchObject([{ clickedAtMs: NOW_MS }, { clickedAtMs: NOW_MS }]);
});

test('with --count-test-clients on, headless browsers and HTTP libraries count as people, and crawlers and previews do not', async () => {
  await using app = await ActivationNode.start({ settings: { countTestClients: 'on' } });
  const outcome = async (name: string) => {
    const path = app.coupon({ passbackUid: name });
    return [name, (await app.get(path, { 'User-Agent': name })).headers.get(HEADER)];
  };
  const testers = [
    HEADLESS,
    'python-requests/2.32.3',
    'Python-urllib/3.12',
    'python-httpx/0.27.0',
    'Python/3.12 aiohttp/3.9.5',
    'Go-http-client/1.1',
    'Java-http-client/21.0.3',
    'Apache-HttpClient/5.3 (Java/21)',
    'axios/1.7.2',
    'GuzzleHttp/7',
    'Ruby',
  ];
  for (const name of testers) expect(await outcome(name)).toEqual([name, 'recorded']);
  for (const name of ['Googlebot/2.1', 'bingbot/2.0', 'WhatsApp/2.23.20.0'])
    expect((await outcome(name))[1]).toStartWith('ignored; ');
  expect((await app.clicks()).map((click) => click.passbackUid).sort()).toEqual(testers.toSorted());
});
