// Settings that the server puts into the page as <meta> elements.

export const SETTINGS = {
  /** Public token; undefined if readers enter their own. */
  token: find('token'),
  /** Currency of fixed cashback amounts (ISO 4217). */
  currency: find('currency'),
  /** Path of the sandbox's transaction feed. */
  feedPath: find('feed'),
  /** Public id of the organisation for which readers activate deals; undefined if they cannot. */
  orgId: find('org'),
  /** Origins from which the page is allowed to load logos, or `https:` for all. */
  logoSources: find('logos')?.split(' ') ?? [],
};

function find(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="offerbook-${name}"]`)?.content;
}
