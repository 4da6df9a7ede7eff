// Decides whether a page is on a retailer's site. Activation redirects to pages from requests, so a mistake here would make the
// service an open redirect.

/** True if the URL's host is one of the domains or a subdomain of one. The domains are in lower-case ASCII, like URL hosts. */
export function belongsTo({ hostname }: URL, domains: readonly string[]): boolean {
  return domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}
