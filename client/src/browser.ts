// Tells whether we run in a browser.

/** Pages, and also the workers of pages, which have no document: all browsers call themselves Mozilla, nothing else does. */
export function isBrowser(): boolean {
  const { document, navigator } = globalThis as {
    document?: unknown;
    navigator?: { userAgent?: string };
  };
  return document !== undefined || navigator?.userAgent?.startsWith('Mozilla/') === true;
}
