// Shows the sandbox's transactions as they change, and the webhooks that deliver them to a toy receiver, by polling every two
// seconds. The server holds the private token and polls the API for this page. Readers can pause the updates, as WCAG requires
// for content that updates automatically, and the updates pause when a reader opens a transaction. Rows slide in when
// data arrives; the rest of the page does not move, because its space is reserved from the start.

import { parseTimestamp, type Transaction } from '@offerbook/client';
import { codeSample, colouredNodes } from '../api-response.ts';
import { button, element, isolated } from '../element.ts';
import { VISITOR } from './activate-link.ts';
import { countryName } from './country-name.ts';
import { type Delivery, DeliveryPanel } from './delivery-panel.ts';
import { backLink } from './retailer-screen.ts';
import { slideIn } from './slide-in.ts';
import { EVERYTHING } from './view.ts';

const INTERVAL_MS = 2_000;
/** Older changes are removed from the page. */
const SHOWN_MAX = 50;
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

interface FeedPage {
  /** Newest first. */
  readonly data: readonly Transaction[];
  readonly completeThrough: string;
  /** The last webhooks that the toy receiver has stored, newest first. */
  readonly deliveries: readonly Delivery[];
}

export class FeedScreen {
  readonly node: HTMLElement;
  readonly #path: string;
  readonly #status = element('p.status');
  /** The latest change to a sale of this visitor. */
  readonly #own = element(
    'p.own-sale.panel.muted',
    { role: 'status' },
    'Your own purchases appear here. Activate a deal and buy something.',
  );
  readonly #deliveries = new DeliveryPanel();
  readonly #list = element('ol.deals.panel.feed');
  readonly #pause = button('Pause', () => (this.#isOn ? this.stop() : this.start()));
  readonly #empty = element(
    'p.notice',
    'No changes in the last few minutes. New sales arrive every few seconds.',
  );
  readonly #columns = element(
    'div.feed-columns',
    element('div.feed-changes', this.#empty, this.#list),
    this.#deliveries.node,
  );
  /** Status of each transaction when this page last received it. */
  readonly #statuses = new Map<string, string>();
  #completeThrough: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOn = false;
  #isPolling = false;

  constructor(path: string) {
    this.#path = path;
    this.node = element(
      'div.screen.retailer.feed-screen',
      backLink(EVERYTHING),
      element('h1', { tabindex: -1 }, 'Transactions as they change'),
      element(
        'p.lead',
        'What a server receives when it polls ',
        element('code', '/v1/transactions/?expand=retailer'),
        ' of this sandbox every two seconds. The private token stays on the server. ',
        element('a', { href: '/docs/polling' }, 'How polling works'),
      ),
      element('div.feed-head.row.between', this.#status, this.#pause),
      this.#own,
      this.#columns,
    );
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#refresh();
    // A request that was in flight when updates were paused schedules the next one itself.
    if (!this.#isPolling) void this.#poll();
  }

  stop(): void {
    this.#isOn = false;
    clearTimeout(this.#timer);
    this.#refresh();
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    try {
      const since = this.#completeThrough === undefined ? '' : `?since=${this.#completeThrough}`;
      const response = await fetch(this.#path + since);
      if (!response.ok) throw new Error(`status ${response.status}`);
      const page = (await response.json()) as FeedPage;
      // If the updates were paused meanwhile, the next request returns these changes again.
      if (this.#isOn) this.#add(page);
      this.#refresh();
    } catch {
      this.#status.textContent = 'No response from the sandbox. This page retries automatically.';
    }
    this.#isPolling = false;
    if (this.#isOn) this.#timer = setTimeout(() => void this.#poll(), INTERVAL_MS);
  }

  #add({ data, completeThrough, deliveries }: FeedPage): void {
    this.#deliveries.show(deliveries);
    const items = data.slice(0, SHOWN_MAX).map((one) => {
      const document = details(one, () => this.stop());
      return feedItem(one, this.#statuses.get(one.id), document);
    });
    for (const { id, status } of data) this.#statuses.set(id, status);
    const own = data.find(isOwn);
    if (own !== undefined) {
      this.#own.classList.remove('muted');
      this.#own.replaceChildren(...ownWords(own));
    }
    slideIn(this.#list, items, SHOWN_MAX);
    this.#completeThrough = completeThrough;
  }

  #refresh(): void {
    const through =
      this.#completeThrough === undefined ? 'Loading…' : `Complete through ${this.#completeThrough} UTC`;
    this.#pause.textContent = this.#isOn ? 'Pause' : 'Resume';
    this.#status.textContent = this.#isOn ? through : `${through}, paused`;
    this.#columns.hidden = this.#completeThrough === undefined;
    this.#list.hidden = this.#list.children.length === 0;
    this.#empty.hidden = !this.#list.hidden;
  }
}

/** True for sales that visitors of the explorer caused. */
function isOwn({ passbackUid }: Transaction): boolean {
  return passbackUid === VISITOR;
}

function ownWords(transaction: Transaction): (HTMLElement | string)[] {
  const { status, cashback, currencyCode } = transaction;
  return [
    element('strong', 'Your purchase'),
    ' at ',
    shopName(transaction),
    ' is ',
    statusTag(status),
    ` · ${money(cashback, currencyCode)} cashback`,
  ];
}

/** `before` is the previous status; undefined if the transaction is new to this page. */
function feedItem(transaction: Transaction, before: string | undefined, document: HTMLElement): HTMLElement {
  const { status, country, cashback, orderValue, currencyCode, passbackUid, updatedAt } = transaction;
  const own = isOwn(transaction);
  return element(
    `li.deal.row${own ? '.own' : ''}`,
    element(`p.amount.${status.toLowerCase()}`, money(cashback, currencyCode)),
    element(
      'div.deal-body.stack',
      element('p.what', shopName(transaction)),
      element(
        'p.muted',
        `Order of ${money(orderValue, currencyCode)} in ${countryName(country)}`,
        ...(own ? [', your purchase'] : passbackUid === null ? [] : [', user ', isolated(passbackUid)]),
      ),
      document,
    ),
    element(
      'p.feed-status',
      statusTag(status),
      element(
        'span.muted',
        changeWords(before, status),
        element('time', { datetime: `${updatedAt}Z` }, TIME.format(parseTimestamp(updatedAt))),
      ),
    ),
  );
}

function shopName({ retailer }: Transaction): HTMLElement {
  return isolated(retailer?.name ?? 'Unknown retailer');
}

function statusTag(status: string): HTMLElement {
  const word = status.toLowerCase();
  return element(`span.tag.${word}`, status.charAt(0) + word.slice(1));
}

function changeWords(before: string | undefined, status: string): string {
  if (before === undefined) return '';
  return before === status ? 'changed, ' : `was ${before.toLowerCase()}, `;
}

/** Renders the JSON only when the reader expands it. */
function details(transaction: Transaction, onOpen: () => void): HTMLElement {
  const node = element('details', element('summary', 'What the API returns'));
  const text = JSON.stringify(transaction, null, 2);
  const show = () => node.append(codeSample('Copy the transaction', ...colouredNodes(text, 'json')));
  node.addEventListener('toggle', show, { once: true });
  node.addEventListener('toggle', () => {
    if (node.open) onOpen();
  });
  return node;
}

/** In English, the formatted amounts distinguish dollars and crowns: A$, CA$, SEK, NOK. */
function money(amount: number, currency: string): string {
  return amount.toLocaleString('en', { style: 'currency', currency });
}
