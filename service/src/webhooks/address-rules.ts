// Decides which addresses webhooks may be sent to. An endpoint's owner chooses the URL and controls its DNS, so a webhook must
// not reach the operator's own network (server-side request forgery).
//
// Every address that is not globally reachable is forbidden (IANA's special-purpose registries, RFC 6890). The setting
// --webhook-networks allows private ranges; loopback, link-local and metadata addresses have to be listed one by one.

import { BadInput } from '@offerbook/wire/failures.ts';

/** An IPv4 or IPv6 network. IPv4 addresses that are mapped to IPv6 are treated as IPv4. */
interface Network {
  readonly family: 4 | 6;
  readonly address: bigint;
  readonly bits: number;
}

type Address = Pick<Network, 'family' | 'address'>;

const V4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;
const MAPPED = 0xffffn;

/** Allowed if a listed network contains the address. */
const PRIVATE = networks(...['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16'], 'fc00::/7');

/** Allowed only if the address itself is listed. Cloud providers serve credentials at the metadata addresses. */
const SENSITIVE = networks(
  ...['127.0.0.0/8', '169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ...['::1/128', 'fe80::/10', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
);

const NEVER = networks(
  ...['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
);

/** All other IPv6 addresses are local, multicast, translated or reserved. */
const GLOBAL_UNICAST = networks('2000::/3');

export type AddressClass = 'public' | 'private' | 'sensitive' | 'forbidden';

export function classifyAddress(text: string): AddressClass {
  const address = parseAddress(text);
  if (address === undefined) return 'forbidden';
  if (contain(SENSITIVE, address)) return 'sensitive';
  if (contain(PRIVATE, address)) return 'private';
  if (contain(NEVER, address)) return 'forbidden';
  return address.family === 4 || contain(GLOBAL_UNICAST, address) ? 'public' : 'forbidden';
}

export type AddressRules = ReturnType<typeof addressRules>;

/** `allowed` lists addresses and CIDR ranges. Throws BadInput if an entry is neither. */
export function addressRules(allowed: readonly string[]) {
  const listed = allowed.map((text) => {
    const network = parseNetwork(text);
    if (network === undefined)
      throw new BadInput(`must list addresses or CIDR ranges such as 10.0.0.0/8; "${text}" is neither`);
    return network;
  });
  const single = listed.filter(({ family, bits }) => bits === widthOf(family));

  /** True if the operator has listed the address. Such an endpoint may also use HTTP without TLS. */
  function isListed(text: string): boolean {
    const address = parseAddress(text);
    const kind = classifyAddress(text);
    if (address === undefined || kind === 'forbidden') return false;
    return contain(kind === 'sensitive' ? single : listed, address);
  }

  return { isListed, isAllowed: (text: string) => classifyAddress(text) === 'public' || isListed(text) };
}

function networks(...texts: readonly string[]): readonly Network[] {
  return texts.map((text) => {
    const network = parseNetwork(text);
    if (network === undefined) throw new Error(`${text} is not a network`);
    return network;
  });
}

function contain(list: readonly Network[], { family, address }: Address): boolean {
  return list.some((network) => {
    if (network.family !== family) return false;
    const shift = BigInt(widthOf(family) - network.bits);
    return address >> shift === network.address >> shift;
  });
}

function widthOf(family: 4 | 6): 32 | 128 {
  return family === 4 ? 32 : 128;
}

function parseNetwork(text: string): Network | undefined {
  const [, start = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(start);
  if (address === undefined) return undefined;
  const bits = prefix === undefined ? widthOf(address.family) : Number(prefix);
  return bits <= widthOf(address.family) ? { ...address, bits } : undefined;
}

/**
 * Accepts only the standard notations. They are enough: resolvers return addresses in them, and URL parsers convert other
 * notations, such as `0x7f.1`, to them.
 */
function parseAddress(text: string): Address | undefined {
  const bytes = V4.exec(text)?.slice(1).map(Number);
  if (bytes !== undefined)
    return bytes.every((byte) => byte <= 255) ? { family: 4, address: joined(bytes, 8n) } : undefined;
  // The URL parser validates the address and converts an IPv4 address at the end to hexadecimal.
  const host = text.includes(':') ? URL.parse(`http://[${text}]`)?.hostname : undefined;
  if (host === undefined) return undefined;
  const [head = '', tail] = host.slice(1, -1).split('::');
  const [before, after] = [head, tail ?? ''].map((part) =>
    part.split(':').filter((group) => group !== ''),
  ) as [string[], string[]];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const groups = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
  const address = joined(groups, 16n);
  return address >> 32n === MAPPED ? { family: 4, address: address & 0xffffffffn } : { family: 6, address };
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);
}
