// The address that a request counts against: the socket's, or, when that is one of the operator's proxies,
// the last address in X-Forwarded-For that is not a proxy. Anybody else's X-Forwarded-For is worth nothing.

import { BlockList, isIP } from 'node:net';
import { BadInput } from '../domain/errors.ts';

export type AddressOf = (socketAddress: string, forwardedFor: string | null) => string;

/** Takes a list of addresses and CIDR ranges; throws BadInput when one is neither. */
export function clientAddress(trustedProxies: readonly string[]): AddressOf {
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
  const isProxy = (address: string) =>
    isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return (socketAddress, forwardedFor) => {
    const own = withoutMapping(socketAddress);
    if (trustedProxies.length === 0 || forwardedFor === null || !isProxy(own)) return own;
    const chain = forwardedFor.split(',').map((address) => withoutMapping(address.trim()));
    return chain.findLast((address) => isIP(address) !== 0 && !isProxy(address)) ?? own;
  };
}

/** `::ffff:192.0.2.1` is how a dual-stack socket shows 192.0.2.1. */
function withoutMapping(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
