// Shows the sandbox's transactions as they change. Readers can pause it, as WCAG requires for content that updates by
// itself.

import type { Transaction } from '@offerbook/client';
import { parseTimestamp } from '@offerbook/client';
import { button, element, isolated } from '../element.ts';
import { colouredJson } from '../json-colours.ts';
import { countryName } from './country-name.ts';
import { type Change, Feed } from './feed.ts';

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const STATUS_WORDS: Record<string, string> = {
  PENDING: 'Pending',
  CONFIRMED: 'Confirmed',
  DECLINED: 'Declined',
};

export class FeedScreen {
  readonly node: HTMLElement;
  readonly #feed: Feed;
  readonly #status = element('p', { class: 'status' }, 'Loading…');
  readonly #list = element('ol', { class: 'deals feed' });
  readonly #pause = button('Pause', () => this.#toggle());
  readonly #empty = element(
    'p',
    { class: 'notice', hidden: true },
    'No changes in the last few minutes. New sales arrive every few seconds.',
  );
  readonly #drawn = new WeakSet<Change>();

  constructor(path: string) {
    this.#feed = new Feed(path, () => this.#refresh());
    this.node = element(
      'div',
      { class: 'screen retailer' },
      element('nav', { 'aria-label': 'Back' }, element('a', { class: 'back', href: '/' }, 'All retailers')),
      element('h1', { tabindex: -1 }, 'Transactions as they change'),
      element(
        'p',
        { class: 'lead' },
        'What a server receives when it polls /v1/transactions/ of this sandbox every two seconds. The private token stays on the server. ',
        element('a', { href: '/docs/polling' }, 'How polling works'),
      ),
      element('div', { class: 'feed-head' }, this.#status, this.#pause),
      this.#empty,
      this.#list,
    );
  }

  start(): void {
    this.#feed.start();
    this.#refresh();
  }

  stop(): void {
    this.#feed.stop();
  }

  #toggle(): void {
    if (this.#feed.isOn) this.#feed.stop();
    else this.#feed.start();
    this.#refresh();
  }

  #refresh(): void {
    const { changes, completeThrough, problem, isOn } = this.#feed;
    this.#pause.textContent = isOn ? 'Pause' : 'Resume';
    const through = completeThrough === undefined ? 'Loading…' : `Complete through ${completeThrough} UTC`;
    this.#status.textContent = problem ?? (isOn ? through : `${through}, paused`);
    this.#empty.hidden = changes.length > 0 || completeThrough === undefined;
    this.#list.hidden = changes.length === 0;
    // Keep existing items, so that the focus and opened details survive.
    const added = changes.filter((change) => !this.#drawn.has(change));
    for (const change of added) this.#drawn.add(change);
    this.#list.prepend(...added.map(feedItem));
    while (this.#list.children.length > changes.length) this.#list.lastElementChild?.remove();
  }
}

function feedItem({ transaction, before }: Change): HTMLElement {
  const { status, country, cashback, orderValue, currencyCode, passbackUid, updatedAt } = transaction;
  return element(
    'li',
    { class: 'deal' },
    element('p', { class: 'amount' }, money(cashback, currencyCode)),
    element(
      'div',
      { class: 'deal-body' },
      element(
        'p',
        {},
        element('span', { class: `tag ${status.toLowerCase()}` }, STATUS_WORDS[status] ?? status),
        ` ${beforeWords(before, status)}`,
        element(
          'time',
          { class: 'muted', datetime: `${updatedAt}Z` },
          TIME.format(parseTimestamp(updatedAt)),
        ),
      ),
      element(
        'p',
        { class: 'muted' },
        `Order of ${money(orderValue, currencyCode)} in ${countryName(country)}`,
        passbackUid === null ? '' : ', user ',
        passbackUid === null ? '' : isolated(passbackUid),
      ),
      details(transaction),
    ),
  );
}

function beforeWords(before: string | undefined, status: string): string {
  if (before === undefined) return '';
  return before === status ? 'changed, ' : `was ${before.toLowerCase()}, `;
}

/** Renders the JSON only when the reader opens it. */
function details(transaction: Transaction): HTMLElement {
  const node = element('details', {}, element('summary', {}, 'What the API returns'));
  node.addEventListener(
    'toggle',
    () => {
      const code = element('code', {}, ...colouredJson(JSON.stringify(transaction, null, 2)));
      node.append(element('pre', { tabindex: 0 }, code));
    },
    { once: true },
  );
  return node;
}

function money(amount: number, currency: string): string {
  return new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }).format(
    amount,
  );
}
