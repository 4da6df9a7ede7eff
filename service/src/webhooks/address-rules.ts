// Decides which addresses webhooks may be sent to. An endpoint's owner chooses the URL and controls its DNS, so a webhook must
// not reach the operator's own network (server-side request forgery).
//
// Every address that is not globally reachable is forbidden (IANA's special-purpose registries, RFC 6890). The setting
// --webhook-networks allows private ranges; loopback, link-local and metadata addresses have to be listed one by one.

import { BadInput } from '@offerbook/wire/failures.ts';
import { IpNetworks } from '@offerbook/wire/ip-networks.ts';

let known: ReturnType<typeof buildRanges> | undefined;

function buildRanges() {
  return {
    /** Allowed if a listed network contains the address. */
    ofPrivate: new IpNetworks([
      ...['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16'],
      'fc00::/7',
    ]),
    /** Allowed only if the address itself is listed. Cloud providers serve credentials at the metadata addresses. */
    sensitive: new IpNetworks([
      ...['127.0.0.0/8', '169.254.0.0/16', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
      ...['::1', 'fe80::/10', 'fd00:ec2::254', 'fd20:ce::254'],
    ]),
    never: new IpNetworks([
      ...['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24'],
      ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
      ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
    ]),
    /** All other IPv6 addresses are local, multicast, translated or reserved. */
    unicast: new IpNetworks(['0.0.0.0/0', '2000::/3']),
  };
}

export type AddressClass = 'public' | 'private' | 'sensitive' | 'forbidden';

/** Text that is not an address in standard notation is forbidden. URL parsers convert other notations, such as `0x7f.1`. */
export function classifyAddress(address: string): AddressClass {
  known ??= buildRanges();
  if (known.sensitive.has(address)) return 'sensitive';
  if (known.ofPrivate.has(address)) return 'private';
  return known.unicast.has(address) && !known.never.has(address) ? 'public' : 'forbidden';
}

export type AddressRules = ReturnType<typeof addressRules>;

/** `allowed` lists addresses and CIDR ranges. Throws BadInput if an entry is neither. */
export function addressRules(allowed: readonly string[]) {
  const listed = new IpNetworks(allowed);
  const single = new IpNetworks(
    allowed.filter((entry) => (entry.includes(':') ? /^[^/]+(\/128)?$/ : /^[^/]+(\/32)?$/).test(entry)),
  );

  /** True if the operator has listed the address. Such an endpoint may also use HTTP without TLS. */
  function isListed(address: string): boolean {
    const kind = classifyAddress(address);
    return kind !== 'forbidden' && (kind === 'sensitive' ? single : listed).has(address);
  }

  return {
    isListed,
    isAllowed: (address: string) => classifyAddress(address) === 'public' || isListed(address),
  };
}

const URL_LENGTH_MAX = 2_000;

/**
 * Checks the URL of an endpoint when an operator registers it, and returns its normal form. Throws BadInput. Addresses are checked
 * again at every attempt, because DNS can change.
 */
export function parseEndpointUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new BadInput('--url must be a URL such as https://partner.example/offerbook');
  if (text.length > URL_LENGTH_MAX) throw new BadInput(`--url must be at most ${URL_LENGTH_MAX} characters`);
  if (url.username !== '' || url.password !== '')
    throw new BadInput(
      '--url must not contain a user name or a password; webhooks are authenticated by their signature',
    );
  if (url.hash !== '') throw new BadInput('--url must not contain a fragment (#…)');
  const address = literalAddress(url);
  if (address !== undefined && classifyAddress(address) === 'forbidden')
    throw new BadInput(`--url has the address ${address}, which webhooks are never sent to`);
  if (url.protocol === 'http:' && address !== undefined && classifyAddress(address) === 'public')
    throw new BadInput('--url must use https; http is only for addresses in --webhook-networks');
  return url.href;
}

/** Returns the address if the host of the URL is one; undefined for a name. The URL parser has converted odd notations. */
export function literalAddress({ hostname }: URL): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^[\d.]+$/.test(hostname) ? hostname : undefined;
}
