// Ranges of addresses that are not public, from IANA's special-purpose registries.

import type { AddressClass } from '../../src/webhooks/address-rules.ts';

/** The first and the last address of each range. */
export const RANGES: Record<string, [AddressClass, string, string]> = {
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
