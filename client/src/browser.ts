// Detects whether this code runs on a user's device (a browser or an app), where a private token must not be used.

/**
 * True in pages, in web workers and in React Native. Workers have no `document`, but only browsers have a user agent that
 * starts with Mozilla. React Native sets `navigator.product`.
 */
export function isBrowser(): boolean {
  const { document, navigator } = globalThis as {
    document?: unknown;
    navigator?: { userAgent?: string; product?: string };
  };
  const isPage = document !== undefined || navigator?.userAgent?.startsWith('Mozilla/') === true;
  return isPage || navigator?.product === 'ReactNative';
}
