// Checks the URL of an endpoint when an operator registers it. Addresses are checked at every attempt, because DNS can change.

import { BadInput } from '@offerbook/wire/failures.ts';
import { classifyAddress } from './address-rules.ts';

const LENGTH_MAX = 2_000;

/** Returns the URL in its normal form. Throws BadInput. */
export function parseEndpointUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new BadInput('--url must be a URL such as https://partner.example/offerbook');
  if (text.length > LENGTH_MAX) throw new BadInput(`--url must be at most ${LENGTH_MAX} characters`);
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
