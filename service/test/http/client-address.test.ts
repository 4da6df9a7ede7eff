// What proxies say of a request, the address that limits count against and the scheme of links, with proxies that are
// trusted and callers that lie.

import { describe, expect, test } from 'bun:test';
import type { ServeSettings } from '../../src/config.ts';
import { clientReader, networkOf } from '../../src/http/access/client-address.ts';
import { coupon, retailer } from '../support/fixtures.ts';
import { lacks } from '../support/programs.ts';
import { PROXIES, ReverseProxy } from '../support/reverse-proxy.ts';
import { TestNode } from '../support/test-node.ts';

const CALLER = '203.0.113.5';
const PROXY = '10.0.0.1';

describe('X-Forwarded-For', () => {
  const readClient = clientReader(['10.0.0.0/8', '2001:db8:ffff::/48']);

  test.each([
    ['nobody is believed who is not a proxy', CALLER, '198.51.100.1', CALLER],
    ['a proxy that says nothing is the caller', PROXY, null, PROXY],
    ['the entry that our proxy added is the caller', PROXY, CALLER, CALLER],
    [
      'what the caller sent stands before it and is worth nothing',
      PROXY,
      `6.6.6.6, 7.7.7.7, ${CALLER}`,
      CALLER,
    ],
    ['through two proxies of ours', PROXY, `6.6.6.6, ${CALLER}, 10.0.0.2`, CALLER],
    ['a caller who claims to be a proxy', PROXY, `6.6.6.6, 10.9.9.9, ${CALLER}`, CALLER],
    ['only proxies: the farthest of them', PROXY, '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    [
      'more proxies than anybody has: what stands before them is worth nothing',
      PROXY,
      `${CALLER}, ${Array.from({ length: 5_000 }, (_, n) => `10.0.${n >> 8}.${n & 255}`).join(', ')}`,
      '10.0.19.104',
    ],
    ['with a port', PROXY, `6.6.6.6, ${CALLER}:4711`, CALLER],
    ['IPv6 with a port', PROXY, '6.6.6.6, [2001:db8::5]:4711', '2001:db8::5'],
    ['IPv6', PROXY, '6.6.6.6, 2001:db8::5', '2001:db8::5'],
    ['an IPv6 proxy', '2001:db8:ffff::1', `6.6.6.6, ${CALLER}`, CALLER],
    ['a dual-stack socket', `::ffff:${PROXY}`, `6.6.6.6, ::FFFF:${CALLER}`, CALLER],
    ['an unreadable entry is not skipped in favour of an invention', PROXY, '6.6.6.6, unknown', PROXY],
    ['nor one behind a second proxy', PROXY, '6.6.6.6, _hidden, 10.0.0.2', '10.0.0.2'],
    ['an empty entry', PROXY, '6.6.6.6, ', PROXY],
    ['an empty header', PROXY, '', PROXY],
    ['an address with leading zeros', PROXY, '6.6.6.6, 203.000.113.005', PROXY],
  ])('%s', (_, socket, forwardedFor, expected) => {
    const headers = new Headers(forwardedFor === null ? {} : { 'X-Forwarded-For': forwardedFor });
    expect(readClient(socket, headers).address).toBe(expected);
  });

  test('without trusted proxies the socket counts, whatever the header says', () => {
    const headers = new Headers({ 'X-Forwarded-For': CALLER });
    expect(clientReader([])(PROXY, headers)).toEqual({ address: PROXY });
  });

  test('header lines after one another are one list', async () => {
    await using node = await TestNode.start({ settings: { trustedProxies: ['127.0.0.0/8'] } });
    const { hostname, port } = new URL(node.url);
    const lines = ['6.6.6.6', `7.7.7.7, ${CALLER}`].map((value) => `X-Forwarded-For: ${value}\r\n`);
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data: (it) => void it.end() },
    });
    socket.write(`GET /livez HTTP/1.1\r\nHost: x\r\nRequest-Id: two-lines\r\n${lines.join('')}\r\n`);
    expect(await node.logged((line) => line.requestId === 'two-lines')).toMatchObject({ address: CALLER });
  });
});

describe('X-Forwarded-Proto', () => {
  /** The next link and the type of a problem, which have to lead to where the caller came from. */
  async function links(settings: Partial<ServeSettings>, headers: Record<string, string>) {
    await using node = await TestNode.start({ settings: { pageSize: 1, ...settings } });
    await node.catalogue([retailer(1, { coupons: [coupon(21), coupon(22)] })]);
    const named = { Host: 'api.example:8443', ...headers };
    const page = await node.get('/v1/coupons/', await node.token('public'), named);
    const { type } = (await (await node.get('/nowhere', undefined, named)).json()) as { type: string };
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(page.headers.get('Link') ?? '') ?? [];
    return { next: next.replace(/\/v1.*/, ''), type: type.replace(/\/errors.*/, '') };
  }
  const both = (origin: string) => ({ next: origin, type: origin });
  const OURS = { trustedProxies: ['127.0.0.0/8'] };

  test.each([
    ['https', 'https'],
    ['http', 'http'],
    ['HTTPS', 'https'],
    ['what the caller sent stands before it and is worth nothing: http, https', 'https'],
    ['what is neither is worth nothing: javascript', 'http'],
    ['nor is an empty one: ', 'http'],
  ])('from a trusted proxy, links have the scheme that it names: %s', async (text, scheme) => {
    const headers = { 'X-Forwarded-Proto': text.replace(/^.*: /, '') };
    expect(await links(OURS, headers)).toEqual(both(`${scheme}://api.example:8443`));
  });

  test('links have the scheme of the socket when a trusted proxy names none', async () => {
    expect(await links(OURS, {})).toEqual(both('http://api.example:8443'));
  });

  test('from anybody else it is worth nothing', async () => {
    const headers = { 'X-Forwarded-Proto': 'https' };
    expect(await links({}, headers)).toEqual(both('http://api.example:8443'));
    expect(await links({ trustedProxies: ['10.0.0.0/8'] }, headers)).toEqual(both('http://api.example:8443'));
  });

  for (const name of PROXIES) {
    test.skipIf(lacks(name))(`links lead back through ${name} as configured in the docs`, async () => {
      await using node = await TestNode.start({ settings: OURS });
      await using proxy = await ReverseProxy.start(name, [node.url]);
      const answer = await fetch(`${proxy.url}/nowhere`, { headers: { 'X-Forwarded-Proto': 'https' } });
      expect(await answer.json()).toMatchObject({ type: `${proxy.url}/errors/not_found` });
    });
  }

  test('the public URL wins', async () => {
    const settings = { ...OURS, publicUrl: 'http://public.example' };
    expect(await links(settings, { 'X-Forwarded-Proto': 'https' })).toEqual(both('http://public.example'));
  });
});

test.each([
  ['203.0.113.5', '203.0.113.5'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s shares its limit with %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
