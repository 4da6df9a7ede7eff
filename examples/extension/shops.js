// The list of shops with their domains and best cashback, fetched once an hour as one document. Looking up a shop needs no
// request.

import { BASE_URL, CURRENCY, PUBLIC_TOKEN } from './config.js';

/**
 * @typedef {{
 *   id: string,
 *   name: string,
 *   domains: string[],
 *   cashbackPercentage: number | null,
 *   maximumFixedCommissionFee: number | null,
 * }} Shop
 */

/** Downloads the list. The browser's cache sends the ETag, so an unchanged list is not transferred again. */
export async function refreshShops() {
  const response = await fetch(`${BASE_URL}/v1/domains/`, {
    headers: { Authorization: `Bearer ${PUBLIC_TOKEN}` },
  });
  if (!response.ok) throw new Error(`the list of shops could not be fetched: ${response.status}`);
  /** @type {{ data: Shop[] }} */
  const { data } = await response.json();
  await chrome.storage.local.set({ shops: data });
  shopByDomain = undefined;
}

/** @type {Promise<Map<string, Shop | undefined>> | undefined} */
let shopByDomain;

/** A domain of two shops belongs to neither: the extension must not credit a purchase to the wrong one. */
async function readShops() {
  /** @type {{ shops?: Shop[] }} */
  const { shops = [] } = await chrome.storage.local.get('shops');
  /** @type {Map<string, Shop | undefined>} */
  const byDomain = new Map();
  for (const shop of shops)
    for (const domain of shop.domains) byDomain.set(domain, byDomain.has(domain) ? undefined : shop);
  return byDomain;
}

/**
 * Finds the shop whose domain is the hostname or, if there are several, its nearest parent domain. Returns undefined if the
 * shop pays no cashback.
 * @param {string} hostname
 * @returns {Promise<Shop | undefined>}
 */
export async function findShop(hostname) {
  shopByDomain ??= readShops();
  const shops = await shopByDomain;
  for (let domain = hostname; domain !== ''; domain = domain.replace(/^[^.]*\.?/, '')) {
    if (!shops.has(domain)) continue;
    const shop = shops.get(domain);
    return shop?.cashbackPercentage === null ? undefined : shop;
  }
  return undefined;
}

/**
 * Formats a shop's best cashback in the user's language, such as "12.5%" or "€7.50".
 * @param {Shop} shop
 */
export function formatRate(shop) {
  return format(shop, shop.maximumFixedCommissionFee === null ? { maximumFractionDigits: 1 } : {});
}

/**
 * Formats the cashback for the icon, which has room for about four characters. Rounds down: "12%" for 12.5%.
 * @param {Shop} shop
 */
export function formatBadge(shop) {
  return format(shop, { maximumSignificantDigits: 2, roundingMode: 'floor' }).replace(/\s/g, '');
}

/**
 * @param {Shop} shop
 * @param {Intl.NumberFormatOptions} options
 */
function format({ cashbackPercentage, maximumFixedCommissionFee }, options) {
  return maximumFixedCommissionFee === null
    ? (cashbackPercentage ?? 0).toLocaleString(undefined, { style: 'percent', ...options })
    : maximumFixedCommissionFee.toLocaleString(undefined, {
        style: 'currency',
        currency: CURRENCY,
        ...options,
      });
}
