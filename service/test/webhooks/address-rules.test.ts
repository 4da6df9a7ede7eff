import { describe, expect, test } from 'bun:test';
import { BadInput } from '@offerbook/wire/failures.ts';
import fc from 'fast-check';
import { addressRules, classifyAddress } from '../../src/webhooks/address-rules.ts';
import { literalAddress, parseEndpointUrl } from '../../src/webhooks/endpoint-url.ts';
import { RANGES } from './special-ranges.ts';

const PUBLIC = [
  ...[
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255'],
  ...['198.17.255.255', '198.20.0.0', '223.255.255.255', '2600::1', '2001:200::', '2a00:1450::1', '3ffe::1'],
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
    const texts = [
      '',
      'localhost',
      '1.2.3',
      '1.2.3.256',
      '0x7f.0.0.1',
      '2130706433',
      'fe80::1%eth0',
      ':::',
      '1::2::3',
    ];
    expect(texts.filter((text) => classifyAddress(text) !== 'forbidden')).toEqual([]);
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
  test('odd notations of an address are converted before the address is checked', () => {
    const hosts = [
      '127.1',
      '0x7f.1',
      '0177.0.0.1',
      '2130706433',
      '127.0.0.1.',
      '①②⑦.0.0.1',
      '[::ffff:127.0.0.1]',
      '[0:0::1]',
    ];
    const addresses = hosts.map((host) => literalAddress(new URL(`https://${host}/`)) ?? '');
    expect(addresses.map(classifyAddress)).toEqual(hosts.map(() => 'sensitive'));
  });

  test('rejects URLs that can never be used', () => {
    const urls = [
      ...['partner.example', 'ftp://partner.example/', 'https://', 'https://user:password@partner.example/'],
      ...[
        'https://user@partner.example/',
        'https://partner.example/#part',
        'https://0.0.0.0/',
        'https://[::]/',
      ],
      ...['http://1.1.1.1/', `https://partner.example/${'a'.repeat(2_000)}`],
    ];
    for (const url of urls) expect(() => parseEndpointUrl(url)).toThrow(BadInput);
  });

  test('does not repeat a password in the message', () => {
    expect(() => parseEndpointUrl('https://user:hunter2@partner.example/')).toThrow(/^((?!hunter2).)*$/);
  });

  test('returns the normal form', () => {
    expect(parseEndpointUrl('https://Partner.example')).toBe('https://partner.example/');
  });
});
