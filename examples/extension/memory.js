// What the extension remembers until the browser closes. chrome.storage.session keeps it in memory, never on disk, because
// it contains the addresses of pages.

/** @import { Referral, Session } from './referrals.js' */
/** @import { Shop } from './shops.js' */

/**
 * The shop and its page in a tab, or how the tab is getting to a shop.
 * @typedef {{ referral?: Referral | undefined, shop?: Shop, page?: string }} Tab
 */

/**
 * @param {number} tabId
 * @returns {Promise<Tab>}
 */
export async function readTab(tabId) {
  const key = `tab ${tabId}`;
  return (await chrome.storage.session.get(key))[key] ?? {};
}

/**
 * @param {number} tabId
 * @param {Tab} tab
 */
export function writeTab(tabId, tab) {
  return chrome.storage.session.set({ [`tab ${tabId}`]: tab });
}

/**
 * @param {string} retailerId
 * @returns {Promise<Session | undefined>}
 */
export async function readSession(retailerId) {
  const key = `shop ${retailerId}`;
  return (await chrome.storage.session.get(key))[key];
}

/**
 * @param {string} retailerId
 * @param {Session | undefined} session
 */
export function writeSession(retailerId, session) {
  return chrome.storage.session.set({ [`shop ${retailerId}`]: session });
}
