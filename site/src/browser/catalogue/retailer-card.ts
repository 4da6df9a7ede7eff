// A retailer's card in the list: logo, name, its best cashback with the description, and its other deals. All cards have
// the same parts at the same height, so that amounts and descriptions align across a row.

import type { Retailer, RetailerOffer } from '@offerbook/client';
import { printCountOf } from '@offerbook/wire/count.ts';
import { bestOffer } from '@offerbook/wire/deals.ts';
import { element, isolated } from '../element.ts';
import { SETTINGS } from '../page-settings.ts';
import { apiButton } from './api-dialog.ts';
import { headline } from './cashback.ts';
import { expiry } from './expiry.ts';
import { drawLogo } from './logo.ts';
import type { Found } from './selection.ts';
import { type ListView, printView } from './view.ts';

/** The amount is the same as on the retailer's page, where the country filter is kept. */
export function retailerCard({ retailer, offers, featured }: Found, { country }: ListView): HTMLElement {
  const href = printView({ kind: 'retailer', id: retailer.id, country });
  const categories = new Set(offers.map(({ category }) => category).filter((category) => category !== ''));
  return element(
    'li.card.panel',
    { 'data-retailer': retailer.id },
    element(
      'div.card-head.row',
      drawLogo(retailer),
      element(
        'div.card-name',
        element('h2', element('a', { href }, isolated(retailer.name))),
        element(
          'p.muted',
          featured === undefined ? undefined : element('span.featured-mark', '★ Featured · '),
          isolated([...categories].join(', ') || retailer.hostname),
        ),
      ),
    ),
    ...cashback(offers),
    element(
      'div.card-foot.row.between',
      otherDeals(retailer),
      apiButton({ name: retailer.name, id: retailer.id, list: 'retailers' }),
    ),
  );
}

function cashback(offers: readonly RetailerOffer[]): (HTMLElement | undefined)[] {
  const best = bestOffer(offers);
  if (best === undefined) return [element('p.best.none', 'No cashback at the moment')];
  return [
    element('div.card-offer.row', bestCashback(offers)),
    element('p.muted.about', isolated(best.description)),
  ];
}

/** The line with the best cashback; undefined if there are no offers. */
export function bestCashback(offers: readonly RetailerOffer[]): HTMLElement | undefined {
  const best = headline(offers, SETTINGS.currency);
  if (best === undefined) return undefined;
  return element(
    'p.best',
    best.isUpTo ? 'Up to ' : undefined,
    element('strong', best.text),
    best.lacksCurrency ? ' cashback, currency not stated' : ' cashback',
  );
}

function otherDeals({ coupons, promotions }: Retailer): HTMLElement {
  const endDates = [...coupons, ...promotions].map(({ endDate }) => endDate).sort();
  const ends = endDates[0] === undefined ? undefined : expiry(endDates[0], new Date());
  const counts = [
    ...(coupons.length > 0 ? [printCountOf(coupons.length, 'coupon')] : []),
    ...(promotions.length > 0 ? [printCountOf(promotions.length, 'promotion')] : []),
  ];
  return element(
    'div.other-deals',
    element('p', counts.join(' · ') || 'Cashback only'),
    ends?.soon ? element('p.ends.soon', endDates.length === 1 ? ends.words : `one ${ends.words}`) : undefined,
  );
}
