// Headers of proxies: the client address, which rate limits count, and the scheme of links, with trusted proxies and with
// clients that forge the headers.

import { describe, expect, test } from 'bun:test';
import type { ServeSettings } from '../../src/config.ts';
import { clientReader, ipNetworkOf, siteOf } from '../../src/http/access/client-address.ts';
import { coupon, retailer } from '../support/fixtures.ts';
import { lacks } from '../support/programs.ts';
import { rawRequest } from '../support/raw-request.ts';
import { PROXIES, startProxy } from '../support/reverse-proxy.ts';
import { TestNode } from '../support/test-node.ts';

const CALLER = '203.0.113.5';
const PROXY = '10.0.0.1';

describe('X-Forwarded-For', () => {
  const readClient = clientReader(['10.0.0.0/8', '2001:db8:ffff::/48']);

  test.each([
    ['is ignored unless it comes from a proxy', CALLER, '198.51.100.1', CALLER],
    ['may be missing, and the proxy is then the client', PROXY, null, PROXY],
    ['ends with the client, added by our proxy', PROXY, CALLER, CALLER],
    ['may start with forged entries, which are ignored', PROXY, `6.6.6.6, 7.7.7.7, ${CALLER}`, CALLER],
    ['may contain two trusted proxies', PROXY, `6.6.6.6, ${CALLER}, 10.0.0.2`, CALLER],
    ['may contain a forged entry in the range of the proxies', PROXY, `6.6.6.6, 10.9.9.9, ${CALLER}`, CALLER],
    ['that lists only proxies yields the farthest proxy', PROXY, '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    [
      'with an excessive number of proxies is not read to its start',
      PROXY,
      `${CALLER}, ${Array.from({ length: 5_000 }, (_, n) => `10.0.${n >> 8}.${n & 255}`).join(', ')}`,
      '10.0.19.104',
    ],
    ['may contain a port', PROXY, `6.6.6.6, ${CALLER}:4711`, CALLER],
    ['may contain an IPv6 address with a port', PROXY, '6.6.6.6, [2001:db8::5]:4711', '2001:db8::5'],
    ['may contain an IPv6 address', PROXY, '6.6.6.6, 2001:db8::5', '2001:db8::5'],
    ['may come from an IPv6 proxy', '2001:db8:ffff::1', `6.6.6.6, ${CALLER}`, CALLER],
    ['may contain IPv4-mapped IPv6 addresses', `::ffff:${PROXY}`, `6.6.6.6, ::FFFF:${CALLER}`, CALLER],
    ['is not read beyond an invalid entry, which a forged one may precede', PROXY, '6.6.6.6, unknown', PROXY],
    [
      'is not read beyond an invalid entry before a second proxy',
      PROXY,
      '6.6.6.6, _hidden, 10.0.0.2',
      '10.0.0.2',
    ],
    ['may end with an empty entry', PROXY, '6.6.6.6, ', PROXY],
    ['may be empty', PROXY, '', PROXY],
    ['is not read beyond an address with leading zeros', PROXY, '6.6.6.6, 203.000.113.005', PROXY],
  ])('%s', (_, socket, forwardedFor, expected) => {
    const headers = new Headers(forwardedFor === null ? {} : { 'X-Forwarded-For': forwardedFor });
    expect(readClient(socket, headers).address).toBe(expected);
  });

  test('X-Forwarded-For is ignored if no proxy is trusted', () => {
    const headers = new Headers({ 'X-Forwarded-For': CALLER });
    expect(clientReader([])(PROXY, headers)).toEqual({ address: PROXY });
  });

  test('X-Forwarded-For may be split into several header lines', async () => {
    await using node = await TestNode.start({ settings: { trustedProxies: ['127.0.0.0/8'] } });
    const lines = ['6.6.6.6', `7.7.7.7, ${CALLER}`].map((value) => `X-Forwarded-For: ${value}\r\n`);
    const head = `GET /livez HTTP/1.1\r\nHost: x\r\nRequest-Id: two-lines\r\n`;
    await rawRequest(node.url, `${head}${lines.join('')}\r\n`);
    expect(await node.logged((line) => line.requestId === 'two-lines')).toMatchObject({ address: CALLER });
  });
});

describe('X-Forwarded-Proto', () => {
  /** Returns the next link and the type of a problem. Both must use the client's own URL. */
  async function links(settings: Partial<ServeSettings>, headers: Record<string, string>) {
    await using node = await TestNode.start({ settings: { pageSize: 1, ...settings } });
    await node.catalogue([retailer(1, { coupons: [coupon(21), coupon(22)] })]);
    const named = { Host: 'api.example:8443', ...headers };
    const page = await node.get('/v1/coupons/', await node.token('public'), named);
    const { type } = (await (await node.get('/nowhere', undefined, named)).json()) as { type: string };
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(page.headers.get('Link') ?? '') ?? [];
    return { next: next.replace(/\/v1.*/, ''), type: type.replace(/\/errors.*/, '') };
  }
  const OURS = { trustedProxies: ['127.0.0.0/8'] };

  const API = '//api.example:8443';
  const PUBLIC = { ...OURS, publicUrl: 'http://public.example' };
  test.each<[string, Partial<ServeSettings>, string | undefined, string]>([
    ['may be https', OURS, 'https', `https:${API}`],
    ['may be http', OURS, 'http', `http:${API}`],
    ['may be in capital letters', OURS, 'HTTPS', `https:${API}`],
    ['counts only with its last entry', OURS, 'http, https', `https:${API}`],
    ['is ignored if the scheme is a different one', OURS, 'javascript', `http:${API}`],
    ['is ignored if it is empty', OURS, '', `http:${API}`],
    ['may be missing', OURS, undefined, `http:${API}`],
    ['is ignored if no proxy is trusted', {}, 'https', `http:${API}`],
    ['is ignored from other clients', { trustedProxies: ['10.0.0.0/8'] }, 'https', `http:${API}`],
    ['is ignored if a public URL is configured', PUBLIC, 'https', 'http://public.example'],
  ])('X-Forwarded-Proto %s', async (_, settings, sent, origin) => {
    const headers: Record<string, string> = sent === undefined ? {} : { 'X-Forwarded-Proto': sent };
    expect(await links(settings, headers)).toEqual({ next: origin, type: origin });
  });

  for (const name of PROXIES) {
    test.skipIf(lacks(name))(`makes links work through ${name} as configured in the docs`, async () => {
      await using node = await TestNode.start({ settings: OURS });
      await using proxy = await startProxy(name, [node.url]);
      const answer = await fetch(`${proxy.url}/nowhere`, { headers: { 'X-Forwarded-Proto': 'https' } });
      expect(await answer.json()).toMatchObject({ type: `${proxy.url}/errors/not_found` });
    });
  }
});

test.each([
  ['203.0.113.5', '203.0.113.5', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['2001:db8:0:0:1::', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['::1', '0:0:0:0::/64', '0:0:0::/48'],
  ['::', '0:0:0:0::/64', '0:0:0::/48'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
])('%s shares its rate limits with %s and %s', (address, network, site) => {
  expect([ipNetworkOf(address), siteOf(address)]).toEqual([network, site]);
});
