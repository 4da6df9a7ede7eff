// The line with a retailer's best cashback, on its card and at the top of its page.

import { element } from '../element.ts';
import { headline, type Offer, type PrintAmount } from './cashback.ts';

export function bestWords(offers: readonly Offer[], printAmount: PrintAmount): HTMLElement | undefined {
  const best = headline(offers, printAmount);
  if (best === undefined) return undefined;
  return element(
    'p',
    { class: 'best' },
    element('strong', {}, best.text),
    best.lacksCurrency ? ' cashback, currency not stated' : ' cashback',
  );
}
