// Tells whether we run on the device of a user: in a browser, or in an app.

/**
 * Pages, and also the workers of pages, which have no document: all browsers call themselves Mozilla, nothing else does.
 * React Native says its name under `product`.
 */
export function isBrowser(): boolean {
  const { document, navigator } = globalThis as {
    document?: unknown;
    navigator?: { userAgent?: string; product?: string };
  };
  const isPage = document !== undefined || navigator?.userAgent?.startsWith('Mozilla/') === true;
  return isPage || navigator?.product === 'ReactNative';
}
