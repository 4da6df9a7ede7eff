// Activation over HTTP, on both databases: redirects, recorded clicks and rejected requests.

import { describe, expect, test } from 'bun:test';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { ClickId } from '../../src/domain/click.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { ActivationNode, BROWSER, clickIn, NETWORK, NOW_MS, USER } from '../support/activation-node.ts';
import { DATABASES } from '../support/databases.ts';
import { answerProblems, documentedBody } from '../support/documented-answers.ts';
import { id, offer, promotion, retailer } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { TestNode } from '../support/test-node.ts';

async function problemOf(response: Response) {
  const { requestId: _, instance: __, ...problem } = (await response.json()) as Record<string, unknown>;
  return problem;
}

describe.each(DATABASES)('activation on $name', ({ name, create }) => {
  const KINDS = [
    ['/v1/retailers/', 'retailers', 'retailerId', 1, 'https://www.r1.example/'],
    ['/v1/cashback-offers/', 'cashbackOffers', 'cashbackOfferId', 11, 'https://www.r1.example/'],
    ['/v1/coupons/', 'coupons', 'couponId', 21, 'https://www.r1.example/'],
    ['/v1/promotions/', 'promotions', 'promotionId', 31, 'https://www.example.com/p31'],
  ] as const;

  test('GET records a click and redirects to the network, for retailers and every kind of deal, with the id in the path or the query', async () => {
    await using app = await ActivationNode.start({ databaseUrl: await create() });
    for (const [path, kind, parameter, number, url] of KINDS) {
      const forms = [
        `${path}${id(number)}/activate/${app.query({ passbackData: 'a=1' })}`,
        `${path}activate${app.query({ passbackData: 'a=1', passbackUid: 'other', [parameter]: id(number) })}`,
      ];
      for (const [index, form] of forms.entries()) {
        const response = await app.get(form);
        const location = response.headers.get('Location');
        const click = clickIn(location);
        expect(response.status).toBe(302);
        expect(location).toBe(NETWORK.replace('{click}', click).replace('{url}', encodeURIComponent(url)));
        expect(Object.fromEntries(response.headers)).toMatchObject({
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-robots-tag': 'noindex',
        });
        expect(response.headers.has('Access-Control-Allow-Origin')).toBe(false);
        expect(
          answerProblems(`${path}{id}/activate/`, { status: 302, headers: response.headers, body: '' }),
        ).toEqual([]);
        expect((await app.clicks()).find((one) => one.id === click)).toEqual({
          id: click,
          orgId: 1,
          kind,
          dealId: id(number),
          retailerId: id(1),
          passbackUid: index === 0 ? USER : 'other',
          passbackData: 'a=1',
          activatedAtMs: NOW_MS,
          clickedAtMs: NOW_MS,
          isTracked: true,
        });
      }
    }
    expect(await app.clicks()).toHaveLength(8);
  });

  test('POST returns a link, and the first visit to the link records the click', async () => {
    let nowMs = NOW_MS;
    await using app = await ActivationNode.start({
      databaseUrl: await create(),
      clock: () => nowMs,
    });
    const response = await app.send('POST', app.coupon(), {
      Origin: 'https://page.example',
    });
    const { headers } = response;
    const body = await documentedBody('/v1/coupons/{id}/activate/', response, 'POST');
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(headers.get('Access-Control-Allow-Credentials')).toBeNull();
    const { url } = JSON.parse(body) as { url: string };
    const click = /\/go\/([0-9A-Za-z]{22})\/$/.exec(url)?.[1] as ClickId;
    expect(url).toBe(`${app.node.url}/go/${click}/`);
    expect(await app.clicks()).toMatchObject([{ id: click, activatedAtMs: NOW_MS, clickedAtMs: null }]);

    const path = url.slice(app.node.url.length);
    for (const laterMs of [5_000, 60_000]) {
      nowMs = NOW_MS + laterMs;
      const followed = await app.get(path);
      expect(followed.status).toBe(302);
      expect(clickIn(followed.headers.get('Location'))).toBe(click);
      expect(await app.clicks()).toMatchObject([
        { id: click, activatedAtMs: NOW_MS, clickedAtMs: NOW_MS + 5_000 },
      ]);
    }
  });

  test('repeated activations by the same user within ten seconds are one click, on any node', async () => {
    let nowMs = NOW_MS;
    const databaseUrl = await create();
    const clock = () => nowMs;
    await using app = await ActivationNode.start({ databaseUrl, clock });
    await using other = await ActivationNode.start({ databaseUrl, clock });
    const path = app.coupon();
    const tap = async (on = app, to = path) => clickIn((await on.get(to)).headers.get('Location'));
    const first = await Promise.all(Array.from({ length: 20 }, (_, i) => tap(i % 2 === 0 ? app : other)));
    expect(new Set(first).size).toBe(1);
    nowMs += 9_999;
    expect(await tap()).toBe(first[0] as ClickId);
    expect(await tap(other)).toBe(first[0] as ClickId);
    const others = [
      await tap(app, app.coupon({ passbackUid: 'somebody else' })),
      await tap(app, `/v1/cashback-offers/${id(11)}/activate/${app.query()}`),
      await tap(app, path.replace('?', '?passbackData=session-A&')),
      await tap(other, path.replace('?', '?passbackData=session-B&')),
    ];
    nowMs += 1;
    others.push(await tap(other));
    expect(new Set([...first, ...others]).size).toBe(6);
    expect((await app.clicks()).map((click) => click.id).sort()).toEqual(
      [...new Set([...first, ...others])].sort(),
    );

    // The table holds a keyed digest, so reading it does not reveal which user clicked.
    const isSqlite = name === 'SQLite';
    const raw = openDatabase(isSqlite ? `${databaseUrl}-activations` : databaseUrl, COMMAND_OPTIONS);
    const keys = (await raw.all<{ key: string }>('SELECT key FROM taps')).map(({ key }) => key);
    await raw.close();
    expect(keys).toHaveLength(5);
    const tapped = JSON.stringify(['follow', 1, 'coupons', id(21), USER, null, null, '127.0.0.1']);
    const hmac = new Bun.CryptoHasher('sha256', await app.node.stores.clickKey());
    expect(keys).toContain(hmac.update(tapped).digest('base64').slice(0, 22));
  });

  test('a tap from a different network is a separate click, so strangers learn nothing about the first click; a /64 is one network', async () => {
    await using app = await ActivationNode.start({
      databaseUrl: await create(),
      settings: { trustedProxies: ['127.0.0.1'] },
    });
    const path = app.coupon();
    const tap = async (method: string, address: string) => {
      const headers = { ...BROWSER, 'X-Forwarded-For': address };
      if (method === 'POST') return app.prepare(path, headers);
      return clickIn((await app.get(path, headers)).headers.get('Location'));
    };
    for (const method of ['GET', 'POST']) {
      const [user, stranger] = [await tap(method, '192.0.2.1'), await tap(method, '192.0.2.2')];
      expect(stranger).not.toBe(user);
      expect(await tap(method, '192.0.2.1')).toBe(user);
      const [home, neighbour] = [await tap(method, '2001:db8:0:1::1'), await tap(method, '2001:db8:0:2::1')];
      expect(neighbour).not.toBe(home);
      expect(await tap(method, '2001:db8:0:1:ffff::2')).toBe(home);
    }
    expect(await app.clicks()).toHaveLength(8);
  });

  test('a flood of requests for one link redirects every client, counts as one visit, and leaves the database usable', async () => {
    await using app = await ActivationNode.start({
      databaseUrl: await create(),
      settings: { trustedProxies: ['127.0.0.1'], rateLimitActivation: 0 },
    });
    const [followed, previewed] = [
      await app.prepare(app.coupon({ passbackUid: 'followed' })),
      await app.prepare(app.coupon({ passbackUid: 'previewed' })),
    ];
    const flood = (path: string, headers: Record<string, string>) =>
      Promise.all(Array.from({ length: 400 }, async () => (await app.get(path, headers)).status));
    expect(new Set(await flood(followed, BROWSER))).toEqual(new Set([302]));
    expect(new Set(await flood(previewed, { 'User-Agent': 'WhatsApp/2.23.20.0' }))).toEqual(new Set([302]));
    expect(await (await app.get('/readyz')).json()).toEqual({ status: 'ready', database: 'usable' });
    expect(app.node.logLines.filter((line) => (JSON.parse(line) as { level: number }).level > 30)).toEqual(
      [],
    );
    expect(await app.clicks()).toMatchObject([
      { passbackUid: 'followed', clickedAtMs: NOW_MS },
      { passbackUid: 'previewed', clickedAtMs: null },
    ]);
  });

  test('concurrent clicks are each recorded once', async () => {
    await using app = await ActivationNode.start({ databaseUrl: await create() });
    const users = Array.from({ length: 300 }, (_, number) => `user ${number}`);
    const answers = await Promise.all(users.map((passbackUid) => app.get(app.coupon({ passbackUid }))));
    const answered = answers.map((answer, i) => [clickIn(answer.headers.get('Location')), users[i]]);
    const recorded = (await app.clicks()).map((click) => [click.id, click.passbackUid]);
    expect(recorded.sort()).toEqual(answered.sort() as never);
  });
});

describe('activation redirects', () => {
  test("without an operator link, redirects go to the plain URL untracked; a deal's link overrides its retailer's link", async () => {
    const template = 'https://deal.example/?sub={click}';
    await using app = await ActivationNode.start({
      links: [
        { id: id(21), kind: 'deal', template },
        { id: id(1), kind: 'retailer', template: NETWORK },
      ],
    });
    const plain = await app.get(`/v1/cashback-offers/${id(12)}/activate/${app.query()}`);
    expect(plain.headers.get('Location')).toBe('https://xn--mnchen-3ya.example/%C3%BC?a=b');
    const ofDeal = await app.get(app.coupon());
    expect(ofDeal.headers.get('Location')).toStartWith('https://deal.example/?sub=');
    const ofRetailer = await app.get(`/v1/cashback-offers/${id(11)}/activate/${app.query()}`);
    expect(ofRetailer.headers.get('Location')).toStartWith('https://network.example/click?shop=1&sub=');
    expect((await app.clicks()).map(({ dealId, isTracked }) => [dealId, isTracked])).toEqual([
      [id(12), false],
      [id(21), true],
      [id(11), true],
    ]);
  });

  test('a deal that has ended or not started redirects to its retailer and records a click on the retailer; POST gets an error', async () => {
    await using app = await ActivationNode.start();
    const path = `/v1/coupons/${id(22)}/activate/${app.query()}`;
    const response = await app.get(path);
    expect(response.status).toBe(302);
    expect(clickIn(response.headers.get('Location'))).not.toBe('' as ClickId);
    expect(await app.clicks()).toMatchObject([{ kind: 'retailers', dealId: id(1), retailerId: id(1) }]);
    for (const number of [22, 23]) {
      const post = await app.send('POST', path.replace(id(22), id(number)));
      const body = await documentedBody('/v1/coupons/{id}/activate/', post, 'POST');
      expect(JSON.parse(body)).toMatchObject({ code: 'deal_gone', title: 'This deal is not active now' });
    }
  });

  test('a link whose deal has since ended or was removed from the catalogue redirects to the retailer, for bots too', async () => {
    let nowMs = NOW_MS;
    await using app = await ActivationNode.start({
      clock: () => nowMs,
      links: [
        { id: id(32), kind: 'deal', template: 'https://deal.example/?sub={click}' },
        { id: id(1), kind: 'retailer', template: NETWORK },
      ],
    });
    const endDate = printTimestamp(NOW_MS + 60_000);
    const ending = [31, 32].map((number) => promotion(number, { endDate }));
    await app.node.catalogue([retailer(1, { promotions: [...ending, promotion(33)] })]);
    const paths: string[] = [];
    for (const number of [31, 32, 33])
      paths.push(await app.prepare(`/v1/promotions/${id(number)}/activate/${app.query()}`));
    nowMs += 60_000;
    await app.node.catalogue([retailer(1, { promotions: ending, cashbackOffers: [offer(11)] })]);
    for (const path of paths) {
      const click = path.slice('/go/'.length, -1);
      const location = async (headers?: Record<string, string>) =>
        (await app.get(path, headers)).headers.get('Location');
      expect(await location({ 'User-Agent': 'WhatsApp/2.23.20.0' })).toBe('https://www.r1.example/');
      expect(await location()).toBe(
        NETWORK.replace('{click}', click).replace('{url}', encodeURIComponent('https://www.r1.example/')),
      );
    }
    expect((await app.clicks()).map((click) => [click.dealId, click.clickedAtMs])).toEqual(
      [31, 32, 33].map((number) => [id(number), nowMs]),
    );
  });

  test('a link whose retailer was removed from the catalogue gets 410, as an HTML page in browsers', async () => {
    await using app = await ActivationNode.start();
    const path = await app.prepare();
    await app.node.catalogue([retailer(2, { cashbackOffers: [offer(12)] })]);
    expect((await app.get(path)).status).toBe(410);
    const page = await app.get(path, { ...BROWSER, Accept: 'text/html,*/*;q=0.8' });
    expect(page.status).toBe(410);
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('<h1>This deal has ended</h1>');
  });

  test('above the limit per address and organisation, links redirect to the plain URL and POST gets 429', async () => {
    await using app = await ActivationNode.start({
      settings: { rateLimitActivation: 2, trustedProxies: ['127.0.0.1'] },
    });
    const { publicId } = await app.node.organisation('globex');
    await app.node.links();
    const location = async (address: string, with_: Record<string, string>) => {
      const headers = { ...BROWSER, 'X-Forwarded-For': address };
      const response = await app.get(app.coupon(with_), headers);
      return clickIn(response.headers.get('Location')) === '' ? response.headers.get('Location') : 'tracked';
    };
    const uid = (number: number) => ({ passbackUid: `user ${number}` });
    expect(await location('192.0.2.1', uid(1))).toBe('tracked');
    expect(await location('192.0.2.1', uid(2))).toBe('tracked');
    expect(await location('192.0.2.1', uid(3))).toBe('https://www.r1.example/');
    expect(await location('192.0.2.2', uid(4))).toBe('tracked');
    expect(await location('192.0.2.1', { ...uid(5), orgId: publicId })).toBe('tracked');
    // The addresses of a /64 share one limit.
    expect(await location('2001:db8::1', uid(7))).toBe('tracked');
    expect(await location('2001:db8::2', uid(8))).toBe('tracked');
    expect(await location('2001:db8::3', uid(9))).toBe('https://www.r1.example/');
    expect(await location('2001:db8:0:1::1', uid(10))).toBe('tracked');
    const post = async (address: string) => {
      const path = app.coupon(uid(6));
      const response = await app.send('POST', path, { 'X-Forwarded-For': address });
      const { status, headers } = response;
      const body = await documentedBody('/v1/coupons/{id}/activate/', response, 'POST');
      const { url, code } = JSON.parse(body) as { url?: string; code?: string };
      const limits = ['RateLimit-Policy', 'RateLimit', 'Retry-After'].map((name) =>
        headers.get(name)?.replace(/\d+$/, 's'),
      );
      return [status, code ?? url?.replace(/[^/]+\/$/, ''), ...limits];
    };
    const policy = '"activation";q=2;w=s';
    expect(await post('192.0.2.1')).toEqual([429, 'rate_limited', policy, '"activation";r=0;t=s', 's']);
    expect(await app.clicks()).toHaveLength(7);
    expect(await post('192.0.2.2')).toEqual([
      200,
      `${app.node.url}/go/`,
      policy,
      '"activation";r=0;t=s',
      undefined,
    ]);
    expect(await app.clicks()).toHaveLength(8);
  });

  test("once an organisation exceeds its limit, its links redirect every client to the plain URL; requests over an address's own limit do not count towards it", async () => {
    await using app = await ActivationNode.start({
      settings: { rateLimitActivation: 2, rateLimitActivationOrg: 4, trustedProxies: ['127.0.0.1'] },
    });
    const tracked: boolean[] = [];
    for (const address of ['1', '1', '1', '1', '2', '2', '3'])
      tracked.push(await app.isTracked(`192.0.2.${address}`));
    expect(tracked).toEqual([true, true, false, false, true, true, false]);
    const path = app.coupon({ passbackUid: 'another user' });
    const post = await app.send('POST', path, { 'X-Forwarded-For': '192.0.2.4' });
    expect([post.status, post.headers.get('RateLimit-Policy')]).toEqual([429, '"activation-org";q=4;w=60']);
    expect(await app.clicks()).toHaveLength(4);
  });

  test.each([
    ['IPv4 /24', (n: number) => `192.0.2.${n}`, '192.0.3.1'],
    ['IPv6 /48', (n: number) => `2001:db8:0:${n}::1`, '2001:db8:1::1'],
  ])('the addresses of one %s share five times the limit of an address', async (_, address, elsewhere) => {
    await using app = await ActivationNode.start({
      settings: { rateLimitActivation: 2, trustedProxies: ['127.0.0.1'] },
    });
    const tracked: boolean[] = [];
    for (let n = 1; n <= 12; n++) tracked.push(await app.isTracked(address(n)));
    expect(tracked).toEqual([...Array(10).fill(true), false, false]);
    expect(await app.isTracked(elsewhere)).toBe(true);
  });

  test("networks with many clicks cannot use up an organisation's limit", async () => {
    await using app = await ActivationNode.start({
      settings: { rateLimitActivation: 100, rateLimitActivationOrg: 200, trustedProxies: ['127.0.0.1'] },
    });
    const clicks = async (address: string, count: number) => {
      let tracked = 0;
      for (let n = 0; n < count; n++) if (await app.isTracked(address)) tracked += 1;
      return tracked;
    };
    expect(await clicks('192.0.2.1', 120)).toBe(100);
    // Ten clicks of a network are few. Three quarters of the limit, 150 clicks, are for networks with more clicks.
    expect(await clicks('198.51.100.1', 100)).toBe(70);
    expect(await clicks('203.0.113.1', 12)).toBe(10);
    expect(await clicks('2001:db8::1', 5)).toBe(5);
  });

  test('above the limit per address, links from POST redirect only while the click is in memory, and other links get 429', async () => {
    let nowMs = NOW_MS;
    const adminPort = await freePort();
    await using app = await ActivationNode.start({
      clock: () => nowMs,
      settings: { rateLimitActivation: 2, trustedProxies: ['127.0.0.1'], adminPort },
    });
    const link = (passbackUid: string) =>
      app.prepare(app.coupon({ passbackUid }), { 'X-Forwarded-For': `192.0.2.${passbackUid}` });
    const [first, second, third] = [await link('101'), await link('102'), await link('103')];
    const follow = async (path: string, address: string, more: Record<string, string> = {}) => {
      const response = await app.get(path, { ...BROWSER, 'X-Forwarded-For': address, ...more });
      const { status, headers } = response;
      const body = await response.text();
      if (!('Accept' in more)) expect(answerProblems('/go/{click}/', { status, headers, body })).toEqual([]);
      return { status, headers, body };
    };
    expect((await follow(first, '192.0.2.1')).status).toBe(302);
    expect((await follow(second, '192.0.2.1')).status).toBe(302);
    const refused = await follow(third, '192.0.2.1');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(refused.headers.get('RateLimit-Policy')).toBe('"links";q=2;w=60');
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'rate_limited' });
    const page = await follow(third, '192.0.2.1', { Accept: 'text/html' });
    expect([page.status, page.headers.get('Content-Type')]).toEqual([429, 'text/html; charset=utf-8']);
    expect(page.headers.get('Retry-After')).toMatch(/^\d+$/);
    // Followed links stay in memory for ten seconds.
    nowMs += 9_999;
    const again = await follow(first, '192.0.2.1');
    expect([again.status, clickIn(again.headers.get('Location'))]).toEqual([
      302,
      first.slice(4, -1) as ClickId,
    ]);
    nowMs += 1;
    expect((await follow(first, '192.0.2.1')).status).toBe(429);
    expect((await follow(third, '192.0.2.2')).status).toBe(302);
    // The addresses of a /64 share one limit.
    const [fourth, fifth, sixth] = [await link('104'), await link('105'), await link('106')];
    expect((await follow(fourth, '2001:db8::1')).status).toBe(302);
    expect((await follow(fifth, '2001:db8::2')).status).toBe(302);
    expect((await follow(sixth, '2001:db8::3')).status).toBe(429);
    // An invalid click id is neither looked up nor counted.
    expect((await follow('/go/0000000000000000000000/', '192.0.2.1')).status).toBe(404);
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    expect(metrics).toContain('\nofferbook_clicks_total{outcome="limited"} 4\n');
  });
});

describe('rejected activations', () => {
  test('an invalid parameter gets a JSON problem without the user id, or in browsers a page without the user id and technical terms', async () => {
    await using app = await ActivationNode.start();
    for (const [bad, parameter, detail] of [
      [{ passbackUid: '' }, 'passbackUid', 'must not be empty'],
      [{ passbackUid: 'x'.repeat(256) }, 'passbackUid', 'must not be longer than 255 characters'],
      [{ passbackUid: '日'.repeat(86) }, 'passbackUid', 'must not be longer than 255 bytes in UTF-8'],
      [{ passbackData: '😀'.repeat(257) }, 'passbackData', 'must not be longer than 1024 bytes in UTF-8'],
      [{ passbackUid: 'a\u0007b' }, 'passbackUid', 'must not contain control characters'],
      [{ passbackData: 'x'.repeat(1_025) }, 'passbackData', 'must not be longer than 1024 characters'],
      [{ passbackData: 'a\nb' }, 'passbackData', 'must not contain control characters'],
      [{ orgId: 'acme' }, 'orgId', 'must be a UUID'],
    ] as const) {
      const path = app.coupon(bad);
      for (const method of ['GET', 'POST']) {
        const response = await app.send(method, path);
        expect(response.status).toBe(400);
        const body = await documentedBody('/v1/coupons/{id}/activate/', response, method);
        expect(JSON.parse(body)).toMatchObject({
          code: 'invalid_parameter',
          errors: [{ parameter, detail }],
        });
        expect(body).not.toContain(USER);
      }
      const page = await app.get(path, { ...BROWSER, Accept: 'text/html' });
      expect(page.status).toBe(400);
      const html = await page.text();
      expect(html).toContain('<h1>This link is incomplete</h1>');
      for (const secret of [USER, parameter, detail, app.orgId]) expect(html).not.toContain(secret);
      expect(await app.clicks()).toEqual([]);
    }
  });

  test('invalid UTF-8 is rejected, so it cannot merge users; valid values are stored unchanged', async () => {
    await using app = await ActivationNode.start();
    const path = `/v1/coupons/${id(21)}/activate/?orgId=${app.orgId}`;
    const detail = 'must be valid UTF-8';
    for (const method of ['GET', 'POST']) {
      for (const bad of ['M%FCller', 'M%F6ller', '%ED%A0%80', '%C3', 'a%EF%BF%BDb']) {
        const response = await app.send(method, `${path}&passbackUid=${bad}&passbackData=${bad}`);
        expect([response.status, await response.json()]).toMatchObject([
          400,
          {
            code: 'invalid_parameter',
            errors: ['passbackUid', 'passbackData'].map((parameter) => ({ parameter, detail })),
          },
        ]);
      }
    }
    expect(await app.clicks()).toEqual([]);
    const passed = ['Müller', 'Möller', 'ab+c=', '😀'].map((user) => [user, user]);
    // Values of the maximum length.
    passed.push(['x'.repeat(255), 'x'.repeat(1_024)], ['日'.repeat(85), '日'.repeat(341)]);
    for (const [passbackUid = '', passbackData = ''] of passed)
      await app.get(`${path}&${new URLSearchParams({ passbackUid, passbackData })}`);
    expect((await app.clicks()).map((click) => [click.passbackUid, click.passbackData])).toEqual(passed);
  });

  test('parameters in a POST body are ignored, and the error asks for them in the query string', async () => {
    await using app = await ActivationNode.start();
    const path = `/v1/coupons/${id(21)}/activate/`;
    const post = async (search: string, body: string | null, type = 'application/json') => {
      const headers: Record<string, string> = body === null ? {} : { 'Content-Type': type };
      const response = await fetch(app.node.url + path + search, { method: 'POST', body, headers });
      return ((await response.json()) as { detail: string }).detail;
    };
    const missing = 'orgId is missing; passbackUid is missing.';
    const hint = 'Send the parameters in the query string; the body is ignored.';
    const json = JSON.stringify({ orgId: id(1), passbackUid: 'u' });
    expect([
      await post('', null),
      await post('', json),
      await post('', 'orgId=x&passbackUid=u', 'application/x-www-form-urlencoded'),
      await post('?passbackUid=u', json),
      await post('?passbackUid=u&orgId=x', json),
    ]).toEqual([
      missing,
      `${missing} ${hint}`,
      `${missing} ${hint}`,
      `orgId is missing. ${hint}`,
      `orgId must be a UUID. ${hint}`,
    ]);
  });

  test('an unknown organisation and an unknown deal get the same response, and all missing parameters are listed at once', async () => {
    await using app = await ActivationNode.start();
    const problem = await problemOf(await app.send('POST', `/v1/coupons/${id(99)}/activate/${app.query()}`));
    expect(problem).toMatchObject({ status: 404, code: 'deal_not_found' });
    for (const path of [
      app.coupon({ orgId: id(98) }),
      `/v1/retailers/${id(21)}/activate/${app.query()}`,
      `/v1/coupons/nonsense/activate/${app.query()}`,
      `/v1/coupons/activate/${app.query({ couponId: id(98) })}`,
    ]) {
      expect(await problemOf(await app.send('POST', path))).toEqual(problem);
      const page = await app.get(path, { ...BROWSER, Accept: 'text/html' });
      expect([page.status, await page.text()]).toEqual([
        404,
        expect.stringContaining('<h1>This link does not work</h1>'),
      ]);
    }
    const missing = await app.send('POST', '/v1/coupons/activate/');
    expect(await missing.json()).toMatchObject({
      code: 'invalid_parameter',
      detail: 'couponId is missing; orgId is missing; passbackUid is missing.',
    });
    for (const path of ['/go/nonsense/', '/go/0000000000000000000000/']) {
      expect((await app.get(path)).status).toBe(404);
    }
  });

  test('an unsupported method gets 405 with the allowed methods, as a JSON problem for every client', async () => {
    await using app = await ActivationNode.start();
    for (const [path, url, method, allow] of [
      ['/v1/coupons/{id}/activate/', app.coupon(), 'PUT', 'GET, HEAD, POST'],
      ['/go/{click}/', '/go/nonsense/', 'POST', 'GET, HEAD'],
    ] as const) {
      const response = await app.send(method, url, { Accept: 'text/html' });
      expect([response.status, response.headers.get('Allow')]).toEqual([405, allow]);
      // The document allows only JSON for this status.
      expect(JSON.parse(await documentedBody(path, response))).toMatchObject({ code: 'method_not_allowed' });
    }
  });

  test('activation paths get 404 if activation is off', async () => {
    await using node = await TestNode.start({ settings: { activation: 'off' } });
    for (const path of [`/v1/coupons/${id(21)}/activate/`, '/go/x/']) {
      expect(await (await node.get(path)).json()).toMatchObject({ status: 404, code: 'not_found' });
    }
  });
});

test('passback values never appear in the log or in URLs', async () => {
  await using app = await ActivationNode.start();
  const secrets = { passbackUid: 'zXq-personal-uid', passbackData: 'zXq-personal-data' };
  const urls: string[] = [];
  for (const path of [
    `/v1/coupons/${id(21)}/activate/`,
    '/v1/coupons/activate/',
    `/v1/coupons/${id(99)}/activate/`,
  ]) {
    for (const method of ['GET', 'POST', 'HEAD', 'PUT']) {
      const response = await app.send(method, `${path}${app.query({ ...secrets, couponId: id(21) })}`);
      urls.push(response.headers.get('Location') ?? '', await response.text());
    }
  }
  expect(await app.clicks()).not.toEqual([]);
  expect([...app.node.logLines, ...urls].filter((text) => text.includes('zXq'))).toEqual([]);
});
