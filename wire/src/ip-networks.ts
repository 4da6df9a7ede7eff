// IP networks in CIDR notation, such as 10.0.0.0/8. IPv4 addresses that are mapped to IPv6 are treated as IPv4.

import { BadInput } from './failures.ts';

/** node:net is loaded on first use, because loading it slows down every command. */
const net = () => process.getBuiltinModule('node:net');

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const family = address.includes('%') ? 0 : net().isIP(address);
  return family === 0 ? undefined : family === 6 ? 'ipv6' : 'ipv4';
}

/** False for an address with a zone, such as fe80::1%eth0. */
export function isIpAddress(text: string): boolean {
  return familyOf(text) !== undefined;
}

export class IpNetworks {
  #list: InstanceType<typeof import('node:net').BlockList> | undefined;

  /** Throws BadInput if an entry is neither an address nor a CIDR range. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
      const family = familyOf(address);
      const bitsMax = family === 'ipv6' ? 128 : 32;
      const bits = prefix === undefined ? bitsMax : Number(prefix);
      if (family === undefined || bits > bitsMax)
        throw new BadInput(`must list addresses or CIDR ranges such as 10.0.0.0/8; "${entry}" is neither`);
      this.#list ??= new (net().BlockList)();
      this.#list.addSubnet(address, bits, family);
    }
  }

  /** Returns false if the text is not an address. */
  has(address: string): boolean {
    if (this.#list === undefined) return false;
    const family = familyOf(address);
    return family !== undefined && this.#list.check(address, family);
  }
}
