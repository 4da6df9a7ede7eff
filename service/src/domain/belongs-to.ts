// Decides whether a page is on a retailer's site. Activation redirects to pages from requests, so a mistake here would make the
// service an open redirect.

/** True if the URL's host is one of the domains or a subdomain of one. */
export function belongsTo({ hostname }: URL, domains: readonly string[]): boolean {
  return domains.some((domain) => {
    // The URL parser converts upper case and IDNA, as it did for the page.
    const site = URL.parse(`https://${domain}`)?.hostname ?? '';
    return site !== '' && (hostname === site || hostname.endsWith(`.${site}`));
  });
}
