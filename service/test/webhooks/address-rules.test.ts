import { describe, expect, test } from 'bun:test';
import { BadInput } from '@offerbook/wire/failures.ts';
import fc from 'fast-check';
import {
  type AddressClass,
  addressRules,
  classifyAddress,
  parseEndpointUrl,
} from '../../src/webhooks/address-rules.ts';

/** The first and the last address of each range that is not public, from IANA's special-purpose registries. */
const RANGES: Record<string, [AddressClass, string, string]> = {
  'this network': ['forbidden', '0.0.0.0', '0.255.255.255'],
  'private 10': ['private', '10.0.0.0', '10.255.255.255'],
  'shared address space': ['private', '100.64.0.0', '100.127.255.255'],
  loopback: ['sensitive', '127.0.0.0', '127.255.255.255'],
  'link-local': ['sensitive', '169.254.0.0', '169.254.255.255'],
  'private 172': ['private', '172.16.0.0', '172.31.255.255'],
  'protocol assignments': ['forbidden', '192.0.0.0', '192.0.0.255'],
  'documentation 1': ['forbidden', '192.0.2.0', '192.0.2.255'],
  '6to4 relays': ['forbidden', '192.88.99.0', '192.88.99.255'],
  'private 192.168': ['private', '192.168.0.0', '192.168.255.255'],
  benchmarking: ['forbidden', '198.18.0.0', '198.19.255.255'],
  'documentation 2': ['forbidden', '198.51.100.0', '198.51.100.255'],
  'documentation 3': ['forbidden', '203.0.113.0', '203.0.113.255'],
  multicast: ['forbidden', '224.0.0.0', '239.255.255.255'],
  reserved: ['forbidden', '240.0.0.0', '255.255.255.255'],
  'IPv6 unspecified': ['forbidden', '::', '::'],
  'IPv6 loopback': ['sensitive', '::1', '::1'],
  'IPv4-compatible': ['forbidden', '::2', '::ffff:ffff'],
  'translation 1': ['forbidden', '64:ff9b::', '64:ff9b::ffff:ffff'],
  'translation 2': ['forbidden', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  'discard only': ['forbidden', '100::', '100::ffff:ffff:ffff:ffff'],
  'protocol assignments and Teredo': ['forbidden', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'IPv6 documentation 1': ['forbidden', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  '6to4': ['forbidden', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'IPv6 documentation 2': ['forbidden', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'segment routing': ['forbidden', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'unique local': ['private', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'IPv6 link-local': ['sensitive', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'IPv6 site-local': ['forbidden', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'IPv6 multicast': ['forbidden', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
};

const PUBLIC = [
  ...'1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0'.split(' '),
  ...'169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255'.split(' '),
  ...'198.17.255.255 198.20.0.0 223.255.255.255 2600::1 2001:200:: 2a00:1450::1 3ffe::1'.split(' '),
];

describe('address classes', () => {
  test.each(Object.entries(RANGES))('%s', (_, [expected, first, last]) => {
    expect([classifyAddress(first), classifyAddress(last)]).toEqual([expected, expected]);
  });

  test('addresses next to these ranges are public', () => {
    expect(PUBLIC.filter((address) => classifyAddress(address) !== 'public')).toEqual([]);
  });

  test('the metadata addresses of cloud providers are sensitive', () => {
    const all = ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'];
    expect(all.filter((address) => classifyAddress(address) !== 'sensitive')).toEqual([]);
  });

  test('an IPv4 address that is mapped to IPv6 has the class of the IPv4 address', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte, byte), (bytes) => {
        const address = bytes.join('.');
        expect(classifyAddress(`::ffff:${address}`)).toBe(classifyAddress(address));
      }),
    );
  });

  test('text that is not an address in standard notation is forbidden', () => {
    const texts = '1.2.3 1.2.3.256 0x7f.0.0.1 2130706433 fe80::1%eth0 ::: 1::2::3 localhost'.split(' ');
    expect(['', ...texts].filter((text) => classifyAddress(text) !== 'forbidden')).toEqual([]);
  });
});

describe('allowed networks', () => {
  test('only public addresses are allowed by default', () => {
    const { isAllowed, isListed } = addressRules([]);
    const all = [...PUBLIC, ...Object.values(RANGES).flatMap(([, first, last]) => [first, last])];
    expect(all.filter(isAllowed)).toEqual(PUBLIC);
    expect(all.filter(isListed)).toEqual([]);
  });

  test('a range of all addresses allows private but no loopback, link-local or metadata addresses', () => {
    const { isAllowed } = addressRules(['0.0.0.0/0', '::/0']);
    const ranges = Object.entries(RANGES).filter(
      ([, [, first, last]]) => isAllowed(first) || isAllowed(last),
    );
    expect(ranges.map(([, [kind]]) => kind)).toEqual(ranges.map(() => 'private'));
    expect(ranges).toHaveLength(5);
    expect(['169.254.169.254', 'fd00:ec2::254', '100.100.100.200'].filter(isAllowed)).toEqual([]);
  });

  test('a loopback address is allowed if it is listed itself', () => {
    const { isAllowed } = addressRules(['127.0.0.1', '127.0.0.0/8', '::1/128']);
    const all = ['127.0.0.1', '::ffff:127.0.0.1', '127.0.0.2', '::1', '10.0.0.1', '0.0.0.0'];
    expect(all.filter(isAllowed)).toEqual(['127.0.0.1', '::ffff:127.0.0.1', '::1']);
  });

  test('rejects entries that are neither addresses nor ranges', () => {
    for (const entry of ['localhost', '10.0.0.0/33', '10.0.0/8', '::1/129', '/8', '10.0.0.0/'])
      expect(() => addressRules([entry])).toThrow(BadInput);
  });
});

describe('URLs of endpoints', () => {
  test('rejects URLs that can never be used', () => {
    const urls = [
      ...'partner.example ftp://partner.example/ https:// https://partner.example/#part'.split(' '),
      ...'https://user:password@partner.example/ https://user@partner.example/'.split(' '),
      ...'https://0.0.0.0/ https://[::]/ http://1.1.1.1/'.split(' '),
      `https://partner.example/${'a'.repeat(2_000)}`,
    ];
    for (const url of urls) expect(() => parseEndpointUrl(url)).toThrow(BadInput);
  });

  test('does not repeat a password in the message', () => {
    expect(() => parseEndpointUrl('https://user:hunter2@partner.example/')).toThrow(/^((?!hunter2).)*$/);
  });

  test('returns a URL in its normal form', () => {
    expect(parseEndpointUrl('https://Partner.example')).toBe('https://partner.example/');
  });
});
