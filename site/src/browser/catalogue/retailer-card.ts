// A retailer's card in the list: logo, name, best offer and tags for its other deals.

import { element, isolated } from '../element.ts';
import { bestWords } from './best-words.ts';
import { bestOffer, type Offer } from './cashback.ts';
import { count } from './count.ts';
import type { Drawing } from './drawing.ts';
import { expiry } from './expiry.ts';
import type { Found } from './selection.ts';
import { printView } from './view.ts';

export interface CardContext {
  /** Country filter to keep on the retailer's page; empty for none. */
  readonly country: string;
  readonly drawing: Drawing;
  readonly now: Date;
}

export function retailerCard(found: Found, { country, drawing, now }: CardContext): HTMLElement {
  const { retailer, offers } = found;
  const href = printView({ kind: 'retailer', id: retailer.id, country });
  const name = element('h2', {}, element('a', { href }, isolated(retailer.name)));
  const categories = [
    ...new Set(offers.map(({ category }) => category).filter((category) => category !== '')),
  ];
  return element(
    'li',
    { class: 'card', 'data-retailer': retailer.id },
    element(
      'div',
      { class: 'card-head' },
      drawing.drawLogo(retailer),
      element(
        'div',
        { class: 'card-name' },
        name,
        element('p', { class: 'muted' }, isolated(categories.join(', ') || retailer.hostname)),
      ),
      drawing.apiButton({ name: retailer.name, id: retailer.id, list: 'retailers' }),
    ),
    offerWords(offers, drawing),
    tags(found, drawing, now),
  );
}

function offerWords(offers: readonly Offer[], { printAmount }: Drawing): HTMLElement {
  const best = bestOffer(offers);
  if (best === undefined) return element('p', { class: 'best none' }, 'No cashback at the moment');
  return element(
    'div',
    { class: 'card-offer' },
    bestWords(offers, printAmount),
    best.description === '' ? undefined : element('p', { class: 'muted' }, isolated(best.description)),
  );
}

function tags({ retailer, featured }: Found, { printAmount }: Drawing, now: Date): HTMLElement {
  const { coupons, promotions } = retailer;
  const soonest = [...coupons, ...promotions].map(({ endDate }) => endDate).sort()[0];
  const ends = soonest === undefined ? undefined : expiry(soonest, now);
  return element(
    'ul',
    { class: 'tags' },
    // Name the featured offer's amount: the best offer may be a different one.
    featured === undefined ? undefined : tag(`Featured: ${printAmount(featured).text}`, 'featured'),
    coupons.length > 0 ? tag(count(coupons.length, 'coupon')) : undefined,
    promotions.length > 0 ? tag(count(promotions.length, 'promotion')) : undefined,
    ends?.soon
      ? tag(coupons.length + promotions.length === 1 ? ends.words : `one ${ends.words}`, 'soon')
      : undefined,
  );
}

function tag(label: string, kind = ''): HTMLElement {
  return element('li', { class: `tag ${kind}`.trim() }, label);
}
