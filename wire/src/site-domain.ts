// Domains that identify a retailer's site. A domain includes its subdomains, so a public suffix such as co.uk or myshopify.com,
// under which anyone can register a name, is never one. Separate from hostname.ts, because the list of suffixes is large.

import { getPublicSuffix } from 'tldts';
import { parseHostname } from './hostname.ts';

const OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false };

/**
 * Returns the domain of a site: its hostname without `www.`. Returns undefined for a public suffix, an IP address, and a text
 * that is not a hostname.
 */
export function parseSiteDomain(text: string): string | undefined {
  const hostname = parseHostname(text);
  if (hostname === undefined) return undefined;
  return [hostname.replace(/^www\./, ''), hostname].find(isBelowPublicSuffix);
}

/** A single label counts as a public suffix. */
function isBelowPublicSuffix(hostname: string): boolean {
  const suffix = getPublicSuffix(hostname, OPTIONS);
  return suffix !== null && suffix !== hostname;
}
