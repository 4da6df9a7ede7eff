// The page of one retailer with all its deals.

import type { Retailer } from '@offerbook/client';
import { copyButton } from '../copy-button.ts';
import { element, isolated } from '../element.ts';
import { externalLink, findUrl } from '../external-link.ts';
import { bestWords } from './best-words.ts';
import { bestOffer, type Offer } from './cashback.ts';
import { count } from './count.ts';
import { countryName } from './country-name.ts';
import type { Drawing } from './drawing.ts';
import { expiry } from './expiry.ts';
import { longText } from './long-text.ts';
import { type ListView, printView } from './view.ts';

const COUNTRIES_SHOWN = 6;

type Coupon = Retailer['coupons'][number];
type Promotion = Retailer['promotions'][number];

export interface RetailerContext {
  /** The list to go back to. */
  readonly from: ListView;
  /** Show only offers for this country; empty for all. */
  readonly country: string;
  readonly drawing: Drawing;
  readonly now: Date;
}

export function retailerScreen(retailer: Retailer, context: RetailerContext): HTMLElement {
  const { from, country, drawing, now } = context;
  const { id, name, coupons, promotions } = retailer;
  const offers = retailer.cashbackOffers.filter(
    ({ countries }) => country === '' || countries.includes(country),
  );
  return element(
    'div',
    { class: 'screen retailer' },
    wayBack(from),
    element(
      'header',
      { class: 'retailer-head' },
      drawing.drawLogo(retailer),
      element(
        'div',
        {},
        element('h1', { tabindex: -1 }, isolated(name)),
        element('p', { class: 'muted' }, websiteLink(retailer)),
      ),
      bestWords(offers, drawing.printAmount),
      drawing.apiButton({ name, id, list: 'retailers' }),
    ),
    country === '' ? undefined : countryNote(retailer, offers.length, country),
    section(
      'Cashback',
      'offers',
      sortedOffers(offers).map((offer) => offerItem(offer, drawing)),
    ),
    section(
      count(coupons.length, 'coupon'),
      'coupons',
      coupons.map((coupon) => couponItem(coupon, drawing, now)),
    ),
    section(
      count(promotions.length, 'promotion'),
      'promotions',
      promotions.map((promotion) => promotionItem(promotion, drawing, now)),
    ),
  );
}

/** Labelled with the host that it opens: an import does not check `hostname` against `url`. */
function websiteLink({ url, hostname }: Retailer): HTMLElement {
  return externalLink(url, findUrl(url)?.host || isolated(hostname), 'out');
}

/** States that the country filter hides offers, with a link to show them all. */
function countryNote({ id, cashbackOffers }: Retailer, shown: number, country: string): HTMLElement {
  const all = cashbackOffers.length;
  const words = shown === 0 ? 'No cashback' : shown === all ? 'All offers are available' : 'Offers';
  return element(
    'p',
    { class: 'status' },
    `${words} in ${countryName(country)}. `,
    shown === all
      ? undefined
      : element(
          'a',
          { href: printView({ kind: 'retailer', id, country: '' }) },
          `Show the offers of all countries (${all})`,
        ),
  );
}

/** Screen for an id that is not in the catalogue. */
export function noSuchRetailer(): HTMLElement {
  return element(
    'div',
    { class: 'screen narrow' },
    element(
      'div',
      { class: 'notice' },
      element('h1', { tabindex: -1 }, 'No deals here'),
      element('p', {}, 'This retailer has no active deals at the moment, or the address is incomplete.'),
      element('div', { class: 'actions' }, element('a', { class: 'button', href: '/' }, 'See all retailers')),
    ),
  );
}

/** Link back to the list. */
export function wayBack(from: ListView): HTMLElement {
  const href = printView(from);
  const label = href === '/' ? 'All retailers' : 'Back to the results';
  return element('nav', { 'aria-label': 'Back' }, element('a', { class: 'back', href }, label));
}

function section(title: string, className: string, items: readonly HTMLElement[]): HTMLElement | undefined {
  if (items.length === 0) return undefined;
  return element(
    'section',
    { 'aria-labelledby': className },
    element('h2', { id: className }, title),
    element('ul', { class: `deals ${className}` }, ...items),
  );
}

/** Featured offers first, then by amount. */
function sortedOffers(offers: readonly Offer[]): Offer[] {
  return [...offers].sort((a, b) => {
    if (a.featured !== b.featured) return a.featured ? -1 : 1;
    return bestOffer([a, b]) === a ? -1 : 1;
  });
}

function offerItem(offer: Offer, { printAmount, apiButton, activateLink }: Drawing): HTMLElement {
  const subject = { name: offer.description || 'the offer', id: offer.id, list: 'cashback-offers' } as const;
  const amount = printAmount(offer);
  const countries = offer.countries.map(countryName).sort((a, b) => a.localeCompare(b, 'en'));
  return element(
    'li',
    { class: 'deal' },
    element(
      'p',
      { class: 'amount' },
      amount.text,
      amount.lacksCurrency ? element('span', { class: 'muted' }, 'currency not stated') : undefined,
    ),
    element(
      'div',
      { class: 'deal-body' },
      offer.description === '' ? undefined : longText(offer.description, 'what'),
      facts(offer, countries),
      smallPrint(offer, countries),
    ),
    activateLink(subject),
    apiButton(subject),
  );
}

function facts(offer: Offer, countries: readonly string[]): HTMLElement {
  const where = someCountries(countries);
  return element(
    'p',
    { class: 'facts muted' },
    offer.featured ? element('span', { class: 'tag featured' }, 'Featured: an outstanding deal') : undefined,
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

function smallPrint(offer: Offer, countries: readonly string[]): HTMLElement | undefined {
  const all = countries.length > COUNTRIES_SHOWN ? `Available in ${countries.join(', ')}.` : '';
  const terms = offer.termsAndExclusions;
  if (all === '' && terms === '') return undefined;
  return element(
    'details',
    {},
    element('summary', {}, terms === '' ? 'All countries' : 'Terms and exclusions'),
    terms === '' ? undefined : element('p', { dir: 'auto' }, terms),
    all === '' ? undefined : element('p', {}, all),
  );
}

function couponItem(coupon: Coupon, { apiButton, activateLink }: Drawing, now: Date): HTMLElement {
  const subject = { name: `the coupon ${coupon.code}`, id: coupon.id, list: 'coupons' } as const;
  const code = element('code', { dir: 'ltr' }, coupon.code);
  return element(
    'li',
    { class: 'deal ticket' },
    element(
      'div',
      { class: 'deal-body' },
      coupon.description === '' ? undefined : longText(coupon.description, 'what'),
      ending(coupon.endDate, now),
    ),
    element(
      'div',
      { class: 'code' },
      code,
      copyButton('Copy', `Copy the code ${coupon.code.slice(0, 60)}`, () => coupon.code, code),
    ),
    activateLink(subject),
    apiButton(subject),
  );
}

function promotionItem(promotion: Promotion, { apiButton, activateLink }: Drawing, now: Date): HTMLElement {
  const subject = {
    name: promotion.description || 'the promotion',
    id: promotion.id,
    list: 'promotions',
  } as const;
  return element(
    'li',
    { class: 'deal' },
    element(
      'div',
      { class: 'deal-body' },
      promotion.description === '' ? undefined : longText(promotion.description, 'what'),
      ending(promotion.endDate, now),
    ),
    activateLink(subject) ?? externalLink(promotion.deepLink, 'Go to the promotion', 'button out'),
    apiButton(subject),
  );
}

function ending(endDate: string, now: Date): HTMLElement {
  const { words, soon } = expiry(endDate, now);
  return element(
    'p',
    { class: soon ? 'ends soon' : 'ends muted' },
    element('time', { datetime: `${endDate}Z` }, words),
  );
}
