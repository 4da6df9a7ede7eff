// What is believed of the headers of proxies. The address that a request counts against is the socket's, or, when that is
// one of the operator's proxies, the last address in X-Forwarded-For that is not a proxy. Anybody else's headers are worth
// nothing, and so is whatever stands left of the first entry that no proxy of ours can have written.

import { BadInput } from '@offerbook/wire/failures.ts';
import { parseTraceParent, type TraceParent } from '../../tracing/traceparent.ts';

interface Client {
  readonly address: string;
  /** The scheme under which the caller reached a proxy of ours, if that names one. */
  readonly scheme?: 'http' | 'https' | undefined;
  /** The trace that a proxy of ours says the request is part of. */
  readonly trace?: TraceParent | undefined;
}

/** So many proxies of ours may stand one behind the other. To look up thousands of made-up ones would take milliseconds. */
const PROXIES_MAX = 32;

type IsProxy = (address: string) => boolean;

/** Loaded by those who have proxies: it would take a tenth of the start of every command. */
const net = () => process.getBuiltinModule('node:net');

function proxyTest(trustedProxies: readonly string[]): IsProxy {
  if (trustedProxies.length === 0) return () => false;
  const { BlockList, isIP } = net();
  const proxies = new BlockList();
  for (const range of trustedProxies) {
    const [address = '', prefix] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const bitsMax = family === 'ipv6' ? 128 : 32;
    const bits = prefix === undefined ? bitsMax : Number(prefix);
    if (isIP(address) === 0 || !/^\d{1,3}$/.test(prefix ?? '0') || bits > bitsMax) {
      throw new BadInput(`must list addresses or CIDR ranges such as 10.0.0.0/8; "${range}" is neither`);
    }
    proxies.addSubnet(address, bits, family);
  }
  return (address) => isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Takes a list of addresses and CIDR ranges; throws BadInput when one is neither. */
export function clientReader(trustedProxies: readonly string[]) {
  const isProxy = proxyTest(trustedProxies);
  return (socketAddress: string, headers: Headers): Client => {
    const address = withoutMapping(socketAddress);
    if (!isProxy(address)) return { address };
    return {
      address: addressBehind(address, headers.get('X-Forwarded-For') ?? '', isProxy),
      scheme: parseScheme(headers.get('X-Forwarded-Proto') ?? ''),
      trace: parseTraceParent(headers.get('traceparent') ?? ''),
    };
  };
}

function addressBehind(proxy: string, forwardedFor: string, isProxy: IsProxy): string {
  let nearest = proxy;
  for (const entry of forwardedFor.split(',').slice(-PROXIES_MAX).reverse()) {
    const address = withoutMapping(withoutPort(entry.trim()));
    // Skipping what cannot be read would believe the entry before it, which may be the caller's own invention.
    if (net().isIP(address) === 0) return nearest;
    nearest = address;
    if (!isProxy(address)) return nearest;
  }
  return nearest;
}

/** The last entry counts: what a caller sent stands before it. */
function parseScheme(text: string): 'http' | 'https' | undefined {
  const scheme = text
    .slice(text.lastIndexOf(',') + 1)
    .trim()
    .toLowerCase();
  return scheme === 'https' || scheme === 'http' ? scheme : undefined;
}

/**
 * Who shares one limit: an IPv4 address, or the /64 network of an IPv6 address. Every household has a /64, so a
 * limit for each address in it would be no limit.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail?.split(':') ?? [];
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** `::ffff:192.0.2.1` is how a dual-stack socket shows 192.0.2.1. */
function withoutMapping(address: string): string {
  return /^::ffff:[\d.]+$/i.test(address) ? address.slice('::ffff:'.length) : address;
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}
