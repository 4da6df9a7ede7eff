// Whether a request comes from a browser, by headers that no script in a page can leave out or change. Nobody else is
// kept from sending them, so they serve to warn those who mean well.

/**
 * Pages of other origins send Origin, and those of this one Sec-Fetch-Site (over https, and to localhost). A Sec-Fetch-Mode
 * of "cors" alone tells nothing: Node's own fetch sends that.
 */
export function isFromBrowser(headers: Headers): boolean {
  if (headers.has('Origin') || headers.has('Sec-Fetch-Site')) return true;
  const mode = headers.get('Sec-Fetch-Mode');
  return mode !== null && mode !== 'cors';
}

/** The Origin header if it is a well-formed origin. Anything else is dropped: it is logged, and could contain a token. */
export function pageOrigin(headers: Headers): string | undefined {
  const origin = headers.get('Origin');
  if (origin === null || origin === 'null') return origin ?? undefined;
  return URL.canParse(origin) && new URL(origin).origin === origin ? origin : undefined;
}
