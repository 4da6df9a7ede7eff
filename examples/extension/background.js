// The service worker. It compares the address of each page with the list of shops on the user's machine, and shows the
// shop's cashback on the extension's icon. It sends nothing about the pages to a server.

import { BASE_URL } from './config.js';
import { readSession, readTab, writeSession, writeTab } from './memory.js';
import { referralAfter, sessionAfter } from './referrals.js';
import { findShop, formatBadge, formatRate, refreshShops } from './shops.js';

/** @import { Session } from './referrals.js' */
/** @import { Shop } from './shops.js' */

const HOUR_MINUTES = 60;
/** Until the next attempt after a failed download. */
const RETRY_MINUTES = 2;
const GREEN = '#0a6b4b';

chrome.runtime.onInstalled.addListener(async () => {
  // An update must not change the user's id.
  const { userId = crypto.randomUUID() } = await chrome.storage.local.get('userId');
  await chrome.storage.local.set({ userId });
  await refresh();
});
chrome.runtime.onStartup.addListener(refresh);
chrome.alarms.onAlarm.addListener(refresh);

/** Downloads the shops, and sets the alarm for the next time first: browsers delete alarms when they update an extension. */
async function refresh() {
  await chrome.alarms.create('refresh', { periodInMinutes: RETRY_MINUTES });
  await refreshShops();
  await chrome.alarms.create('refresh', { periodInMinutes: HOUR_MINUTES });
}

chrome.webNavigation.onBeforeNavigate.addListener((navigation) => inTurn(() => noteRequest(navigation)));
chrome.webNavigation.onCommitted.addListener((navigation) => inTurn(() => noteArrival(navigation)));
// Shops that load pages with a script change only the address.
chrome.webNavigation.onHistoryStateUpdated.addListener((navigation) => inTurn(() => noteArrival(navigation)));

let last = Promise.resolve();

/**
 * Runs one task after the other, because each reads and then writes the same storage. A task that fails does not stop the
 * next one; Chrome lists the failure among the extension's errors.
 * @param {() => Promise<void>} task
 */
function inTurn(task) {
  last = last.catch(() => {}).then(task);
}

/**
 * Notes that a tab requests a URL, which may redirect before a page appears.
 * @param {chrome.Navigation} navigation
 */
async function noteRequest({ tabId, frameId, url }) {
  if (frameId !== 0) return;
  const tab = await readTab(tabId);
  await writeTab(tabId, {
    ...tab,
    referral: referralAfter(tab.referral, new URL(url), BASE_URL, Date.now()),
  });
}

/**
 * Notes that a page appears in a tab.
 * @param {chrome.Navigation} navigation
 */
async function noteArrival({ tabId, frameId, url }) {
  if (frameId !== 0) return;
  const nowMs = Date.now();
  const page = new URL(url);
  const referral = referralAfter((await readTab(tabId)).referral, page, BASE_URL, nowMs);
  const shop = await findShop(page.hostname);
  if (shop === undefined) {
    await writeTab(tabId, { referral });
    return;
  }
  const session = sessionAfter(await readSession(shop.id), referral, nowMs);
  await writeSession(shop.id, session);
  await showOnIcon(tabId, shop, session);
  await writeTab(tabId, { shop, page: url });
}

/**
 * Chrome resets the icon of a tab when the tab opens another page.
 * @param {number} tabId
 * @param {Shop} shop
 * @param {Session | undefined} session
 */
async function showOnIcon(tabId, shop, session) {
  const badge = session === undefined ? formatBadge(shop) : session.by === 'us' ? '✓' : '';
  await chrome.action.setPopup({ tabId, popup: `popup.html?tab=${tabId}` });
  await chrome.action.setBadgeBackgroundColor({ tabId, color: GREEN });
  await chrome.action.setBadgeText({ tabId, text: badge });
  if (session?.by !== 'another')
    await chrome.action.setTitle({ tabId, title: `${formatRate(shop)} cashback here` });
}
