// The popup: shows the cashback of the shop in the current tab, and activates it when the user clicks the button.

import { activationUrl } from './activation-url.js';
import { readSession, readTab } from './memory.js';
import { formatRate } from './shops.js';

const main = /** @type {HTMLElement} */ (document.querySelector('main'));
const heading = /** @type {HTMLElement} */ (document.querySelector('h1'));
const text = /** @type {HTMLElement} */ (document.querySelector('p'));
const button = /** @type {HTMLButtonElement} */ (document.querySelector('button'));

/** The background script puts the id into the popup's address if the tab shows a shop. */
const tabId = Number(new URLSearchParams(location.search).get('tab'));

await fill();
main.hidden = false;

async function fill() {
  const { shop, page } = await readTab(tabId);
  if (shop === undefined || page === undefined) return;
  const session = await readSession(shop.id);
  if (session?.by === 'another') {
    heading.textContent = 'No cashback right now';
    text.textContent = `Another website has brought you to ${shop.name} and may be paid for your purchase.`;
  } else if (session?.by === 'us') {
    heading.textContent = 'Your cashback is active';
    text.textContent = `You get ${formatRate(shop)} for what you buy at ${shop.name} now.`;
  } else {
    heading.textContent = `${formatRate(shop)} cashback here`;
    text.textContent = `Activate it before you buy something at ${shop.name}.`;
    button.hidden = false;
    button.addEventListener('click', () => activate(shop.id, page));
  }
}

/**
 * Opens the activation link in the tab. It redirects to the shop, back to the page that the user was looking at.
 * @param {string} retailerId
 * @param {string} page
 */
async function activate(retailerId, page) {
  const { userId } = await chrome.storage.local.get('userId');
  await chrome.tabs.update(tabId, { url: activationUrl(retailerId, userId, page) });
  window.close();
}
