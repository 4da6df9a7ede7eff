// A retailer's page with all its deals.

import type { Retailer, RetailerCoupon, RetailerOffer, RetailerPromotion } from '@offerbook/client';
import { printCountOf } from '@offerbook/wire/count.ts';
import { compareOffers } from '@offerbook/wire/deals.ts';
import { copyButton } from '../copy-button.ts';
import { element, externalLink, findUrl, isolated } from '../element.ts';
import { SETTINGS } from '../page-settings.ts';
import { type ApiSubject, apiButton } from './api-dialog.ts';
import { amountOf } from './cashback.ts';
import { countryName } from './country-name.ts';
import { expiry } from './expiry.ts';
import { drawLogo } from './logo.ts';
import { bestCashback } from './retailer-card.ts';
import { type ListView, printView } from './view.ts';

const COUNTRIES_SHOWN = 6;

/** The user for whom visitors of the explorer activate deals. */
export const VISITOR = 'visitor-of-the-explorer';

/** `from` is the list to go back to. Shows only offers for `country`, or all if it is empty. */
export function retailerScreen(retailer: Retailer, from: ListView, country: string): HTMLElement {
  const { id, name, coupons, promotions } = retailer;
  const offers = retailer.cashbackOffers.filter(
    ({ countries }) => country === '' || countries.includes(country),
  );
  return element(
    'div.screen.retailer',
    backLink(from),
    element(
      'header.retailer-head.row',
      drawLogo(retailer),
      element(
        'div',
        element('h1', { tabindex: -1 }, isolated(name)),
        element('p.muted', websiteLink(retailer)),
      ),
      bestCashback(offers),
      actions(apiButton({ name, id, list: 'retailers' })),
    ),
    country === '' ? undefined : countryNote(retailer, offers.length, country),
    section('Cashback', 'offers', sortedOffers(offers).map(offerItem)),
    section(printCountOf(coupons.length, 'coupon'), 'coupons', coupons.map(couponItem)),
    section(printCountOf(promotions.length, 'promotion'), 'promotions', promotions.map(promotionItem)),
  );
}

/** The label is the host of `url`, because imports do not check `hostname` against `url`. */
function websiteLink({ url, hostname }: Retailer): HTMLElement {
  return externalLink(url, findUrl(url)?.host || isolated(hostname), 'out');
}

/** States that the country filter hides offers, with a link that shows them all. */
function countryNote({ id, cashbackOffers }: Retailer, shown: number, country: string): HTMLElement {
  const all = cashbackOffers.length;
  const words = shown === 0 ? 'No cashback' : shown === all ? 'All offers are available' : 'Offers';
  const href = printView({ kind: 'retailer', id, country: '' });
  return element(
    'p.muted',
    `${words} in ${countryName(country)}. `,
    shown === all ? undefined : element('a', { href }, `Show the offers for all countries (${all})`),
  );
}

/** Screen for an id that is not in the catalogue. */
export function noSuchRetailer(): HTMLElement {
  return element(
    'div.screen.narrow',
    element(
      'div.notice',
      element('h1', { tabindex: -1 }, 'No deals here'),
      element('p', 'This retailer has no active deals at the moment, or the address is incomplete.'),
      element('a.button', { href: '/' }, 'See all retailers'),
    ),
  );
}

export function backLink(to: ListView): HTMLElement {
  const href = printView(to);
  const label = href === '/' ? 'All retailers' : 'Back to the results';
  return element('nav', { 'aria-label': 'Back' }, element('a.back', { href }, label));
}

function section(title: string, className: string, items: readonly HTMLElement[]): HTMLElement | undefined {
  if (items.length === 0) return undefined;
  return element(
    'section.stack',
    { 'aria-labelledby': className },
    element('h2', { id: className }, title),
    element(`ul.deals.panel.${className}`, ...items),
  );
}

/** Featured offers first, then by amount. */
function sortedOffers(offers: readonly RetailerOffer[]): RetailerOffer[] {
  return [...offers].sort((a, b) => Number(b.featured) - Number(a.featured) || compareOffers(a, b));
}

function offerItem(offer: RetailerOffer): HTMLElement {
  const { id, description } = offer;
  const subject = { name: description || 'the offer', id, list: 'cashback-offers' } as const;
  const amount = amountOf(offer, SETTINGS.currency);
  const countries = offer.countries.map(countryName).sort((a, b) => a.localeCompare(b, 'en'));
  return element(
    'li.deal.row',
    element(
      'p.amount',
      amount.text,
      amount.lacksCurrency ? element('span.muted', 'currency not stated') : undefined,
    ),
    dealBody(description, facts(offer, countries), smallPrint(offer, countries)),
    actions(activateLink(subject), apiButton(subject)),
  );
}

function actions(...controls: readonly (HTMLElement | undefined)[]): HTMLElement {
  return element('div.actions.row', ...controls);
}

function dealBody(description: string, ...others: readonly (HTMLElement | undefined)[]): HTMLElement {
  const text = description === '' ? undefined : longText(description);
  return element('div.deal-body.stack', text, ...others);
}

function facts(offer: RetailerOffer, countries: readonly string[]): HTMLElement {
  const where = someCountries(countries);
  return element(
    'p.facts.muted',
    offer.featured ? element('span.tag.featured', 'Featured: an outstanding deal') : undefined,
    isolated(offer.category),
    offer.category === '' || where === '' ? undefined : ' · ',
    where,
  );
}

function someCountries(names: readonly string[]): string {
  if (names.length <= COUNTRIES_SHOWN) return names.join(', ');
  const shown = names.slice(0, COUNTRIES_SHOWN - 1);
  return `${shown.join(', ')} and ${names.length - shown.length} more countries`;
}

function smallPrint(offer: RetailerOffer, countries: readonly string[]): HTMLElement | undefined {
  const terms = offer.termsAndExclusions;
  const hidesCountries = countries.length > COUNTRIES_SHOWN;
  if (!hidesCountries && terms === '') return undefined;
  return element(
    'details.muted',
    element('summary', terms === '' ? 'All countries' : 'Terms and exclusions'),
    terms === '' ? undefined : element('p', { dir: 'auto' }, terms),
    hidesCountries ? element('p', `Available in ${countries.join(', ')}.`) : undefined,
  );
}

/** A plain link, as on a partner's page. Undefined if the page settings name no organisation: only the sandbox's do. */
function activateLink({ list, id, name }: ApiSubject): HTMLElement | undefined {
  const { orgId } = SETTINGS;
  if (orgId === undefined) return undefined;
  const query = new URLSearchParams({ orgId, passbackUid: VISITOR });
  return element(
    'a.button.primary.activate',
    {
      href: `/v1/${list}/${id}/activate/?${query}`,
      'aria-label': `Activate ${name.slice(0, 60)}`,
    },
    'Activate',
  );
}

function couponItem({ id, code, description, endDate }: RetailerCoupon): HTMLElement {
  const subject = { name: `the coupon ${code}`, id, list: 'coupons' } as const;
  const shownCode = element('code', { dir: 'ltr' }, code);
  return element(
    'li.deal.row',
    dealBody(description, ending(endDate)),
    element('div.code', shownCode, copyButton(`Copy the code ${code.slice(0, 60)}`, shownCode)),
    actions(activateLink(subject), apiButton(subject)),
  );
}

function promotionItem({ id, description, endDate, deepLink }: RetailerPromotion): HTMLElement {
  const subject = { name: description || 'the promotion', id, list: 'promotions' } as const;
  return element(
    'li.deal.row',
    dealBody(description, ending(endDate)),
    actions(
      activateLink(subject) ?? externalLink(deepLink, 'Go to the promotion', 'button primary out'),
      apiButton(subject),
    ),
  );
}

function ending(endDate: string): HTMLElement {
  const { words, soon } = expiry(endDate, new Date());
  return element(`p.ends.${soon ? 'soon' : 'muted'}`, element('time', { datetime: `${endDate}Z` }, words));
}

const LENGTH_MAX = 400;
const BEGINNING = 160;

function longText(text: string): HTMLElement {
  if (text.length <= LENGTH_MAX) return element('p.what', { dir: 'auto' }, text);
  // Cut between code points, not inside a surrogate pair.
  const beginning = [...text.slice(0, BEGINNING * 2)].slice(0, BEGINNING).join('');
  return element(
    'details.long.what',
    element('summary', { dir: 'auto' }, `${beginning}…`),
    element('p', { dir: 'auto' }, text),
  );
}
