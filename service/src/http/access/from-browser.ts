// Detects requests from browsers by headers that scripts can neither omit nor change. Anyone can forge these headers, so this
// catches honest mistakes, not attackers.

/**
 * Pages of other origins send Origin; pages of this origin send Sec-Fetch-Site (over https and on localhost). Sec-Fetch-Mode is
 * no evidence: Node's fetch sends "cors".
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
