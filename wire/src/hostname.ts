// Hostnames of web sites, converted to lower-case ASCII (IDNA) for comparison.

/** In ASCII, without a trailing dot. */
export const HOSTNAME_LENGTH_MAX = 253;

/**
 * A name, an optional trailing dot and an optional port. The URL parser alone would also accept percent-encoding, credentials
 * and paths.
 */
const WRITTEN = /^((?:[\p{L}\p{M}\p{N}。．｡._-]|\u200c|\u200d)+?)\.?(?::\d{1,5})?$/u;
const LABELS = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;

/** Ignores case, a trailing dot and a port. Returns undefined if the text is not a hostname. */
export function parseHostname(text: string): string | undefined {
  const written = WRITTEN.exec(text)?.[1];
  if (written === undefined) return undefined;
  const hostname = URL.parse(`http://${written}/`)?.hostname ?? '';
  return hostname.length <= HOSTNAME_LENGTH_MAX && LABELS.test(hostname) ? hostname : undefined;
}
