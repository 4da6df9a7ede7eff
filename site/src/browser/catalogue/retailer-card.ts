// A retailer's card in the list: logo, name, best offer and tags for its other deals.

import type { RetailerOffer } from '@offerbook/client';
import { bestOffer } from '@offerbook/wire/best-offer.ts';
import { printCountOf } from '@offerbook/wire/count.ts';
import { element, isolated } from '../element.ts';
import { SETTINGS } from '../page-settings.ts';
import { apiButton } from './api-dialog.ts';
import { amountOf, headline } from './cashback.ts';
import { expiry } from './expiry.ts';
import { drawLogo } from './logo.ts';
import type { Found } from './selection.ts';
import { printView } from './view.ts';

/** `country` is the filter to keep on the retailer's page; empty for none. */
export function retailerCard(found: Found, country: string): HTMLElement {
  const { retailer, offers } = found;
  const href = printView({ kind: 'retailer', id: retailer.id, country });
  const categories = new Set(offers.map(({ category }) => category).filter((category) => category !== ''));
  return element(
    'li',
    { class: 'card panel', 'data-retailer': retailer.id },
    element(
      'div',
      { class: 'card-head' },
      drawLogo(retailer),
      element(
        'div',
        { class: 'card-name' },
        element('h2', {}, element('a', { href }, isolated(retailer.name))),
        element('p', { class: 'muted' }, isolated([...categories].join(', ') || retailer.hostname)),
      ),
      apiButton({ name: retailer.name, id: retailer.id, list: 'retailers' }),
    ),
    offerWords(offers),
    tags(found),
  );
}

function offerWords(offers: readonly RetailerOffer[]): HTMLElement {
  const best = bestOffer(offers);
  if (best === undefined) return element('p', { class: 'best none' }, 'No cashback at the moment');
  return element(
    'div',
    {},
    bestCashback(offers),
    best.description === '' ? undefined : element('p', { class: 'muted' }, isolated(best.description)),
  );
}

/** The line with the best cashback; undefined if there are no offers. */
export function bestCashback(offers: readonly RetailerOffer[]): HTMLElement | undefined {
  const best = headline(offers, SETTINGS.currency);
  if (best === undefined) return undefined;
  return element(
    'p',
    { class: 'best' },
    element('strong', {}, best.text),
    best.lacksCurrency ? ' cashback, currency not stated' : ' cashback',
  );
}

function tags({ retailer: { coupons, promotions }, featured }: Found): HTMLElement {
  const endDates = [...coupons, ...promotions].map(({ endDate }) => endDate).sort();
  const ends = endDates[0] === undefined ? undefined : expiry(endDates[0], new Date());
  return element(
    'ul',
    { class: 'tags' },
    // Name the featured offer's amount: the best offer may be a different one.
    featured === undefined
      ? undefined
      : tag(`Featured: ${amountOf(featured, SETTINGS.currency).text}`, 'featured'),
    coupons.length > 0 ? tag(printCountOf(coupons.length, 'coupon')) : undefined,
    promotions.length > 0 ? tag(printCountOf(promotions.length, 'promotion')) : undefined,
    ends?.soon ? tag(endDates.length === 1 ? ends.words : `one ${ends.words}`, 'soon') : undefined,
  );
}

function tag(label: string, kind = ''): HTMLElement {
  return element('li', { class: `tag ${kind}` }, label);
}
