// Decides who brought the user to a shop. If it was another affiliate, the extension stands down: the affiliate networks'
// rules forbid offering cashback then. Pure functions; the background script keeps their results.

/**
 * Who referred the user, and when.
 * @typedef {{ by: 'us' | 'another', atMs: number }} Referral
 *
 * Who is credited for purchases at a shop, until the user has not visited the shop for SESSION_MS.
 * @typedef {{ by: 'us' | 'another', untilMs: number }} Session
 */

/** A click passes through several redirects. The shop must appear within this time to count as their target. */
export const REDIRECTS_MS = 60_000;
/** Longer than the networks require. Restarting the browser also ends a session. */
export const SESSION_MS = 60 * 60_000;

/** Parameters that mark the landing page of an affiliate link. */
const MARKS = new Set([
  // Any network or affiliate.
  ...['afsrc', 'affsource', 'foid'],
  // Awin, CJ, Impact, Partnerize, Rakuten, ShareASale, Tradedoubler.
  ...['awc', 'cjevent', 'irclickid', 'irgwc', 'clickref', 'ranmid', 'raneaid', 'ransiteid', 'sscid', 'tduid'],
]);

/** Domains of the networks' click servers. */
const NETWORKS = [
  'awin1.com',
  // CJ.
  ...['afcyhf.com', 'anrdoezrs.net', 'apmebf.com', 'awltovhc.com', 'dpbolvw.net', 'emjcd.com', 'ftjcfx.com'],
  ...['jdoqocy.com', 'kqzyfj.com', 'lduhtrp.net', 'qksrv.net', 'tkqlhce.com', 'tqlkg.com'],
  // Impact.
  ...['7eer.net', 'evyy.net', 'ojrq.net', 'pxf.io', 'sjv.io'],
  // Partnerize, Rakuten, ShareASale, Tradedoubler, TradeTracker, Webgains.
  ...['prf.hn', 'linksynergy.com', 'shareasale.com', 'tradedoubler.com', 'tradetracker.net', 'webgains.com'],
  // Networks of networks.
  ...['flexlinkspro.com', 'skimresources.com', 'viglink.com'],
];

/**
 * Returns who referred the user if this URL belongs to an affiliate link.
 * @param {URL} url
 * @param {string} ownOrigin origin of the Offerbook service
 * @returns {'us' | 'another' | undefined}
 */
function referrerOf(url, ownOrigin) {
  if (url.origin === ownOrigin && /^\/go\/|\/activate\/?$/.test(url.pathname)) return 'us';
  const isMarked = [...url.searchParams.keys()].some((name) => MARKS.has(name.toLowerCase()));
  const isNetwork = NETWORKS.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`));
  return isMarked || isNetwork ? 'another' : undefined;
}

/**
 * Returns the tab's referral after it has requested a URL. An activation of ours passes through a network, too, so it keeps
 * its referral until it reaches a shop.
 * @param {Referral | undefined} before
 * @param {URL} url
 * @param {string} ownOrigin
 * @param {number} nowMs
 * @returns {Referral | undefined}
 */
export function referralAfter(before, url, ownOrigin, nowMs) {
  const recent = before !== undefined && nowMs - before.atMs < REDIRECTS_MS ? before : undefined;
  const by = referrerOf(url, ownOrigin);
  if (by === undefined || (by === 'another' && recent?.by === 'us')) return recent;
  return { by, atMs: nowMs };
}

/**
 * Returns the session at a shop after the user has opened one of its pages.
 * @param {Session | undefined} before
 * @param {Referral | undefined} referral
 * @param {number} nowMs
 * @returns {Session | undefined}
 */
export function sessionAfter(before, referral, nowMs) {
  const by = referral?.by ?? (before !== undefined && nowMs < before.untilMs ? before.by : undefined);
  return by && { by, untilMs: nowMs + SESSION_MS };
}
