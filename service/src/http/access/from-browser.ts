// Detects requests from browsers by headers that scripts can neither omit nor change. Anyone can forge these headers, so this
// catches honest mistakes, not attackers.

/**
 * Requests from other origins' pages have an Origin header. Requests from this origin's pages have Sec-Fetch-Site, over
 * https and on localhost. Sec-Fetch-Mode "cors" proves nothing, because Node's fetch also sends it.
 */
export function isFromBrowser(headers: Headers): boolean {
  if (headers.has('Origin') || headers.has('Sec-Fetch-Site')) return true;
  const mode = headers.get('Sec-Fetch-Mode');
  return mode !== null && mode !== 'cors';
}

/** Returns the Origin header if it is well-formed. Any other value could contain a token, and must not be logged. */
export function pageOrigin(headers: Headers): string | undefined {
  const origin = headers.get('Origin');
  if (origin === null || origin === 'null') return origin ?? undefined;
  return URL.canParse(origin) && new URL(origin).origin === origin ? origin : undefined;
}
