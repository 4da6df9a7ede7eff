// Determines the client's address, scheme and trace. Forwarding headers are read only if the socket's peer is one of the
// operator's proxies. The client's address is then the last entry of X-Forwarded-For that is not a proxy; entries before it
// may be forged.

import { IpNetworks, isIpAddress } from '@offerbook/wire/ip-networks.ts';
import { parseTraceParent } from '../../tracing/tracer.ts';

/** Maximum length of a proxy chain. Checking thousands of forged entries would take milliseconds. */
const PROXIES_MAX = 32;

/** Throws BadInput if an entry is neither an address nor a CIDR range. */
export function clientReader(trustedProxies: readonly string[]) {
  const proxies = new IpNetworks(trustedProxies);
  return (socketAddress: string, headers: Headers) => {
    const address = withoutMapping(socketAddress);
    if (!proxies.has(address)) return { address };
    return {
      address: addressBehind(address, headers.get('X-Forwarded-For') ?? '', proxies),
      /** The scheme that the client used. */
      scheme: parseScheme(headers.get('X-Forwarded-Proto') ?? ''),
      trace: parseTraceParent(headers.get('traceparent') ?? ''),
    };
  };
}

function addressBehind(proxy: string, forwardedFor: string, proxies: IpNetworks): string {
  let nearest = proxy;
  for (const entry of forwardedFor.split(',').slice(-PROXIES_MAX).reverse()) {
    const address = withoutMapping(withoutPort(entry.trim()));
    // Skipping an invalid entry would trust the entry before it, which the client may have forged.
    if (!isIpAddress(address)) return nearest;
    nearest = address;
    if (!proxies.has(address)) return nearest;
  }
  return nearest;
}

/** Uses the last entry, because earlier ones may come from the client. */
function parseScheme(text: string): 'http' | 'https' | undefined {
  const scheme = text.split(',').at(-1)?.trim().toLowerCase();
  return scheme === 'https' || scheme === 'http' ? scheme : undefined;
}

/** Returns the rate-limit key: an IPv4 address, or the /64 network of an IPv6 address, which one household usually has. */
export function ipNetworkOf(address: string): string {
  return address.includes(':') ? `${ipv6Groups(address, 4)}::/64` : address;
}

/** Returns the network that one operator assigns as a whole: the /24 of an IPv4 address, or the /48 of an IPv6 address. */
export function siteOf(address: string): string {
  if (address.includes(':')) return `${ipv6Groups(address, 3)}::/48`;
  return `${address.slice(0, address.lastIndexOf('.'))}.0/24`;
}

/** Returns the first groups of an IPv6 address in their shortest form. */
function ipv6Groups(address: string, count: number): string {
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail?.split(':') ?? [];
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, count);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

/** Converts `::ffff:192.0.2.1`, as reported by dual-stack sockets, to 192.0.2.1. */
function withoutMapping(address: string): string {
  return address.startsWith(':') && /^::ffff:[\d.]+$/i.test(address)
    ? address.slice('::ffff:'.length)
    : address;
}

/** Removes the port that some proxies add, as in `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}
