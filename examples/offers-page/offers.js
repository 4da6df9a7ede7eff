// Lists cashback offers in a page. Client-side code may contain a public token; this example reads it from the page's URL,
// together with the service's URL and the currency of fixed cashback:
// ?api=http://localhost:8080&token=ob_pub_…&currency=EUR

import { formatCashback, OfferbookClient, OfferbookError } from '@offerbook/client';

/** @typedef {import('@offerbook/client').CashbackOffer} CashbackOffer */
/** @typedef {import('@offerbook/client').Page<CashbackOffer>} OfferPage */

const form = find('form', HTMLFormElement);
const list = find('ul', HTMLUListElement);
const more = find('#more', HTMLButtonElement);
const message = find('[role=alert]', HTMLElement);
/** Ask the operator for the currency. Without it, fixed amounts are bare numbers. */
const currency = new URLSearchParams(location.search).get('currency') ?? undefined;
/** Aborts the current search when a new one starts. */
let search = new AbortController();

try {
  const client = openClient(new URLSearchParams(location.search));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    show(client);
  });
  show(client);
} catch (error) {
  showError(error);
}

/** @param {URLSearchParams} address */
function openClient(address) {
  const token = address.get('token') ?? '';
  if (token === '') throw new Error('Add ?token=ob_pub_… to the address of this page.');
  return new OfferbookClient({ baseUrl: address.get('api') ?? 'http://localhost:8080', token });
}

/** @param {OfferbookClient} client */
function show(client) {
  search.abort();
  search = new AbortController();
  list.replaceChildren();
  message.textContent = '';
  const filters = new FormData(form);
  const pages = client
    .cashbackOffers({
      name: String(filters.get('name')),
      country: String(filters.get('country')),
      signal: search.signal,
    })
    .pages();
  more.onclick = () => showNext(pages);
  showNext(pages);
}

/** @param {AsyncGenerator<OfferPage>} pages */
async function showNext(pages) {
  more.hidden = true;
  try {
    const { value: page } = await pages.next();
    if (page === undefined) return;
    list.append(...page.data.map(item));
    more.hidden = page.cursor === undefined;
  } catch (error) {
    // Ignore a search that was aborted by the next one.
    if (!(error instanceof OfferbookError && error.code === 'aborted')) showError(error);
  }
}

/** @param {unknown} error */
function showError(error) {
  message.textContent = error instanceof Error ? error.message : String(error);
}

/** @param {CashbackOffer} offer */
function item(offer) {
  const link = document.createElement('a');
  link.href = offer.url;
  link.textContent = offer.name;
  const reward = formatCashback(offer, 'en', currency);
  const line = document.createElement('li');
  // append() adds strings as text, so a retailer's description is never parsed as HTML.
  line.append(link, ` ${reward} ${offer.description}`);
  return line;
}

/**
 * @template {Element} Type
 * @param {string} selector
 * @param {new () => Type} type
 */
function find(selector, type) {
  const element = document.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`);
  return element;
}
