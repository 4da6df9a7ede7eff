// The webhooks that the sandbox's toy receiver has stored, next to the transactions that they deliver.

import { parseTimestamp } from '@offerbook/client';
import { element } from '../element.ts';
import { slideIn } from './slide-in.ts';

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
/** A longer delay is a backlog, for example from before the sandbox started. */
const PROMPT_MAX_MS = 60_000;

export interface Delivery {
  /** Increases by one with each delivery. */
  readonly number: number;
  readonly receivedAt: string;
  readonly transactions: number;
  /** Time between the newest change in the delivery and its arrival. */
  readonly delayMs: number;
}

export function deliveryPanel() {
  const empty = element('li.muted', 'No webhooks yet. Changes are sent as they happen.');
  const list = element('ol.deliveries', empty);
  let shown = 0;
  return {
    node: element(
      'section.panel.stack.delivery-panel',
      element('h2', 'Webhooks'),
      element(
        'p.muted',
        'The same changes, sent to a toy receiver on this machine. ',
        element('a', { href: '/docs/webhooks' }, 'How webhooks work'),
      ),
      list,
    ),
    /** `deliveries` are the last ones, newest first. */
    show(deliveries: readonly Delivery[]): void {
      const added = deliveries.filter(({ number }) => number > shown);
      shown = added[0]?.number ?? shown;
      if (added.length > 0) empty.remove();
      slideIn(list, added.map(deliveryItem), Math.max(1, deliveries.length));
    },
  };
}

function deliveryItem({ receivedAt, transactions, delayMs }: Delivery): HTMLElement {
  return element(
    'li',
    element('time', { datetime: `${receivedAt}Z` }, TIME.format(parseTimestamp(receivedAt))),
    element('span', transactions === 1 ? '1 transaction' : `${transactions} transactions`),
    element('span.muted', delayWords(delayMs)),
  );
}

function delayWords(delayMs: number): string {
  if (delayMs > PROMPT_MAX_MS) return 'backlog';
  return delayMs < 1_000 ? `after ${delayMs} ms` : `after ${(delayMs / 1_000).toFixed(1)} s`;
}
